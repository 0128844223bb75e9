// Package eventtime decides which instant names an event's bucket: the record's
// own time, its arrival, or a value that a record accessor names and that an
// event.TimeReader reads.
//
// It always has an answer. The arrival replaces a time that is missing or can't
// be read, that isn't after 1970-01-01 (UTC) or is beyond the year 9999: so a
// clock that starts in 1970 or a wrong unit never makes a bucket of its own. It
// allocates nothing and keeps no reference to an event.
package eventtime

import (
	"fmt"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// What a time source may be called, beside a record accessor.
const (
	Record  = "record"
	Arrival = "arrival"
)

// The seconds that count as a time: after 1970-01-01, before the year 10000.
const (
	firstSec = 86400
	lastSec  = event.MaxSec
)

// Why an arrival replaces a time.
const (
	Missing  = "the event has no time"
	NoTime   = "the value is no time"
	TooEarly = "the time isn't after 1970-01-01"
)

type kind uint8

const (
	kindRecord kind = iota
	kindArrival
	kindAccessor
)

// Source is where instants come from. The zero Source is the record's time. It
// is immutable and safe for concurrent use.
type Source struct {
	kind     kind
	accessor *event.Accessor
	reader   event.TimeReader // of what the accessor finds
}

// Parse takes Record, Arrival (in any case) or a record accessor such as $time.
// A text that an accessor finds and that says no zone is read in loc, which
// should be the zone the buckets are named in.
func Parse(source string, loc *time.Location) (Source, error) {
	switch {
	case strings.EqualFold(source, Record):
		return Source{}, nil
	case strings.EqualFold(source, Arrival):
		return Source{kind: kindArrival}, nil
	case strings.HasPrefix(source, "$"):
		a, err := event.ParseAccessor(source)
		if err != nil {
			return Source{}, fmt.Errorf("time source %q: %w", source, err)
		}
		return Source{kindAccessor, a, event.TimeReader{Zone: loc}}, nil
	}
	return Source{}, fmt.Errorf("time source %q is none of %s, %s and a record accessor such as $time", source, Record, Arrival)
}

// At returns the event's instant as Unix time.
func (s *Source) At(e *event.Event, c *assigner.Context) (sec int64, nsec uint32) {
	if s.kind == kindArrival {
		return c.Arrival.Unix(), uint32(c.Arrival.Nanosecond())
	}
	t, value := e.Time, []byte(nil)
	if s.kind == kindAccessor {
		t, value = s.lookup(e, c)
	}
	if t.Set && t.Sec >= firstSec && t.Sec <= lastSec {
		return t.Sec, t.Nsec
	}
	if c.ByArrival != nil {
		c.ByArrival(why(t, value), value)
	}
	return c.Arrival.Unix(), uint32(c.Arrival.Nanosecond())
}

func why(t event.Time, value []byte) string {
	switch {
	case t.Set:
		return TooEarly
	case value == nil || event.KindOf(value) == event.KindNil:
		return Missing
	}
	return NoTime
}

// lookup returns the time that the accessor finds, unset if there is none, and
// the value.
func (s *Source) lookup(e *event.Event, c *assigner.Context) (t event.Time, value []byte) {
	near := c.Arrival.Unix()
	if s.accessor.IsTag() {
		text, ok := s.accessor.Tag(c.Tag)
		if ok {
			t, _, _ = s.reader.ReadText(text, near)
		}
		if ok && c.ByArrival != nil && t.Sec < firstSec {
			value = event.AppendString(nil, text)
		}
		return t, value
	}
	value, ok := s.accessor.Lookup(e)
	if ok {
		t, _, _ = s.reader.Read(value, near)
	}
	return t, value
}
