package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// applier owns the buckets: it appends shares to in-progress parts, in the
// chunks' order, and rolls parts. Others ask it to do something by sending it
// a function.
type applier struct {
	s    *Sink
	asks chan func() // run by the applier between two jobs
	// relief is a wish to roll the part that pins the journal longest.
	relief chan struct{}
	// parts are the in-progress parts by bucket, the dead letters' among them:
	// no other bucket begins with an underscore. The applier alone touches them.
	parts map[string]*part
	// held is the memory of all parts, counted as of each one's last write.
	held int64
	// unread is the trouble of chunks that can't be read back, by sequence.
	unread map[uint64]*trouble
}

func (a *applier) init(s *Sink) {
	a.s = s
	a.asks = make(chan func())
	a.relief = make(chan struct{}, 1)
	a.parts = map[string]*part{}
	a.unread = map[uint64]*trouble{}
}

func (a *applier) start() { a.s.goRun(&a.s.local, "applier", a.run) }

func (a *applier) run(ctx context.Context) {
	tick := time.NewTicker(max(a.s.cfg.BucketCheckInterval, time.Millisecond))
	defer tick.Stop()
	for {
		ordered, look := a.s.dispatch.ordered, (<-chan time.Time)(nil)
		if !a.room(ctx) {
			ordered, look = nil, time.After(roomPoll)
		}
		select {
		case <-ctx.Done():
			return
		case j := <-ordered:
			select {
			case <-j.done:
			case <-ctx.Done():
				return
			}
			a.take(ctx, j)
		case <-look:
		case now := <-tick.C:
			a.rollWhere(ctx, func(p *part) bool { return p.records == 0 || a.s.cfg.Policy.RollOnTimer(p.info(), now) })
		case <-a.relief:
			a.rollLeast(ctx, func(x, y *part) bool { return x.oldest < y.oldest })
		case f := <-a.asks:
			f()
		}
	}
}

// room reports whether another chunk may be applied. Beyond state_limit all
// that is in progress is rolled, and nothing is added as long as something may
// still be published and make room.
func (a *applier) room(ctx context.Context) bool {
	if a.s.used() <= a.s.cfg.StateLimit {
		return true
	}
	a.rollWhere(ctx, func(*part) bool { return true })
	return a.s.seal.idle() && a.s.upload.idle()
}

// ask runs f on the applier and waits for it. After a false f may still run.
func (a *applier) ask(ctx context.Context, f func()) bool {
	ran := make(chan struct{})
	select {
	case a.asks <- func() { f(); close(ran) }:
	case <-ctx.Done():
		return false
	case <-a.s.ctx.Done():
		return false
	}
	select {
	case <-ran:
		return true
	case <-ctx.Done():
		return false
	case <-a.s.ctx.Done():
		return false
	}
}

// rollAll rolls every in-progress part.
func (a *applier) rollAll(ctx context.Context) bool {
	return a.ask(ctx, func() { a.rollWhere(a.s.ctx, func(*part) bool { return true }) })
}

// relieve asks that the part be rolled that pins the journal longest.
func (a *applier) relieve() {
	select {
	case a.relief <- struct{}{}:
	default:
	}
}

// closeFiles closes the staged files of parts that a stop left in progress. It
// is called when the applier has ended; the next start removes the files.
func (a *applier) closeFiles() {
	for _, p := range a.parts {
		_ = p.file.file.Close()
	}
}

// take applies a job. Whatever of it could not be applied is decoded again:
// each share is in a part whole, or not at all and owed. So no panic leaves half
// a share in a part, nor loses one.
func (a *applier) take(ctx context.Context, j *job) {
	defer a.s.queue.finish(j.seq)
	defer j.release(a.s)
	if j.err != nil {
		a.unreadable(j)
		return
	}
	a.readable(j.seq)
	var failure error
	if panicked := safely(func() { failure = a.applyShares(ctx, j) }); panicked != "" {
		failure = errors.New(panicked)
		a.s.log.Error("bug: a panic while a chunk was applied; its records are decoded again; please report this",
			"chunk", j.seq, "panic", panicked)
	}
	if ctx.Err() != nil {
		return
	}
	a.owe(j, failure)
}

// applyShares writes the job's shares, its letters last, and asks the policy.
// The error is that of the last share that could not be written.
func (a *applier) applyShares(ctx context.Context, j *job) (failure error) {
	for _, sh := range j.shares {
		if err := a.addShare(ctx, j, sh); err != nil {
			failure = err
		}
	}
	if j.lettered = j.letterShare(a.s.cfg.Letters); j.lettered != nil {
		if err := a.addShare(ctx, j, j.lettered); err != nil {
			failure = err
		}
	}
	if j.records == 0 {
		a.s.append(ctx, journal.Void{Seq: j.seq})
		return failure
	}
	for _, sh := range j.shares {
		a.checkpoint(ctx, sh.bucket)
	}
	if j.lettered != nil {
		a.checkpoint(ctx, j.lettered.bucket)
	}
	return failure
}

// checkpoint asks the policy about a part that the chunk went to.
func (a *applier) checkpoint(ctx context.Context, bucket string) {
	if p := a.parts[bucket]; p != nil && p.records > 0 && a.s.cfg.Policy.RollOnCheckpoint(p.info()) {
		a.roll(ctx, p)
	}
}

