package sink

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// letter is a record for the dead letters.
type letter struct {
	event  *event.Event
	reason string
}

func (j *job) reject(rejects []codec.Reject) {
	for _, r := range rejects {
		j.letters = append(j.letters, letter{r.Event, r.Reason})
	}
}

// letterShare makes the dead letters' share of the job, nil if it has none.
func (j *job) letterShare(l Letters) *share {
	batch := event.Batch{Tag: j.tag, Arrival: j.arrival}
	sh := &share{bucket: l.Bucket(j.arrival), batch: batch, encoded: true, letters: true}
	if j.whole {
		j.records = 1
		why := "sent undecoded to the dead letters by an operator"
		if j.published > 0 {
			why += fmt.Sprintf("; %d of its records were published before", j.published)
		}
		sh.block = appendLetter(nil, l, &batch, &event.Event{Raw: j.data}, why)
		sh.records.Add(0)
		return sh
	}
	if len(j.letters) == 0 {
		return nil
	}
	slices.SortFunc(j.letters, func(a, b letter) int { return cmp.Compare(a.event.Ordinal, b.event.Ordinal) })
	for _, x := range j.letters {
		sh.block = appendLetter(sh.block, l, &batch, x.event, x.reason)
		sh.records.Add(x.event.Ordinal)
	}
	return sh
}

// appendLetter appends a letter, and if that panics one with the record's raw
// bytes only.
func appendLetter(dst []byte, l Letters, b *event.Batch, e *event.Event, reason string) (out []byte) {
	if panicked := safely(func() { out = l.Append(dst, b, e, reason) }); panicked != "" {
		raw := event.Event{Ordinal: e.Ordinal, Offset: e.Offset, Raw: e.Raw, Malformed: panicked}
		out = l.Append(dst, b, &raw, reason+"; "+panicked)
	}
	return out
}
