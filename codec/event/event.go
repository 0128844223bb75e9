// Package event reads a Fluent Bit chunk as an ordered sequence of log events
// over its raw msgpack, without copying and without building Go values.
//
// It promises that every byte of a chunk is accounted for: each top-level
// object is an event, a group marker, or an event whose Malformed says why it
// is none; bytes from which no further object can be read are the Rest. It
// never panics, never recurses deeper than MaxDepth, and allocates nothing
// that the input's length doesn't bound.
package event

import "time"

// Time is when an event happened. The zero Time means that the event has none.
type Time struct {
	Sec  int64
	Nsec uint32
	Set  bool
}

// Std converts to a time.Time in UTC.
func (t Time) Std() time.Time { return time.Unix(t.Sec, int64(t.Nsec)).UTC() }

// Group is what the group header before an event says of all the events that
// follow it up to the footer (Fluent Bit v3.2+, used for OTLP: the header's
// metadata holds schema, resource_id and scope_id, its body resource and
// scope). Both are raw msgpack maps in the chunk.
type Group struct {
	Meta []byte
	Body []byte
}

// Event is one top-level object of a chunk. Its slices alias the chunk and
// live as long as it does.
type Event struct {
	// Ordinal counts the top-level objects of the chunk from 0, group markers
	// and malformed objects included. It identifies the record in the chunk.
	Ordinal uint32
	// Offset is the object's first byte in the chunk.
	Offset uint32
	Raw    []byte // the whole object
	Meta   []byte // raw msgpack map, nil if the layout has none ([ts, map])
	Body   []byte // raw msgpack map, nil if Malformed
	Time   Time
	Group  *Group // nil outside a group
	// Malformed says why the object is well-formed msgpack but no log event,
	// and is empty for an event. Body and Meta are then nil.
	Malformed string
}

// Batch is some events of one chunk, in the chunk's order: all of it, or the
// share of one bucket.
type Batch struct {
	Tag     string
	Arrival time.Time // when the chunk reached the plugin
	Events  []*Event
}
