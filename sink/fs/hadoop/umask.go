package hadoop

import (
	"fmt"
	"strconv"
	"strings"
)

// defaultUmask is that of core-default.xml.
const defaultUmask = 0o022

// Umask returns fs.permissions.umask-mode: permission bits that a new file or
// directory doesn't get. It is written as octal digits ("027"), or as what is
// left ("u=rwx,g=rx,o=").
func (c Conf) Umask() (uint32, error) {
	const name = "fs.permissions.umask-mode"
	v, err := c.Get(name)
	if err != nil || v == "" {
		return defaultUmask, err
	}
	if n, err := strconv.ParseUint(v, 8, 16); err == nil && n <= 0o1777 {
		return uint32(n) & 0o777, nil
	}
	left, ok := symbolic(v)
	if !ok {
		return defaultUmask, fmt.Errorf("property %s is %q, must be octal such as 022 or symbolic such as u=rwx,g=rx,o=", name, v)
	}
	return ^left & 0o777, nil
}

// symbolic reads clauses such as "u=rwx,go+r" into permission bits.
func symbolic(s string) (mode uint32, ok bool) {
	for clause := range strings.SplitSeq(s, ",") {
		clause = strings.TrimSpace(clause)
		i := strings.IndexAny(clause, "=+-")
		if i < 0 {
			return 0, false
		}
		who, okWho := classes(clause[:i])
		bits, okBits := rights(clause[i+1:])
		if !okWho || !okBits {
			return 0, false
		}
		switch clause[i] {
		case '=':
			mode = mode&^(who*7) | who*bits
		case '+':
			mode |= who * bits
		case '-':
			mode &^= who * bits
		}
	}
	return mode, true
}

// classes returns one bit, the lowest of three, for each class of users.
func classes(s string) (who uint32, ok bool) {
	if s == "" {
		s = "a"
	}
	for _, c := range s {
		switch c {
		case 'u':
			who |= 0o100
		case 'g':
			who |= 0o010
		case 'o':
			who |= 0o001
		case 'a':
			who |= 0o111
		default:
			return 0, false
		}
	}
	return who, true
}

func rights(s string) (bits uint32, ok bool) {
	for _, c := range s {
		switch c {
		case 'r':
			bits |= 4
		case 'w':
			bits |= 2
		case 'x':
			bits |= 1
		default:
			return 0, false
		}
	}
	return bits, true
}
