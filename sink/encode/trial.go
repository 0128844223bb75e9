package encode

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// A format that encodes in the file only can fail over a record in ways that
// spoil the whole file: it panics, errors, or can't end it. The file is then
// dropped and its records are decoded again. So that one record doesn't do that
// for ever, records that were in two such files are first written into a trial
// file, which nobody sees, and those that can't be written even there become
// dead letters. From then on, for a while, all other shares are tried too, or a
// record of theirs could spoil the files of those that were tried.
const (
	// tryAfter is how many files that the format could not finish a record must
	// have been in before it is tried.
	tryAfter = 2
	// giveUpAfter is the same for records that pass every trial and still spoil
	// their files: they all become dead letters, since nobody can tell why.
	giveUpAfter = 8
	// tryAllFor is for how long after such a failure all shares are tried.
	tryAllFor = 10 * time.Minute
)

// trials remembers until when all shares are tried before they are written.
type trials struct{ until atomic.Int64 } // Unix time in ns

// Failed notes that a part with the records could not be finished, for their
// next life. Only an error of the format counts against them.
func (s *Stage) Failed(o chunk.Owed, err error) chunk.Owed {
	var format *partfile.Error
	if !errors.As(err, &format) {
		return o
	}
	o.Failed++
	o.Why = err.Error()
	if o.Failed >= tryAfter {
		s.trials.until.Store(time.Now().Add(tryAllFor).UnixNano())
	}
	return o
}

// removeCulprits tries the share if that is called for, and moves those of its
// events that can't be written to the letters.
func (w *worker) removeCulprits(j *chunk.Job, sh *chunk.Share) {
	if j.Failed >= giveUpAfter {
		for _, e := range sh.Batch.Events {
			j.Letter(e, "the format can't finish any file with this record in it: "+j.Why)
		}
		sh.Batch.Events = nil
		return
	}
	if j.Failed < tryAfter && time.Now().UnixNano() >= w.trials.until.Load() {
		return
	}
	culprits := map[*event.Event]string{}
	w.bisect(sh.Batch, culprits)
	if len(culprits) == 0 {
		return
	}
	kept := make([]*event.Event, 0, len(sh.Batch.Events))
	for _, e := range sh.Batch.Events {
		if why, bad := culprits[e]; bad {
			j.Letter(e, why)
		} else {
			kept = append(kept, e)
		}
	}
	sh.Batch.Events = kept
}

// bisect finds the events that can't be written, by halves: where a batch can
// be written whole, each of its events can.
func (w *worker) bisect(b event.Batch, culprits map[*event.Event]string) {
	if len(b.Events) == 0 {
		return
	}
	why := w.try(&b)
	switch {
	case why == "":
	case len(b.Events) == 1:
		culprits[b.Events[0]] = why
	default:
		half := len(b.Events) / 2
		for _, events := range [][]*event.Event{b.Events[:half], b.Events[half:]} {
			w.bisect(event.Batch{Tag: b.Tag, Arrival: b.Arrival, Events: events}, culprits)
		}
	}
}

// try writes a batch into a trial file, and answers why that can't be finished,
// "" if it can.
func (w *worker) try(b *event.Batch) (why string) {
	var out length
	f, err := w.cfg.Format.Begin(&out, 0)
	if err != nil {
		return "" // no event's fault
	}
	panicked := run.Safely(func() {
		var rejects []codec.Reject
		if rejects, err = f.Write(b); err != nil || len(rejects) == len(b.Events) {
			return
		}
		err = partfile.End(f, func() int64 { return int64(out) }, int64(len(b.Events)-len(rejects)))
	})
	switch {
	case panicked != "":
		return panicked
	case err != nil:
		return err.Error()
	}
	return ""
}

// length is a file that keeps only its length.
type length int64

func (l *length) Write(b []byte) (int, error) {
	*l += length(len(b))
	return len(b), nil
}
