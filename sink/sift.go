package sink

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// A format that encodes in the file only can fail over a record in ways that
// spoil the whole file: it panics, errors, or can't end it. The file is then
// dropped and its records are decoded again. So that one record doesn't do that
// for ever, those that were in two such files are first tried in a throwaway
// file, and whoever can't be written even there becomes a dead letter. While
// that goes on all other shares are tried whole before they are written, or
// fresh culprits would spoil the files of those who were tried.
const (
	// siftAfter is how many files a record must have been in that the format
	// could not finish, before it is tried by itself.
	siftAfter = 2
	// giveUpAfter is the same for records that pass every trial and still spoil
	// their files: they all become dead letters, since nobody can tell why.
	giveUpAfter = 8
	// wary is for how long after such a failure all shares are tried.
	wary = 10 * time.Minute
)

// suspects remembers until when shares are tried before they are written.
type suspects struct{ until atomic.Int64 } // Unix time in ns

// suspect notes what became of a record's part for the item's next life.
func (s *Sink) suspect(it item, err error) item {
	var format *formatError
	if !errors.As(err, &format) {
		return it
	}
	it.failed++
	it.why = err.Error()
	if it.failed >= siftAfter {
		s.suspects.until.Store(time.Now().Add(wary).UnixNano())
	}
	return it
}

// sift moves those of the share's events that can't be written to the letters.
func (w *worker) sift(j *job, sh *share) {
	if j.failed >= giveUpAfter {
		for _, e := range sh.batch.Events {
			j.letters = append(j.letters, letter{e, "the format can't finish any file with this record in it: " + j.why})
		}
		sh.batch.Events = nil
		return
	}
	if j.failed < siftAfter && time.Now().UnixNano() >= w.s.suspects.until.Load() {
		return
	}
	culprits := map[*event.Event]string{}
	w.try(sh.batch, culprits)
	if len(culprits) == 0 {
		return
	}
	kept := make([]*event.Event, 0, len(sh.batch.Events))
	for _, e := range sh.batch.Events {
		if why, bad := culprits[e]; bad {
			j.letters = append(j.letters, letter{e, why})
		} else {
			kept = append(kept, e)
		}
	}
	sh.batch.Events = kept
}

// try finds the events that can't be written, by halves: where a batch can be
// written whole, each of its events can.
func (w *worker) try(b event.Batch, culprits map[*event.Event]string) {
	if len(b.Events) == 0 {
		return
	}
	why := w.throwaway(&b)
	switch {
	case why == "":
	case len(b.Events) == 1:
		culprits[b.Events[0]] = why
	default:
		half := len(b.Events) / 2
		for _, events := range [][]*event.Event{b.Events[:half], b.Events[half:]} {
			w.try(event.Batch{Tag: b.Tag, Arrival: b.Arrival, Events: events}, culprits)
		}
	}
}

// throwaway writes a batch into a file that nobody sees, and answers why that
// can't be finished, "" if it can.
func (w *worker) throwaway(b *event.Batch) (why string) {
	var out counter
	f, err := w.s.newWriter(&out, 0)
	if err != nil {
		return "" // no event's fault
	}
	panicked := safely(func() {
		var rejects []codec.Reject
		if rejects, err = f.Write(b); err != nil || len(rejects) == len(b.Events) {
			return
		}
		if err = f.Close(); err == nil {
			err = whole(f, int64(out), int64(len(b.Events)-len(rejects)))
		}
	})
	switch {
	case panicked != "":
		return panicked
	case err != nil:
		return err.Error()
	}
	return ""
}

// whole reports whether an ended file of the given size holds the records that
// were written, as far as it tells.
func whole(w codec.Writer, size, records int64) error {
	if size == 0 {
		return errEmptyFile
	}
	if c, counts := w.(codec.Counter); counts && c.Records() != records {
		return fmt.Errorf("%w: %d instead of %d", errCount, c.Records(), records)
	}
	return nil
}

// errCount is why a file isn't published whose footer or blocks don't count the
// records that were written.
var errCount = errors.New("bug: the file counts other records than were written")

// errEmptyFile is why a file isn't published that holds nothing of its records.
var errEmptyFile = errors.New("the format wrote nothing of the records")

// counter is a file that keeps only its length.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
