package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// job is a chunk on its way through a worker to the applier.
type job struct {
	item
	done chan struct{} // closed when the worker is through with it

	// What the worker made. The shares' bytes live until the job is released.
	records uint32 // of the whole chunk
	shares  []*share
	letters []letter
	// lettered is the letters' share, once the applier has made it. It is kept
	// here so that a panic doesn't hide that it is in a part.
	lettered *share
	data     []byte // the payload, lent if payload is nil
	blocks   []byte // the shares' blocks, lent
	err      error  // why the chunk could not be read
	// whole is set for a chunk that goes undecoded to the dead letters.
	whole bool
	// published is how many of such a chunk's records are in rolled parts.
	published uint32
}

// share is what one bucket gets of a chunk.
type share struct {
	bucket  string
	batch   event.Batch
	block   []byte // encoded, if the format does that ahead
	encoded bool
	records journal.Ranges // of the block
	letters bool           // the dead letters' share
	applied bool           // it is in a part, or nothing of it needs to be
}

// worker decodes chunks, one at a time.
type worker struct {
	s        *Sink
	assigner assigner.Assigner
	encoder  codec.BlockEncoder // nil if the format encodes in the file only
	reader   event.Reader
}

func newWorker(s *Sink) *worker {
	w := &worker{s: s, assigner: s.cfg.NewAssigner()}
	w.renew()
	return w
}

// renew makes a new encoder: one that panicked may be in any state.
func (w *worker) renew() {
	if f, ok := w.s.cfg.Format.(codec.BlockFormat); ok {
		w.encoder = f.NewBlockEncoder()
	}
}

func (w *worker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-w.s.dispatch.jobs:
			if panicked := safely(func() { w.decode(j) }); panicked != "" {
				j.err = errors.New(panicked)
			}
			close(j.done)
		}
	}
}

// decode fills the job. Whatever goes wrong with a record makes it a letter.
func (w *worker) decode(j *job) {
	if j.err = w.load(j); j.err != nil {
		return
	}
	c, live := w.s.journal.Chunk(j.seq)
	if !live {
		j.err = fs.ErrNotExist
		return
	}
	if j.whole = c.DeadLetter; j.whole {
		covered := w.s.journal.Covered(j.seq)
		j.published = covered.Count()
		return
	}
	events := w.events(j)
	if panicked := safely(func() { w.assignAll(j, events) }); panicked != "" {
		w.assignEach(j, events)
	}
	for _, sh := range j.shares {
		w.sift(j, sh)
	}
	j.shares = slices.DeleteFunc(j.shares, func(sh *share) bool { return len(sh.batch.Events) == 0 })
	w.encodeAll(j)
}

// load gets the payload.
func (w *worker) load(j *job) error {
	if j.payload != nil {
		j.data = j.payload.b
		return nil
	}
	p, err := w.s.journal.Read(j.seq, w.s.memory.take(int(j.size)+1024))
	if err != nil {
		return err
	}
	j.data, j.tag, j.arrival = p.Data, p.Tag, p.Arrival
	return nil
}

// events walks the chunk and returns the records that are wanted, and counts
// them all. Malformed ones are among them.
func (w *worker) events(j *job) []event.Event {
	covered := journal.Coverage{}
	if j.only == nil {
		covered = w.s.journal.Covered(j.seq)
	}
	wanted := func(ordinal uint32) bool {
		if j.only != nil {
			return j.only.Has(ordinal)
		}
		return !covered.Has(ordinal)
	}
	const typicalEvent = 400 // bytes; only saves growing the slice
	events := make([]event.Event, 0, 64+len(j.data)/typicalEvent)
	var rest event.Event
	panicked := safely(func() {
		w.reader.Reset(j.data)
		var e event.Event
		for w.reader.Next(&e) {
			j.records++
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
		rest.Raw, rest.Malformed = j.data[rest.Offset:], panicked
	}
	if rest.Malformed != "" {
		j.records++
		if wanted(rest.Ordinal) {
			events = append(events, rest)
		}
	}
	return events
}

// safely calls f and returns what it panicked with, "" if it didn't.
func safely(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("bug: panic while decoding: %v", p)
		}
	}()
	f()
	return ""
}

// assignAll sorts the events into shares.
func (w *worker) assignAll(j *job, events []event.Event) {
	ctx := assigner.Context{Tag: j.tag, Arrival: j.arrival}
	shares := map[string]*share{}
	var last *share
	for i := range events {
		e := &events[i]
		if e.Malformed != "" {
			j.letters = append(j.letters, letter{e, e.Malformed})
			continue
		}
		bucket, err := w.assigner.Bucket(e, &ctx)
		if err != nil {
			j.letters = append(j.letters, letter{e, err.Error()})
			continue
		}
		if last == nil || last.bucket != bucket {
			if last = shares[bucket]; last == nil {
				last = &share{bucket: bucket, batch: event.Batch{Tag: j.tag, Arrival: j.arrival}}
				shares[bucket] = last
				j.shares = append(j.shares, last)
			}
		}
		last.batch.Events = append(last.batch.Events, e)
	}
	j.shares = slices.DeleteFunc(j.shares, func(sh *share) bool {
		err := checkBucket(sh.bucket)
		if err != nil {
			for _, e := range sh.batch.Events {
				j.letters = append(j.letters, letter{e, err.Error()})
			}
		}
		return err != nil
	})
}

