package partition

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/assigner/hive"
	"github.com/out-hdfs/out_hdfs/assigner/timepattern"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// MaxFields is how many fields a partition may have. Tables have a handful; a
// longer list is a mistake.
const MaxFields = 32

// SyntaxError says where and why the list of fields was refused.
type SyntaxError struct {
	By     string // the list
	Offset int    // byte offset of what is refused
	Reason string
	Err    error // the error of a part, if it has one of its own
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("partition %q, at %d: %s", e.By, e.Offset, e.Reason)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// parser reads a list from left to right, since only that tells a comma
// between fields from one inside an accessor's brackets.
type parser struct {
	by   string
	at   int
	zone *time.Location
}

func parse(by string, zone *time.Location) ([]field, error) {
	p := &parser{by: by, zone: zone}
	if !utf8.ValidString(by) {
		return nil, p.fail("the list isn't valid UTF-8")
	}
	var fields []field
	seen := map[string]bool{}
	for more := true; more; {
		start := p.at
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		if seen[f.name] {
			p.at = start
			return nil, p.fail("the field %s comes twice; names count in lower case", f.name)
		}
		seen[f.name] = true
		fields = append(fields, f)
		if more = p.at < len(p.by); more {
			p.at++ // the comma
		}
		if len(fields) > MaxFields {
			return nil, p.fail("there are more than %d fields", MaxFields)
		}
	}
	return fields, nil
}

func (p *parser) fail(format string, args ...any) *SyntaxError {
	return &SyntaxError{By: p.by, Offset: p.at, Reason: fmt.Sprintf(format, args...)}
}

func (p *parser) failWith(err error) *SyntaxError {
	e := p.fail("%v", err)
	e.Err = err
	return e
}

// field reads name=template up to the comma or the end.
func (p *parser) field() (field, error) {
	for p.at < len(p.by) && p.by[p.at] == ' ' {
		p.at++
	}
	end := strings.IndexAny(p.by[p.at:], "=,")
	if end < 0 || p.by[p.at+end] == ',' {
		return field{}, p.fail("a field is written name=template, such as dt=%%Y-%%m-%%d")
	}
	name := strings.TrimSpace(p.by[p.at : p.at+end])
	if reason := refusedName(name); reason != "" {
		return field{}, p.fail("%s", reason)
	}
	p.at += end + 1
	f := field{name: string(hive.AppendEscaped(nil, []byte(strings.ToLower(name))))}
	start := p.at
	var err error
	if f.pieces, err = p.template(); err != nil {
		return field{}, err
	}
	if len(f.pieces) == 0 {
		p.at = start
		return field{}, p.fail("the field %s has no template", f.name)
	}
	if n := len(f.name) + len("="); n+f.minLen() > timepattern.MaxSegment {
		p.at = start
		return field{}, p.fail("the folder name of %s would have more than %d bytes", f.name, timepattern.MaxSegment)
	}
	return f, nil
}

func refusedName(name string) string {
	switch {
	case name == "":
		return "the field has no name"
	case name[0] == '.' || name[0] == '_':
		return fmt.Sprintf("a name that starts with %q makes a folder that Hive, Spark, Trino and MapReduce don't see", name[0])
	case strings.ContainsAny(name, "$%'\"[]"):
		return fmt.Sprintf("%q can't be a name; a field is written name=template, such as ns=$kubernetes['namespace_name']", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "a name has a control character"
	}
	return ""
}

// minLen is the length in bytes of the field's own text.
func (f *field) minLen() int {
	n := 0
	for _, p := range f.pieces {
		n += len(p.text)
	}
	return n
}

// template reads pieces up to the comma or the end, without the blanks around
// them. Text and conversions between two accessors are one strftime pattern.
func (p *parser) template() ([]piece, error) {
	var pieces []piece
	for p.at < len(p.by) && p.by[p.at] == ' ' {
		p.at++
	}
	run := patternRun{zone: p.zone, start: p.at}
	for p.at < len(p.by) && p.by[p.at] != ',' {
		rest := p.by[p.at:]
		n := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "$$"):
			run.source += "$"
			n = 2
		case c == '$':
			a, after, err := event.ParsePrefix(rest)
			if err != nil {
				return nil, p.failWith(err)
			}
			if pieces, err = run.flush(pieces); err != nil {
				p.at = run.start
				return nil, p.failWith(err)
			}
			pieces = append(pieces, piece{accessor: a})
			n = len(rest) - len(after)
			run.start = p.at + n
		case c == '%':
			n = timepattern.ConversionLen(rest)
			if _, err := timepattern.ParseStrftime(rest[:n]); err != nil {
				return nil, p.failWith(err)
			}
			run.source += rest[:n]
			run.timed = run.timed || rest[:n] != "%%"
		case c == '\'' || c == '"':
			return nil, p.fail("a quote is only allowed in an accessor's brackets, as in $kubernetes['namespace_name']")
		default:
			run.source += rest[:1]
		}
		p.at += n
	}
	run.source = strings.TrimRight(run.source, " ")
	pieces, err := run.flush(pieces)
	if err != nil {
		p.at = run.start
		return nil, p.failWith(err)
	}
	return pieces, nil
}

// patternRun collects a strftime pattern.
type patternRun struct {
	source string
	timed  bool // it has a conversion other than %%
	zone   *time.Location
	start  int // where it begins in the list
}

// flush adds the run to pieces, if it isn't empty, and begins a new one.
func (r *patternRun) flush(pieces []piece) ([]piece, error) {
	source, timed := r.source, r.timed
	r.source, r.timed = "", false
	if source == "" {
		return pieces, nil
	}
	pattern, err := timepattern.ParseStrftime(source)
	if err != nil {
		return nil, err
	}
	if timed {
		return append(pieces, piece{memo: timepattern.NewMemo(pattern, r.zone)}), nil
	}
	return append(pieces, piece{text: string(pattern.Append(nil, time.Time{}))}), nil
}
