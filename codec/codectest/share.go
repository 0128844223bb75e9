package codectest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// share is a batch and what should become of it.
type share struct {
	chunk []byte // in which its events lie
	batch *event.Batch
	keys  []string       // of the records, in their order
	bad   []*event.Event // those that must be rejected, in their order
}

// text is the n-th record's key, of about size bytes: short ones compress as log
// lines do, of long ones half is noise. No two records have the same.
func text(n, size int) string {
	s := fmt.Appendf(nil, "%07d GET /a/%d?q=\"x\" 订单已支付 <%d> key=value, %%20", n, n*7919%1000, n*104729%100_000)
	for i := n; len(s) < size; i += 31 {
		s = strconv.AppendUint(append(s, ' '), uint64(uint32(i)*2654435761), 16)
	}
	return string(s)
}

// batchOf makes a batch of a chunk's events.
func batchOf(chunk []byte) *event.Batch {
	events, _ := eventtest.Read(chunk)
	return &event.Batch{Tag: "app.log", Arrival: time.Unix(1767225600, 0), Events: events}
}

// records is a share of n records of about size bytes, which are the first-th
// and those behind it, in memory of its own.
func records(first, n, size int) share {
	s := share{}
	for i := first; i < first+n; i++ {
		key := text(i, size)
		s.keys = append(s.keys, key)
		s.chunk = eventtest.Append(s.chunk, eventtest.Event(eventtest.At(1767225600+int64(i), uint32(i%1000)*1e6), eventtest.Map{}, eventtest.Map{
			Key, key, "id", i, "ok", i%3 == 0, "latency", float64(i) / 7, "labels", eventtest.Map{"app", "shop", "tier", "backend"},
		}))
	}
	s.batch = batchOf(s.chunk)
	return s
}

// with returns the share with bad events at these places.
func (s share) with(places ...int) share {
	s.batch = &event.Batch{Tag: s.batch.Tag, Arrival: s.batch.Arrival, Events: slices.Clone(s.batch.Events)}
	for i, at := range places {
		e := &event.Event{Ordinal: uint32(1000 + i)} // no record at all
		if i%2 == 0 {
			e.Raw, e.Malformed = eventtest.Pack("text"), "it is no log event"
		}
		at = min(at, len(s.batch.Events))
		s.batch.Events = slices.Insert(s.batch.Events, at, e)
	}
	s.bad = nil
	for _, e := range s.batch.Events {
		if e.Body == nil {
			s.bad = append(s.bad, e)
		}
	}
	return s
}

// scribble writes over everything that a writer or an encoder was given.
func (s share) scribble() {
	for i := range s.chunk {
		s.chunk[i] = 0xc1
	}
	for _, e := range s.batch.Events {
		*e = event.Event{Malformed: strings.Repeat("x", 10), Ordinal: 77}
	}
	clear(s.batch.Events)
	*s.batch = event.Batch{Tag: "another"}
}
