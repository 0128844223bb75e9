// Package deadletter renders a record that can't be encoded or placed as one
// line of JSON, with the reason and with its original bytes: nothing that the
// agent answered for is dropped because it is odd.
//
// A line's fields, always all of them and in this order:
//
//	reason   why, a string
//	tag      the chunk's tag
//	arrival  when the chunk reached the plugin, RFC 3339 in UTC
//	time     the event's own time, likewise; null if it has none
//	ordinal  the object's number in its chunk, from 0
//	offset   its first byte in its chunk
//	record   the record as JSON: the body of a log event, any other object as
//	         it is; null if the bytes are no object
//	raw      the object's bytes, base64 with padding
package deadletter

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// Letter is one record and why it is here.
type Letter struct {
	Reason  string
	Tag     string
	Arrival time.Time
	Ordinal uint32
	Offset  uint32
	Time    event.Time
	Raw     []byte // the whole top-level object, or the rest of a chunk; any bytes
}

// FromEvent returns the letter of an event of a chunk.
func FromEvent(e *event.Event, reason, tag string, arrival time.Time) Letter {
	return Letter{
		Reason: reason, Tag: tag, Arrival: arrival,
		Ordinal: e.Ordinal, Offset: e.Offset, Time: e.Time, Raw: e.Raw,
	}
}

// Append appends l as one line of valid JSON and valid UTF-8, whatever it
// holds. It never fails.
func Append(dst []byte, l Letter) []byte {
	dst = append(dst, `{"reason":`...)
	dst = json.AppendString(dst, []byte(l.Reason))
	dst = append(dst, `,"tag":`...)
	dst = json.AppendString(dst, []byte(l.Tag))
	dst = append(dst, `,"arrival":`...)
	dst = appendTime(dst, l.Arrival)
	dst = append(dst, `,"time":`...)
	if l.Time.Set {
		dst = appendTime(dst, l.Time.Std())
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"ordinal":`...)
	dst = strconv.AppendUint(dst, uint64(l.Ordinal), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendUint(dst, uint64(l.Offset), 10)
	dst = append(dst, `,"record":`...)
	dst = appendRecord(dst, l.Raw)
	dst = append(dst, `,"raw":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, l.Raw)
	return append(dst, '"', '}', '\n')
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

// appendRecord renders the one object that raw consists of. An event's body is
// what its author calls the record.
func appendRecord(dst, raw []byte) []byte {
	n, ok := event.Span(raw)
	if !ok || n != len(raw) {
		return append(dst, "null"...)
	}
	var r event.Reader
	var e event.Event
	if r.Reset(raw); r.Next(&e) && e.Malformed == "" {
		raw = e.Body
	}
	var a json.Appender
	out, err := a.AppendValue(dst, raw)
	if err != nil {
		return append(dst, "null"...)
	}
	return out
}
