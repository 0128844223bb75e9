package event

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrAccessor is wrapped by every error of ParseAccessor and ParsePrefix.
var ErrAccessor = errors.New("not a record accessor")

// Accessor is a compiled record accessor in Fluent Bit's grammar:
//
//	$key  $key['sub']['sub']  $key['list'][0]   a value of the record
//	$TAG                                        the tag
//	$TAG[1]                                     the tag's dot-separated part, counted from 0
//
// A key after $ begins with a letter or underscore and goes on with letters,
// digits and _ - /; in brackets and quotes it may be anything, a single quote
// doubled. Beyond Fluent Bit's grammar, double quotes work too, and $['a.b']
// names a top-level key that holds any character.
//
// It is immutable and safe for concurrent use.
type Accessor struct {
	text    string
	steps   []step
	tag     bool
	tagPart int // -1 is the whole tag
}

// step descends by key into a map, or by index into an array.
type step struct {
	key   string
	index int // -1 is a key
}

// NewKey returns the accessor of the record's top-level key, whatever
// characters it is made of.
func NewKey(key string) *Accessor {
	return &Accessor{
		text:  "$['" + strings.ReplaceAll(key, "'", "''") + "']",
		steps: []step{{key: key, index: -1}},
	}
}

// ParseKey takes what users write where either is meant: a record accessor if
// it begins with $, else a top-level key as it stands.
func ParseKey(s string) (*Accessor, error) {
	if strings.HasPrefix(s, "$") {
		return ParseAccessor(s)
	}
	if s == "" {
		return nil, fmt.Errorf("%w: an empty key", ErrAccessor)
	}
	return NewKey(s), nil
}

// ParseAccessor compiles s, all of which must be one accessor.
func ParseAccessor(s string) (*Accessor, error) {
	a, rest, err := ParsePrefix(s)
	switch {
	case err != nil:
		return nil, err
	case rest == "":
		return a, nil
	case rest[0] == '.' && !a.tag:
		return nil, fmt.Errorf("%w: %q ends at %q; write $key['sub'] to descend, $['%s'] for a key with dots",
			ErrAccessor, s, rest, s[1:])
	case a.tag && a.tagPart < 0:
		return nil, fmt.Errorf("%w: %q is $TAG followed by %q; write $['%s'] for a key of that name",
			ErrAccessor, s, rest, s[1:])
	}
	return nil, fmt.Errorf("%w: %q goes on with %q after its end", ErrAccessor, s, rest)
}

// ParsePrefix compiles the accessor at the beginning of s and returns what
// follows it, so that accessors can stand inside a longer text. As in Fluent
// Bit $TAG ends after its last letter, and a dot ends a key.
func ParsePrefix(s string) (a *Accessor, rest string, err error) {
	p := accessorParser{in: s, at: 1}
	switch {
	case !strings.HasPrefix(s, "$"):
		return nil, s, fmt.Errorf("%w: %q doesn't begin with $", ErrAccessor, s)
	case strings.HasPrefix(s[1:], "TAG"):
		a, err = p.parseTag()
	case len(s) > 1 && '0' <= s[1] && s[1] <= '9':
		return nil, s, fmt.Errorf("%w: %q is a capture of a regular expression, which an output doesn't have", ErrAccessor, s)
	default:
		a, err = p.parseRecord()
	}
	if err != nil {
		return nil, s, err
	}
	a.text = s[:p.at]
	return a, s[p.at:], nil
}

type accessorParser struct {
	in string
	at int // the next byte
}

func (p *accessorParser) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %q at byte %d: %s", ErrAccessor, p.in, p.at, fmt.Sprintf(format, args...))
}

func (p *accessorParser) peek() byte {
	if p.at == len(p.in) {
		return 0
	}
	return p.in[p.at]
}

func (p *accessorParser) parseTag() (*Accessor, error) {
	p.at += len("TAG")
	a := &Accessor{tag: true, tagPart: -1}
	if p.peek() != '[' {
		return a, nil
	}
	s, err := p.bracket()
	if err != nil {
		return nil, err
	}
	if s.index < 0 {
		return nil, p.fail("$TAG takes a number in brackets, not a key")
	}
	a.tagPart = s.index
	return a, nil
}

func (p *accessorParser) parseRecord() (*Accessor, error) {
	a := &Accessor{tagPart: -1}
	if key := p.identifier(); key != "" {
		a.steps = append(a.steps, step{key: key, index: -1})
	} else if p.peek() != '[' {
		return nil, p.fail("a key begins with a letter or underscore; write $['any key'] for others")
	}
	for p.peek() == '[' {
		s, err := p.bracket()
		if err != nil {
			return nil, err
		}
		if len(a.steps) == 0 && s.index >= 0 {
			return nil, p.fail("a record is a map and has no element %d", s.index)
		}
		a.steps = append(a.steps, s)
	}
	return a, nil
}

func (p *accessorParser) identifier() string {
	from := p.at
	for p.at < len(p.in) {
		c := p.in[p.at]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (p.at == from || (c < '0' || c > '9') && c != '-' && c != '/') {
			break
		}
		p.at++
	}
	return p.in[from:p.at]
}

// bracket parses ['key'], ["key"] or [n].
func (p *accessorParser) bracket() (step, error) {
	p.at++
	s := step{index: -1}
	switch quote := p.peek(); {
	case quote == '\'' || quote == '"':
		key, err := p.quoted(quote)
		if err != nil {
			return s, err
		}
		s.key = key
	case '0' <= quote && quote <= '9':
		from := p.at
		for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
			p.at++
		}
		n, err := strconv.ParseInt(p.in[from:p.at], 10, 32)
		if err != nil {
			return s, p.fail("%s is no index", p.in[from:p.at])
		}
		s.index = int(n)
	default:
		return s, p.fail("brackets hold a quoted key or a number")
	}
	if p.peek() != ']' {
		return s, p.fail("a closing bracket is missing")
	}
	p.at++
	return s, nil
}

// quoted parses up to the closing quote; a doubled quote stands for itself.
func (p *accessorParser) quoted(quote byte) (string, error) {
	p.at++
	var key strings.Builder
	for p.at < len(p.in) {
		c := p.in[p.at]
		p.at++
		if c == quote {
			if p.peek() != quote {
				return key.String(), nil
			}
			p.at++
		}
		key.WriteByte(c)
	}
	return "", p.fail("a closing %c is missing", quote)
}

// String returns the accessor as it was written.
func (a *Accessor) String() string { return a.text }

// IsTag reports whether the accessor reads the tag and not the record.
func (a *Accessor) IsTag() bool { return a.tag }

// Key returns the top-level key of a record accessor that names nothing below
// it.
func (a *Accessor) Key() (key string, ok bool) {
	if a.tag || len(a.steps) != 1 {
		return "", false
	}
	return a.steps[0].key, true
}
