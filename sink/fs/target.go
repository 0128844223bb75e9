package fs

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Location is where a sink publishes: a file system and a directory on it.
type Location struct {
	Scheme    string // lower case, such as "hdfs" or "file"
	Authority string // nameservice or host:port, as written; "" leaves it to the driver
	Path      string // absolute and clean: the base path
}

// String is the location as a URI that ParseTarget reads back.
func (t Location) String() string { return t.Scheme + "://" + t.Authority + t.Path }

// ParseTarget reads a base path as the user wrote it: hdfs://nameservice/dir,
// hdfs://host:port/dir, hdfs:///dir, file:///dir or /dir. What is missing comes
// from defaultScheme, which is a scheme ("hdfs") or a file system's URI such as
// Hadoop's fs.defaultFS ("hdfs://nameservice"): without a scheme both its
// scheme and its authority apply, and with its scheme but no authority its
// authority does.
//
// Nothing is decoded: a percent sign is a percent sign, as in Hadoop's Path.
// Refused are relative paths, segments that lead elsewhere (..), and segments
// that begin with a dot or an underscore, since every file below one would be
// hidden from its readers.
func ParseTarget(target, defaultScheme string) (Location, error) {
	t, err := parseTarget(target, defaultScheme)
	if err != nil {
		return Location{}, fmt.Errorf("target %q: %w", target, err)
	}
	return t, nil
}

func parseTarget(target, defaultScheme string) (Location, error) {
	if target == "" {
		return Location{}, errors.New("is empty; give a path such as hdfs://nameservice/logs or file:///var/data")
	}
	t, err := splitURI(target)
	if err != nil {
		return Location{}, err
	}
	if t, err = t.withDefault(defaultScheme); err != nil {
		return Location{}, err
	}
	if t.Path == "" && t.Authority != "" {
		t.Path = "/"
	}
	t.Path, err = cleanBase(t.Path)
	return t, err
}

// splitURI takes scheme and authority off s. The path is whatever remains.
func splitURI(s string) (Location, error) {
	if strings.HasPrefix(s, "//") {
		return Location{Path: s}, nil // a doubled slash of a path, not an authority
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || strings.Contains(scheme, "/") {
		return Location{Path: s}, nil
	}
	if !validScheme(scheme) {
		return Location{}, fmt.Errorf("scheme %q is not letters, digits, '+', '-' or '.'", scheme)
	}
	t := Location{Scheme: strings.ToLower(scheme), Path: rest}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		t.Authority, t.Path = after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			t.Authority, t.Path = after[:i], after[i:]
		}
	}
	return t, checkAuthority(t.Authority)
}

// withDefault fills in what t leaves open.
func (t Location) withDefault(defaultScheme string) (Location, error) {
	if t.Scheme != "" && t.Authority != "" {
		return t, nil
	}
	if defaultScheme == "" {
		if t.Scheme == "" {
			return Location{}, errors.New("has no scheme; write hdfs:// or file:// before it or set default_scheme")
		}
		return t, nil
	}
	uri := defaultScheme
	if !strings.Contains(uri, ":") {
		uri += "://"
	}
	d, err := splitURI(uri)
	if err != nil || d.Scheme == "" {
		return Location{}, fmt.Errorf("default scheme %q is neither a scheme nor a file system's URI", defaultScheme)
	}
	if t.Scheme == "" {
		t.Scheme = d.Scheme
	}
	if t.Authority == "" && t.Scheme == d.Scheme {
		t.Authority = d.Authority
	}
	return t, nil
}

func validScheme(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		other := c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != ""
}

func checkAuthority(a string) error {
	if strings.ContainsRune(a, '@') {
		return fmt.Errorf("authority %q names a user; set hdfs_user instead", a)
	}
	for _, c := range a {
		if c <= ' ' || c == utf8.RuneError || unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`\?#%`, c) {
			return fmt.Errorf("authority %q is no nameservice or host:port", a)
		}
	}
	return nil
}

// cleanBase makes p clean, or says why it can't be a base path.
func cleanBase(p string) (string, error) {
	if !strings.HasPrefix(p, "/") {
		return "", errors.New("is relative; begin the path with a slash")
	}
	if !utf8.ValidString(p) {
		return "", errors.New("is not valid UTF-8")
	}
	for segment := range strings.SplitSeq(p, "/") {
		switch {
		case segment == "..":
			return "", errors.New("contains '..'; write the directory itself")
		case strings.HasPrefix(segment, "."), strings.HasPrefix(segment, "_"):
			return "", fmt.Errorf("segment %q begins with %q, which hides every file below it from Hive, Spark, Trino and MapReduce", segment, segment[:1])
		case strings.ContainsFunc(segment, unicode.IsControl):
			return "", fmt.Errorf("segment %q contains a control character", segment)
		}
	}
	return path.Clean(p), nil
}

// CheckPath is nil for a path that a Driver takes: absolute, clean, and
// without a NUL. Drivers call it first; the error is of Class Path.
func CheckPath(op, p string) error {
	if strings.HasPrefix(p, "/") && path.Clean(p) == p && !strings.Contains(p, "\x00") {
		return nil
	}
	return &Error{Op: op, Path: p, Class: Path, Err: errors.New("path is not absolute and clean")}
}
