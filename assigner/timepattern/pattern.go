// Package timepattern formats instants by a pattern: Java's DateTimeFormatter
// letters, as Flink's DateTimeBucketAssigner takes them, or strftime
// conversions.
//
// It takes what names folders: years to nanoseconds, weeks of ISO 8601,
// quarters, English names of months and days, zones, and text. For the instants
// of the years 1970 to 9999 its output is exactly Java's (JDK 17,
// Locale.ENGLISH) or that of the C locale. Everything else is refused when the
// pattern is parsed, with what to write instead: letters whose meaning depends
// on a locale or on the Java version, and letters that no folder is named by.
//
// Formatting never panics and its result is bounded. A pattern knows for how
// long a result stays the same, so a caller formats once an hour, not once an
// event.
//
// A Pattern is immutable and safe for concurrent use.
package timepattern

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxPattern is the longest pattern in bytes that Parse accepts. A longer one
// can't be part of a path that HDFS takes.
const MaxPattern = 512

// SyntaxError says where and why a pattern was refused.
type SyntaxError struct {
	Pattern string
	Offset  int // byte offset of what is refused
	Reason  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("time pattern %q, at %d: %s", e.Pattern, e.Offset, e.Reason)
}

// Pattern is a compiled pattern. The zero Pattern formats to nothing.
type Pattern struct {
	source string
	ops    []op
	unit   unit
}

// Parse compiles a pattern: strftime if it has a '%', Java's letters if not.
// The error is a *SyntaxError.
func Parse(pattern string) (*Pattern, error) {
	if strings.Contains(pattern, "%") {
		return ParseStrftime(pattern)
	}
	return ParseJava(pattern)
}

// String returns the pattern's source.
func (p *Pattern) String() string { return p.source }

// Constant reports whether the result is the same at any time.
func (p *Pattern) Constant() bool {
	for i := range p.ops {
		if k := p.ops[i].kind; k != opLiteral && k != opZoneID {
			return false
		}
	}
	return true
}

// Append formats t, in t's own location, and appends the result to dst.
func (p *Pattern) Append(dst []byte, t time.Time) []byte {
	for i := range p.ops {
		dst = p.ops[i].append(dst, t)
	}
	return dst
}

// builder collects a pattern's program.
type builder struct {
	p *Pattern
}

func newBuilder(source string) (*builder, error) {
	switch {
	case len(source) > MaxPattern:
		return nil, &SyntaxError{source[:32] + "…", MaxPattern,
			fmt.Sprintf("the pattern has %d bytes, at most %d are allowed", len(source), MaxPattern)}
	case !utf8.ValidString(source):
		return nil, &SyntaxError{source, 0, "the pattern isn't valid UTF-8"}
	}
	return &builder{p: &Pattern{source: source, unit: unitForever}}, nil
}

func (b *builder) fail(offset int, format string, args ...any) error {
	return &SyntaxError{b.p.source, offset, fmt.Sprintf(format, args...)}
}

func (b *builder) literal(s string) { b.add(op{kind: opLiteral, text: s}) }

// add appends an op. Neighbouring literals become one, so that a check of the
// text sees it whole.
func (b *builder) add(o op) {
	if n := len(b.p.ops); o.kind == opLiteral && n > 0 && b.p.ops[n-1].kind == opLiteral {
		b.p.ops[n-1].text += o.text
		return
	}
	b.p.unit = min(b.p.unit, o.unit())
	b.p.ops = append(b.p.ops, o)
}
