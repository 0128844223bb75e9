package encode

import (
	"io/fs"
	"slices"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// work fills the job. Whatever goes wrong with a record makes it a letter.
func (w *worker) work(j *chunk.Job) {
	if j.Err = w.load(j); j.Err != nil {
		return
	}
	c, live := w.journal.Chunk(j.Seq)
	if !live {
		j.Err = fs.ErrNotExist
		return
	}
	if j.Undecoded = c.DeadLetter; j.Undecoded {
		covered := w.journal.Covered(j.Seq)
		j.Published = covered.Count()
		return
	}
	events := w.events(j)
	j.Account(events, w.blocksToCome(j))
	if panicked := run.Safely(func() { w.assignAll(j, events) }); panicked != "" {
		w.assignEach(j, events)
	}
	for _, sh := range j.Shares {
		w.removeCulprits(j, sh)
	}
	j.Shares = slices.DeleteFunc(j.Shares, func(sh *chunk.Share) bool { return len(sh.Batch.Events) == 0 })
	w.encode(j)
	j.Account(events, 0)
}

// load gets the payload.
func (w *worker) load(j *chunk.Job) error {
	if j.Payload != nil {
		j.Data = j.Payload.Bytes()
		return nil
	}
	p, err := w.journal.Read(j.Seq, w.memory.Take(int(j.Size)+1024))
	if err != nil {
		return err
	}
	j.Data, j.Tag, j.Arrival = p.Data, p.Tag, p.Arrival
	return nil
}

// events walks the chunk and returns the records that are wanted, and counts
// them all. Malformed ones are among them.
func (w *worker) events(j *chunk.Job) []event.Event {
	covered := journal.Coverage{}
	if j.Only == nil {
		covered = w.journal.Covered(j.Seq)
	}
	wanted := func(ordinal uint32) bool {
		if j.Only != nil {
			return j.Only.Has(ordinal)
		}
		return !covered.Has(ordinal)
	}
	events := make([]event.Event, 0, chunk.TypicalEvents(len(j.Data)))
	var rest event.Event
	panicked := run.Safely(func() {
		w.reader.Reset(j.Data)
		var e event.Event
		for w.reader.Next(&e) {
			j.Records++
			if wanted(e.Ordinal) {
				events = append(events, e)
			}
			rest.Ordinal, rest.Offset = e.Ordinal+1, e.Offset+uint32(len(e.Raw))
		}
		if r, ok := w.reader.Rest(); ok {
			rest = event.Event{Ordinal: r.Ordinal, Offset: r.Offset, Raw: r.Raw, Malformed: r.Reason}
		}
	})
	if panicked != "" {
		rest.Raw, rest.Malformed = j.Data[rest.Offset:], panicked
	}
	if rest.Malformed != "" {
		j.Records++
		if wanted(rest.Ordinal) {
			events = append(events, rest)
		}
	}
	return events
}
