package chunkfile

import "bytes"

// scanBuffer holds the longest line that the kernel writes (a path of 4,096
// bytes behind 73 of numbers) twice, and takes some forty usual lines at once.
const scanBuffer = 16 << 10

// newline is how the textual map writes a newline that is part of a path.
const newline = `\012`

// mapping is what the textual map says of one mapping. Its path lies in the
// scan's buffer.
type mapping struct {
	path  []byte
	inode uint64
}

// scan reads lines of /proc/<pid>/maps,
//
//	start-end perms offset major:minor inode   path
//
// which are in the order of their addresses, up to the one that [lo, hi) lies
// in, and returns that. A range that no single mapping covers gives a mapping
// without a path, as does a line that reads otherwise.
func scan(buf []byte, lo, hi uint64, read func([]byte) (int, error)) (mapping, error) {
	kept := 0 // of an unfinished line, at the buffer's start
	for {
		n, err := read(buf[kept:])
		if err != nil {
			return mapping{}, err
		}
		text := buf[:kept+max(n, 0)]
		for {
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				break
			}
			line := text[:i]
			text = text[i+1:]
			start, end, rest, ok := addresses(line)
			switch {
			case !ok || start > lo:
				return mapping{}, nil
			case lo < end && hi <= end:
				return fields(rest), nil
			case lo < end:
				return mapping{}, nil
			}
		}
		if n <= 0 || len(text) == len(buf) {
			return mapping{}, nil // the end, or a line that can't be one
		}
		kept = copy(buf, text)
	}
}

// addresses reads "start-end ", in hexadecimal.
func addresses(line []byte) (start, end uint64, rest []byte, ok bool) {
	start, line, ok = number(line, 16)
	if !ok || len(line) == 0 || line[0] != '-' {
		return 0, 0, nil, false
	}
	end, line, ok = number(line[1:], 16)
	if !ok || len(line) == 0 || line[0] != ' ' {
		return 0, 0, nil, false
	}
	return start, end, line[1:], true
}

// fields reads "perms offset major:minor inode   path". The path may hold
// spaces and is whatever is left; a mapping without a file has none.
func fields(rest []byte) mapping {
	for range 3 {
		i := bytes.IndexByte(rest, ' ')
		if i < 0 {
			return mapping{}
		}
		rest = rest[i+1:]
	}
	inode, rest, ok := number(rest, 10)
	if !ok {
		return mapping{}
	}
	path := bytes.TrimLeft(rest, " ")
	if len(path) == 0 || path[0] != '/' {
		return mapping{}
	}
	return mapping{path: path, inode: inode}
}

// number reads the digits that text begins with. It says no if there are none
// or if they are too many for 64 bits.
func number(text []byte, base uint64) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(text); i++ {
		var d uint64
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			d = uint64(c - '0')
		case base == 16 && 'a' <= c && c <= 'f':
			d = uint64(c-'a') + 10
		default:
			return n, text[i:], i > 0
		}
		if n > (1<<64-1-d)/base {
			return 0, text, false
		}
		n = n*base + d
	}
	return n, nil, i > 0
}
