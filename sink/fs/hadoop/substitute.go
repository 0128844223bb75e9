package hadoop

import (
	"fmt"
	"strings"
)

// maxSubstitutions is Hadoop's MAX_SUBST: what takes more leads to itself.
const maxSubstitutions = 20

// maxExpanded bounds a value that doubles with each substitution.
const maxExpanded = 1 << 20

// lookup returns a property with its variables replaced.
func (c Conf) lookup(name string) (string, error) {
	written := c.properties[name]
	v := written
	for range maxSubstitutions {
		start, end := variable(v)
		if start < 0 {
			return v, nil
		}
		value, ok := c.variable(v[start+2 : end])
		if !ok {
			return v, nil // as Hadoop leaves it: the text itself
		}
		v = v[:start] + value + v[end+1:]
		if len(v) > maxExpanded {
			break
		}
	}
	if start, _ := variable(v); start < 0 && len(v) <= maxExpanded {
		return v, nil
	}
	return written, fmt.Errorf("property %s: the variables in %q lead to themselves", name, written)
}

// variable finds the first innermost ${name} in v: start is that of the "$",
// end that of the "}". start is -1 if there is none. A name has neither "$",
// "}" nor a space.
func variable(v string) (start, end int) {
	start = -1
	for i := 0; i < len(v); i++ {
		switch {
		case v[i] == '$':
			start = -1
			if i+1 < len(v) && v[i+1] == '{' {
				start = i
				i++
			}
		case start >= 0 && v[i] == '}':
			if i > start+2 {
				return start, i
			}
			start = -1
		case start >= 0 && v[i] == ' ':
			start = -1
		}
	}
	return -1, -1
}

// variable is what a name stands for: the environment, then the process's own
// properties, then the configuration's.
func (c Conf) variable(name string) (string, bool) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		return c.environment(env)
	}
	switch name {
	case "user.name":
		if c.system.User != "" {
			return c.system.User, true
		}
	case "user.home":
		if c.system.Home != "" {
			return c.system.Home, true
		}
	}
	v, ok := c.properties[current(name)]
	return v, ok
}

// environment reads NAME, NAME-default (if NAME is unset) and NAME:-default (if
// it is unset or empty).
func (c Conf) environment(name string) (string, bool) {
	i := strings.IndexByte(name, '-')
	if i < 0 {
		v := c.system.getenv(name)
		return v, v != ""
	}
	if v := c.system.getenv(strings.TrimSuffix(name[:i], ":")); v != "" {
		return v, true
	}
	return name[i+1:], true
}
