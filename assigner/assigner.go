// Package assigner decides which bucket an event belongs to. A bucket is a
// directory below the sink's base path.
//
// An assigner is a pure function of the event, its context and its own
// configuration. Whatever the event holds, the answer never leaves the base
// path and never names something hidden from readers.
package assigner

import (
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Context is what an assigner may know of the chunk around an event.
type Context struct {
	Tag     string
	Arrival time.Time // when the chunk reached the plugin
	// ByArrival, unless it is nil, is told of each event whose bucket is named by
	// the arrival because the time that was asked for is none: why, one of a few
	// texts, and the value that was found, raw msgpack in the chunk, nil if there
	// was none. It is called on the goroutine that asks for the bucket, and keeps
	// no reference to the value.
	ByArrival func(why string, value []byte)
}

// Assigner answers with the bucket's path relative to the base path: slash
// separated, without a leading or trailing slash, "" for the base path itself.
// An error sends the event to the dead letters with its text as reason.
//
// One goroutine uses an Assigner at a time. Answers are interned: equal buckets
// usually share one string, so asking allocates nothing for a bucket seen
// before.
type Assigner interface {
	Bucket(e *event.Event, c *Context) (string, error)
}
