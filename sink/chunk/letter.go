package chunk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Letters says how a record becomes a dead letter.
type Letters interface {
	// Bucket is where the letters of a chunk that arrived then go.
	Bucket(arrival time.Time) string
	// Suffix is what their parts' names end with.
	Suffix() string
	// Append appends one letter to dst. e.Raw is the record's original bytes,
	// or for a chunk's undecodable rest all that is left of it.
	Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte
}

// Letter is a record for the dead letters.
type Letter struct {
	Event  *event.Event
	Reason string
}

// MakeLetterShare makes the dead letters' share of the job; LetterShare stays
// nil if it has none.
func (j *Job) MakeLetterShare(l Letters) {
	batch := event.Batch{Tag: j.Tag, Arrival: j.Arrival}
	sh := &Share{Bucket: l.Bucket(j.Arrival), Batch: batch, Encoded: true, Letter: true}
	if j.Undecoded {
		j.Records = 1
		why := "sent undecoded to the dead letters by an operator"
		if j.Published > 0 {
			why += fmt.Sprintf("; %d of its records were published before", j.Published)
		}
		sh.Block = appendLetter(nil, l, &batch, &event.Event{Raw: j.Data}, why)
		sh.Records.Add(0)
		j.LetterShare = sh
		return
	}
	if len(j.Letters) == 0 {
		return
	}
	slices.SortFunc(j.Letters, func(a, b Letter) int { return cmp.Compare(a.Event.Ordinal, b.Event.Ordinal) })
	for _, x := range j.Letters {
		sh.Block = appendLetter(sh.Block, l, &batch, x.Event, x.Reason)
		sh.Records.Add(x.Event.Ordinal)
	}
	j.LetterShare = sh
}

// appendLetter appends a letter, and if that panics one with the record's raw
// bytes only.
func appendLetter(dst []byte, l Letters, b *event.Batch, e *event.Event, reason string) (out []byte) {
	if panicked := run.Safely(func() { out = l.Append(dst, b, e, reason) }); panicked != "" {
		raw := event.Event{Ordinal: e.Ordinal, Offset: e.Offset, Raw: e.Raw, Malformed: panicked}
		out = l.Append(dst, b, &raw, reason+"; "+panicked)
	}
	return out
}