// owe queues those of the job's records once more that are in no part.
func (a *applier) owe(j *job, failure error) {
	var owed []uint32
	for _, sh := range j.shares {
		owed = append(owed, sh.owed()...)
	}
	if j.lettered == nil || !j.lettered.applied {
		for _, l := range j.letters {
			owed = append(owed, l.event.Ordinal)
		}
		if j.whole {
			owed = append(owed, 0)
		}
	}
	if len(owed) == 0 {
		return
	}
	only := journal.CoverageOf(runsOf(owed))
	a.s.requeue(retryChunkAfter, a.s.suspect(item{seq: j.seq, size: j.size, only: &only, alone: j.alone, failed: j.failed}, failure))
}

// retryChunkAfter is how long records wait that could not be applied.
const retryChunkAfter = time.Second

// addShare writes a share to its bucket's part, unless ctx ends before that
// succeeds. On an error the part is dropped and the share isn't applied.
func (a *applier) addShare(ctx context.Context, j *job, sh *share) error {
	if sh.encoded && sh.records.Count() == 0 {
		sh.applied = true
		return nil
	}
	p := a.open(ctx, sh)
	if p == nil {
		return nil
	}
	if err := p.add(j, sh); err != nil {
		a.drop(p, err)
		return err
	}
	if p.file.err != nil && !a.insist(ctx, "write an in-progress part", p, p.file.flush) {
		return nil
	}
	a.held -= p.held
	p.held = p.buffered()
	a.held += p.held
	a.keepLimits(ctx)
	if a.parts[sh.bucket] == p && p.records > 0 && (p.full() || a.s.cfg.Policy.RollOnEvent(p.info())) {
		a.roll(ctx, p)
	}
	return nil
}

// open returns the bucket's in-progress part, creating it until that succeeds.
func (a *applier) open(ctx context.Context, sh *share) *part {
	if p := a.parts[sh.bucket]; p != nil {
		return p
	}
	var p *part
	a.insist(ctx, "create an in-progress part", nil, func() (err error) {
		p, err = a.create(sh)
		return err
	})
	if p != nil {
		a.parts[sh.bucket] = p
	}
	return p
}

func (a *applier) create(sh *share) (*part, error) {
	n := a.s.journal.NextPart()
	file, err := createStaged(a.s.disk, fmt.Sprintf("%s/%d", stagedDir, n), func(b int64) { a.s.staged.Add(b) })
	if err != nil {
		return nil, err
	}
	if sh.letters {
		return &part{number: n, bucket: sh.bucket, file: file, suffix: a.s.cfg.Letters.Suffix()}, nil
	}
	p := &part{number: n, bucket: sh.bucket, file: file, suffix: a.s.cfg.PartSuffix}
	p.writer, err = a.s.newWriter(file, n)
	if err != nil {
		a.s.dropStaged(file)
		return nil, err
	}
	return p, nil
}

// newWriter begins a file of the format's.
func (s *Sink) newWriter(w io.Writer, number uint64) (out codec.Writer, err error) {
	panicked := safely(func() {
		out, err = s.cfg.Format.NewWriter(w, codec.Meta{WriterID: s.journal.WriterID(), Part: number, Created: time.Now()})
	})
	if panicked != "" {
		err = errors.New(panicked)
	}
	if err != nil {
		return nil, fmt.Errorf("begin part %d: %w", number, err)
	}
	return out, nil
}

// insist does something on the local disk until it succeeds, or ctx ends. On a
// full disk it rolls what else is in progress, which makes room once it is
// published. The pipeline waits meanwhile, and flushes don't.
func (a *applier) insist(ctx context.Context, what string, except *part, do func() error) bool {
	var b backoff
	for ctx.Err() == nil {
		err := do()
		if err == nil {
			if b.failures > 0 {
				a.s.log.Info("the state directory can be written again", "state_dir", a.s.cfg.StateDir)
			}
			return true
		}
		if b.failures == 0 {
			a.s.log.Error("the state directory can't be written; trying again", "to", what,
				"state_dir", a.s.cfg.StateDir, "error", err, "do", "make room on the disk, or check it")
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			a.rollWhere(ctx, func(p *part) bool { return p != except })
		}
		sleep(ctx, b.next())
	}
	return false
}

// drop gives up a part whose file can't be used. Its records are decoded again.
func (a *applier) drop(p *part, err error) {
	a.remove(p)
	a.s.rebuild(p, err)
}

// keepLimits rolls least recently written parts while max_open_buckets or
// memory_limit is exceeded.
func (a *applier) keepLimits(ctx context.Context) {
	for len(a.parts) > max(1, a.s.cfg.MaxOpenBuckets) || len(a.parts) > 1 && a.held > a.s.memory.encoders {
		if !a.rollLeast(ctx, func(x, y *part) bool { return x.last.Before(y.last) }) {
			return
		}
	}
}

// rollLeast rolls the part that is before all others, and reports whether
// there was one.
func (a *applier) rollLeast(ctx context.Context, before func(x, y *part) bool) bool {
	var least *part
	for _, p := range a.parts {
		if least == nil || before(p, least) {
			least = p
		}
	}
	if least != nil {
		a.roll(ctx, least)
	}
	return least != nil
}

func (a *applier) rollWhere(ctx context.Context, roll func(*part) bool) {
	for _, p := range a.parts {
		if roll(p) {
			a.roll(ctx, p)
		}
	}
}

// remove takes the part out of the buckets.
func (a *applier) remove(p *part) {
	delete(a.parts, p.bucket)
	a.held -= p.held
}

// roll hands the part to the sealer. One without records is dropped.
func (a *applier) roll(ctx context.Context, p *part) {
	a.remove(p)
	if p.records == 0 {
		a.s.dropStaged(p.file)
		return
	}
	a.s.seal.push(ctx, a.s, p)
}