// assignEach does the same after a panic: the record that causes it becomes a
// letter.
func (w *worker) assignEach(j *job, events []event.Event) {
	ctx := assigner.Context{Tag: j.tag, Arrival: j.arrival}
	w.assigner = w.s.cfg.NewAssigner()
	for i := range events {
		if events[i].Malformed != "" {
			continue
		}
		panicked := safely(func() { _, _ = w.assigner.Bucket(&events[i], &ctx) })
		if panicked != "" {
			events[i].Malformed = panicked
			w.assigner = w.s.cfg.NewAssigner() // the one that panicked may be in any state
		}
	}
	j.shares, j.letters = nil, nil
	if panicked := safely(func() { w.assignAll(j, events) }); panicked != "" {
		j.shares, j.letters = nil, nil
		for i := range events {
			j.letters = append(j.letters, letter{&events[i], panicked})
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

// encodeAll makes the shares' blocks, if the format can do that ahead of the
// file. They lie one behind the other in one buffer, so that many shares cost
// no more than one.
func (w *worker) encodeAll(j *job) {
	if w.encoder == nil {
		return
	}
	j.blocks = w.s.memory.take(len(j.data) + len(j.data)/2)
	ends := make([]int, len(j.shares))
	for i, sh := range j.shares {
		sh.encoded = true
		var rejects []codec.Reject
		j.blocks, rejects = w.encode(j.blocks, sh)
		ends[i] = len(j.blocks)
		sh.account(rejects)
		j.reject(rejects)
	}
	begin := 0
	for i, sh := range j.shares {
		sh.block, begin = j.blocks[begin:ends[i]:ends[i]], ends[i]
	}
}

// encode appends the share's block to dst. After a panic it encodes record by
// record, so that it costs one.
func (w *worker) encode(dst []byte, sh *share) (block []byte, rejects []codec.Reject) {
	panicked := safely(func() { block, rejects = w.encoder.Encode(dst, &sh.batch) })
	if panicked == "" {
		return block, rejects
	}
	block, rejects = dst, nil
	w.renew()
	for _, e := range sh.batch.Events {
		one := event.Batch{Tag: sh.batch.Tag, Arrival: sh.batch.Arrival, Events: []*event.Event{e}}
		before := block
		panicked := safely(func() {
			var r []codec.Reject
			block, r = w.encoder.Encode(block, &one)
			rejects = append(rejects, r...)
		})
		if panicked != "" {
			block = before
			w.renew()
			rejects = append(rejects, codec.Reject{Event: e, Reason: panicked})
		}
	}
	return block, rejects
}

// account notes which of the share's records were encoded.
func (sh *share) account(rejects []codec.Reject) {
	rejected := map[uint32]bool{}
	for _, r := range rejects {
		rejected[r.Event.Ordinal] = true
	}
	for _, e := range sh.batch.Events {
		if len(rejected) == 0 || !rejected[e.Ordinal] {
			sh.records.Add(e.Ordinal)
		}
	}
}

// decoded gives the share's block up for the events that it holds.
func (sh *share) decoded() {
	encoded := journal.CoverageOf(sh.records.Bytes())
	sh.batch.Events = slices.DeleteFunc(sh.batch.Events, func(e *event.Event) bool { return !encoded.Has(e.Ordinal) })
	sh.records, sh.block, sh.encoded = journal.Ranges{}, nil, false
}

// owed are the records of a share that wasn't applied. Those that were rejected
// ahead aren't among them: they are letters.
func (sh *share) owed() (ordinals []uint32) {
	if sh.applied {
		return nil
	}
	encoded := journal.CoverageOf(sh.records.Bytes())
	for _, e := range sh.batch.Events {
		if !sh.encoded || encoded.Has(e.Ordinal) {
			ordinals = append(ordinals, e.Ordinal)
		}
	}
	return ordinals
}

// runsOf encodes ordinals in any order.
func runsOf(ordinals []uint32) []byte {
	slices.Sort(ordinals)
	var r journal.Ranges
	for _, o := range slices.Compact(ordinals) {
		r.Add(o)
	}
	return r.Bytes()
}

// release gives the job's buffers back.
func (j *job) release(s *Sink) {
	s.memory.give(j.blocks)
	if j.payload != nil {
		s.memory.release(j.payload)
	} else {
		s.memory.give(j.data)
	}
	j.data, j.blocks, j.shares, j.letters, j.lettered = nil, nil, nil, nil, nil
}
