package hadoop

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Conf is a configuration: the properties as written, by name.
type Conf struct {
	properties map[string]string
	system     System
	files      []string // that were read; none if it wasn't loaded
}

// Files are the files that the configuration was loaded from, those that were
// included too. The caller must not change them.
func (c Conf) Files() []string { return c.files }

// where names the files, for an error.
func (c Conf) where() string {
	if len(c.files) == 0 {
		return "no core-site.xml or hdfs-site.xml was read (see hadoop_conf_dir)"
	}
	return strings.Join(c.files, ", ") + " read"
}

// System is the process around a configuration: what ${…} may name.
type System struct {
	// Getenv is os.Getenv; nil means that there is no environment.
	Getenv func(string) string
	// User is ${user.name}, the operating system's user; "" if unknown.
	User string
	// Home is ${user.home}; "" if unknown.
	Home string
}

func (s System) getenv(name string) string {
	if s.Getenv == nil {
		return ""
	}
	return s.Getenv(name)
}

// New returns a Conf of the properties, as a driver gets them in its settings.
// It keeps a copy.
func New(properties map[string]string, s System) Conf {
	c := Conf{properties: make(map[string]string, len(properties)), system: s}
	for k, v := range properties {
		c.properties[current(k)] = v
	}
	return c
}

// deprecated maps old names to those that Hadoop has used since 2.0.
var deprecated = map[string]string{
	"fs.default.name":             "fs.defaultFS",
	"dfs.block.size":              "dfs.blocksize",
	"dfs.umaskmode":               "fs.permissions.umask-mode",
	"dfs.umask":                   "fs.permissions.umask-mode",
	"dfs.federation.nameservices": "dfs.nameservices",
}

func current(name string) string {
	if now, ok := deprecated[name]; ok {
		return now
	}
	return name
}

// Properties returns all properties with their variables replaced. A value
// that can't be replaced is left as it was written. The caller owns the map.
func (c Conf) Properties() map[string]string {
	out := maps.Clone(c.properties)
	for k := range out {
		if v, err := c.lookup(k); err == nil {
			out[k] = v
		}
	}
	return out
}

// Get returns a property's value without the space around it, "" if it isn't
// set. A variable that leads to itself is an error.
func (c Conf) Get(name string) (string, error) {
	v, err := c.lookup(current(name))
	return strings.TrimSpace(v), err
}

// List returns the parts of a comma-separated property, without empty ones.
func (c Conf) List(name string) ([]string, error) {
	v, err := c.Get(name)
	var out []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out, err
}

// Bool returns a property that is true or false, unset if it isn't set.
func (c Conf) Bool(name string, unset bool) (bool, error) {
	v, err := c.Get(name)
	switch {
	case err != nil:
		return unset, err
	case v == "":
		return unset, nil
	case strings.EqualFold(v, "true"):
		return true, nil
	case strings.EqualFold(v, "false"):
		return false, nil
	}
	return unset, fmt.Errorf("property %s is %q, must be true or false", name, v)
}

// Int returns a whole number that isn't negative, unset if it isn't set.
func (c Conf) Int(name string, unset int) (int, error) {
	v, err := c.Get(name)
	if err != nil || v == "" {
		return unset, err
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return unset, fmt.Errorf("property %s is %q, must be a whole number", name, v)
	}
	return int(n), nil
}

// Size returns a number of bytes, which may end in k, m, g, t, p or e for
// powers of 1024, unset if it isn't set.
func (c Conf) Size(name string, unset int64) (int64, error) {
	v, err := c.Get(name)
	if err != nil || v == "" {
		return unset, err
	}
	digits, shift := v, 0
	if i := strings.IndexByte("kmgtpe", v[len(v)-1]|0x20); i >= 0 {
		digits, shift = strings.TrimSpace(v[:len(v)-1]), 10*(i+1)
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > (1<<63-1)>>shift {
		return unset, fmt.Errorf("property %s is %q, must be a size such as 134217728 or 128m", name, v)
	}
	return int64(n) << shift, nil
}

// units are those of Hadoop's time durations, the longer suffixes first.
var units = []struct {
	suffix string
	unit   time.Duration
}{{"ns", time.Nanosecond}, {"us", time.Microsecond}, {"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}}

// Millis returns a length of time, a bare number being milliseconds, unset if
// it isn't set.
func (c Conf) Millis(name string, unset time.Duration) (time.Duration, error) {
	v, err := c.Get(name)
	if err != nil || v == "" {
		return unset, err
	}
	digits, unit := strings.ToLower(v), time.Millisecond
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.suffix); ok {
			digits, unit = strings.TrimSpace(rest), u.unit
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > uint64(1<<63-1)/uint64(unit) {
		return unset, fmt.Errorf("property %s is %q, must be a number of milliseconds or a time such as 60s", name, v)
	}
	return time.Duration(n) * unit, nil
}
