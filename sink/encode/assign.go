package encode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// assignAll sorts the events into shares.
func (w *worker) assignAll(j *chunk.Job, events []event.Event) {
	ctx := assigner.Context{Tag: j.Tag, Arrival: j.Arrival}
	shares := map[string]*chunk.Share{}
	var last *chunk.Share
	for i := range events {
		e := &events[i]
		if e.Malformed != "" {
			j.Letter(e, e.Malformed)
			continue
		}
		bucket, err := w.assigner.Bucket(e, &ctx)
		if err != nil {
			j.Letter(e, err.Error())
			continue
		}
		if last == nil || last.Bucket != bucket {
			if last = shares[bucket]; last == nil {
				last = &chunk.Share{Bucket: bucket, Batch: event.Batch{Tag: j.Tag, Arrival: j.Arrival}}
				shares[bucket] = last
				j.Shares = append(j.Shares, last)
			}
		}
		last.Batch.Events = append(last.Batch.Events, e)
	}
	j.Shares = slices.DeleteFunc(j.Shares, func(sh *chunk.Share) bool {
		err := checkBucket(sh.Bucket)
		if err != nil {
			for _, e := range sh.Batch.Events {
				j.Letter(e, err.Error())
			}
		}
		return err != nil
	})
}

// assignEach does the same after a panic: the record that causes it becomes a
// letter.
func (w *worker) assignEach(j *chunk.Job, events []event.Event) {
	ctx := assigner.Context{Tag: j.Tag, Arrival: j.Arrival}
	w.assigner = w.cfg.NewAssigner()
	for i := range events {
		if events[i].Malformed != "" {
			continue
		}
		panicked := run.Safely(func() { _, _ = w.assigner.Bucket(&events[i], &ctx) })
		if panicked != "" {
			events[i].Malformed = panicked
			w.assigner = w.cfg.NewAssigner() // the one that panicked may be in any state
		}
	}
	j.Shares, j.Letters = nil, nil
	if panicked := run.Safely(func() { w.assignAll(j, events) }); panicked != "" {
		j.Shares, j.Letters = nil, nil
		for i := range events {
			j.Letter(&events[i], panicked)
		}
	}
}

var errBucket = errors.New("the assigner's bucket isn't a path below the base path that readers see")

// checkBucket is the last line of defence: whatever an assigner answers, no
// part leaves the base path or hides.
func checkBucket(bucket string) error {
	if bucket == "" {
		return nil
	}
	for segment := range strings.SplitSeq(bucket, "/") {
		if segment == "" || segment[0] == '.' || segment[0] == '_' || len(segment) > 255 || strings.ContainsRune(segment, 0) {
			return fmt.Errorf("%w: %q", errBucket, bucket)
		}
	}
	return nil
}
