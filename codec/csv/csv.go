// Package csv writes chosen columns of each record as a row of comma-separated
// values, as RFC 4180 has them.
//
//	null, missing        nothing
//	empty string         "", so that readers can tell it from null
//	string               its text; each invalid byte is U+FFFD
//	bool, numbers        as in JSON, exact; NaN, Infinity and -Infinity
//	bin                  its text if it is valid UTF-8
//	other bin, ext       event.BinMark and base64 with padding
//	array, map           JSON
//
// A field is quoted if it has the delimiter, a quote, a line break, or a blank
// at its beginning or end; quotes within are doubled.
//
// Each event gives exactly one row or one reject: an event without a value in any
// column is rejected (codec.NoValue), so that no row is an empty line. Encoding allocates nothing
// per event.
package csv

import (
	"errors"
	"fmt"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Options say what a row is made of.
type Options struct {
	Columns   []columns.Column // at least one
	Values    columns.Options
	Delimiter byte // 0 is a comma
	CRLF      bool // ends rows as RFC 4180 has them, not with \n alone
	Header    bool // a first row in each file names the columns
}

// Errors that New wraps.
var (
	ErrColumns   = errors.New("csv needs columns")
	ErrDelimiter = errors.New("the delimiter can't be told from the fields")
)

// New returns the format.
func New(o Options) (codec.BlockFormat, error) {
	if o.Delimiter == 0 {
		o.Delimiter = ','
	}
	switch o.Delimiter {
	case '"', '\r', '\n':
		return nil, fmt.Errorf("%w: %q", ErrDelimiter, o.Delimiter)
	}
	if len(o.Columns) == 0 {
		return nil, ErrColumns
	}
	return format{o}, nil
}

type format struct{ options Options }

var (
	_ compress.Headed    = format{}
	_ codec.BlockEncoder = (*encoder)(nil)
	_ codec.BlockWriter  = (*writer)(nil)
)

func (format) Extension() string { return ".csv" }

func (f format) NewBlockEncoder() codec.BlockEncoder { return newEncoder(f.options) }

// Header implements compress.Headed.
func (f format) Header() []byte {
	if !f.options.Header {
		return nil
	}
	return newEncoder(f.options).header()
}

type encoder struct {
	options Options
	values  *columns.Renderer
	special [256]bool // what makes a field quoted wherever it stands
}

func newEncoder(o Options) *encoder {
	e := &encoder{options: o, values: columns.NewRenderer(o.Columns, o.Values)}
	for _, c := range []byte{o.Delimiter, '"', '\r', '\n'} {
		e.special[c] = true
	}
	return e
}

// Encode implements codec.BlockEncoder.
func (e *encoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	var rejects []codec.Reject
	for _, ev := range b.Events {
		reason := columns.Unsound(ev)
		if reason == "" {
			dst, reason = e.row(dst, ev, b.Tag)
		}
		if reason != "" {
			rejects = append(rejects, codec.Reject{Event: ev, Reason: reason})
		}
	}
	return dst, rejects
}

// row appends a row, or nothing if there is a reason.
func (e *encoder) row(dst []byte, ev *event.Event, tag string) (_ []byte, reason string) {
	e.values.Read(ev)
	begin, empty := len(dst), true
	for i := range e.options.Columns {
		if i > 0 {
			dst = append(dst, e.options.Delimiter)
		}
		start := len(dst)
		var ok bool
		if dst, ok = e.values.Append(dst, i, tag); ok {
			dst, empty = e.finish(dst, start), false
		}
	}
	if empty {
		return dst[:begin], codec.NoValue
	}
	return e.end(dst), ""
}

func (e *encoder) header() (row []byte) {
	for i, c := range e.options.Columns {
		if i > 0 {
			row = append(row, e.options.Delimiter)
		}
		start := len(row)
		row = e.finish(event.AppendValidUTF8(row, []byte(c.Name)), start)
	}
	return e.end(row)
}

func (e *encoder) end(dst []byte) []byte {
	if e.options.CRLF {
		dst = append(dst, '\r')
	}
	return append(dst, '\n')
}

// finish quotes the field that dst ends with, from start on, if it must be.
func (e *encoder) finish(dst []byte, start int) []byte {
	field := dst[start:]
	if len(field) == 0 {
		return append(dst, '"', '"')
	}
	quote := blank(field[0]) || blank(field[len(field)-1])
	quotes := 0
	for _, c := range field {
		if e.special[c] {
			quote = true
			if c == '"' {
				quotes++
			}
		}
	}
	if !quote {
		return dst
	}
	return enclose(dst, start, quotes)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// enclose puts the field that dst ends with in quotes and doubles those within
// it, of which there are so many. Bytes move to their places from the end on.
func enclose(dst []byte, start, quotes int) []byte {
	from := len(dst) - 1
	for range quotes + 2 {
		dst = append(dst, '"')
	}
	to := len(dst) - 2
	for ; to > from+1; from, to = from-1, to-1 {
		dst[to] = dst[from]
		if dst[from] == '"' {
			to--
			dst[to] = '"'
		}
	}
	copy(dst[start+1:to+1], dst[start:from+1])
	dst[start], dst[len(dst)-1] = '"', '"'
	return dst
}
