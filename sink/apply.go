package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	asks chan func(ctx context.Context) // run by the applier between two jobs
	// relief is a wish to roll the part that pins the journal longest.
	relief chan struct{}
	// parts are the in-progress parts by bucket, the dead letters' among them:
	// no other bucket begins with an underscore. The applier alone touches them.
	parts map[string]*part
	// held is the memory of all parts, counted as of each one's last write.
	held int64
}

func (a *applier) start(s *Sink) {
	a.s = s
	a.asks = make(chan func(context.Context))
	a.relief = make(chan struct{}, 1)
	a.parts = map[string]*part{}
	s.goRun("applier", a.run)
}

func (a *applier) run(ctx context.Context) {
	tick := time.NewTicker(a.s.cfg.BucketCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-a.s.dispatch.ordered:
			select {
			case <-j.done:
			case <-ctx.Done():
				return
			}
			a.take(ctx, j)
			a.s.queue.finish(j.seq)
		case now := <-tick.C:
			a.rollWhere(func(p *part) bool { return p.records == 0 || a.s.cfg.Policy.RollOnTimer(p.info(), now) })
		case <-a.relief:
			a.rollOldest()
		case ask := <-a.asks:
			ask(ctx)
		}
	}
}

// ask runs f on the applier and waits for it.
func (a *applier) ask(ctx context.Context, f func()) bool {
	ran := make(chan struct{})
	select {
	case a.asks <- func(context.Context) { f(); close(ran) }:
	case <-ctx.Done():
		return false
	case <-a.s.ctx.Done():
		return false
	}
	select {
	case <-ran:
		return true
	case <-a.s.ctx.Done():
		return false
	}
}

// rollAll rolls every in-progress part.
func (a *applier) rollAll(ctx context.Context) bool {
	return a.ask(ctx, func() { a.rollWhere(func(*part) bool { return true }) })
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

// take applies a job or, if its chunk could not be read, sees to it.
func (a *applier) take(ctx context.Context, j *job) {
	defer j.release(a.s)
	if j.err != nil {
		a.unreadable(ctx, j)
		return
	}
	for _, sh := range j.shares {
		if !a.addShare(ctx, j, sh) {
			return
		}
	}
	letters := j.letterShare(a.s.cfg.Letters)
	if letters != nil && !a.addShare(ctx, j, letters) {
		return
	}
	if j.records == 0 {
		a.s.append(ctx, journal.Void{Seq: j.seq})
		return
	}
	a.checkpoint(j, letters)
}

// checkpoint asks the policy about the parts that the chunk went to.
func (a *applier) checkpoint(j *job, letters *share) {
	roll := func(bucket string) {
		if p := a.parts[bucket]; p != nil && a.s.cfg.Policy.RollOnCheckpoint(p.info()) {
			a.roll(p)
		}
	}
	for _, sh := range j.shares {
		roll(sh.bucket)
	}
	if letters != nil {
		roll(letters.bucket)
	}
}

// unreadable sees to a chunk that could not be read back: gone, damaged, or to
// be tried again.
func (a *applier) unreadable(ctx context.Context, j *job) {
	var damage *journal.DamageError
	switch {
	case errors.Is(j.err, fs.ErrNotExist) && !errors.As(j.err, &damage): // all of it is rolled
	case errors.As(j.err, &damage):
		a.s.log.Error("a chunk was lost to damage of the state directory's disk", "chunk", j.seq, "error", j.err,
			"kept", a.s.cfg.StateDir+"/"+journal.Dir+"/damaged", "do", "replace the disk")
		if err := a.s.journal.GiveUp(j.seq); err != nil {
			a.again(ctx, j.item, err)
		}
	default:
		a.again(ctx, j.item, j.err)
	}
}

// retryChunkAfter is how long a chunk waits that could not be read or whose
// part could not be finished.
const retryChunkAfter = time.Second

// again queues a chunk once more, later.
func (a *applier) again(ctx context.Context, it item, err error) {
	a.s.log.Error("a chunk is tried again later", "chunk", it.seq, "state_dir", a.s.cfg.StateDir, "error", err)
	a.s.requeue(item{seq: it.seq, size: it.size, only: it.only})
}

// addShare writes a share to its bucket's part. It reports false if ctx ended
// before that succeeded; the part is then dropped with everything else.
func (a *applier) addShare(ctx context.Context, j *job, sh *share) bool {
	if sh.encoded && sh.records.Count() == 0 {
		return true
	}
	p := a.open(ctx, sh)
	if p == nil {
		return false
	}
	if err := p.add(j, sh); err != nil {
		a.spoil(ctx, p, j, sh, err)
		return true
	}
	if !a.persist(ctx, p) {
		return false
	}
	a.held -= p.held
	p.held = p.buffered()
	a.held += p.held
	a.keepLimits()
	if a.parts[sh.bucket] == p && p.records > 0 && a.s.cfg.Policy.RollOnEvent(p.info()) {
		a.roll(p)
	}
	return true
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
	file, err := createStaged(a.s.cfg.Disk, fmt.Sprintf("%s/%d", stagedDir, n), func(b int64) { a.s.staged.Add(b) })
	if err != nil {
		return nil, err
	}
	if sh.letters {
		return &part{number: n, bucket: sh.bucket, file: file, suffix: a.s.cfg.Letters.Suffix()}, nil
	}
	p := &part{number: n, bucket: sh.bucket, file: file, suffix: a.s.cfg.PartSuffix}
	p.writer, err = a.s.cfg.Format.NewWriter(file, codec.Meta{WriterID: a.s.journal.WriterID(), Part: n, Created: time.Now()})
	if err != nil {
		a.s.dropStaged(file)
		return nil, fmt.Errorf("begin a part: %w", err)
	}
	return p, nil
}

// persist writes what the part gathered, if that failed the first time, until
// it succeeds. The pipeline waits meanwhile, and flushes don't.
func (a *applier) persist(ctx context.Context, p *part) bool {
	if p.file.err == nil {
		return true
	}
	return a.insist(ctx, "write an in-progress part", p, p.file.flush)
}

// insist does something on the local disk until it succeeds. On a full disk it
// rolls what else is in progress, which makes room once it is published.
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
			a.rollWhere(func(p *part) bool { return p != except })
		}
		sleep(ctx, b.next())
	}
	return false
}

// spoil drops a part that can't be finished. Its records, and those of the
// share that spoilt it, are decoded again.
func (a *applier) spoil(ctx context.Context, p *part, j *job, sh *share, err error) {
	a.remove(p)
	var all journal.Ranges
	for _, e := range sh.batch.Events {
		all.Add(e.Ordinal)
	}
	p.shares = append(p.shares, journal.Share{Seq: j.seq, Records: j.records, Count: all.Count(), Runs: all.Bytes()})
	a.s.rebuild(ctx, p, err)
}

// keepLimits rolls least recently written parts while max_open_buckets or
// memory_limit is exceeded.
func (a *applier) keepLimits() {
	for len(a.parts) > max(1, a.s.cfg.MaxOpenBuckets) || len(a.parts) > 1 && a.held > a.s.memory.encoders {
		if !a.rollLeast(func(x, y *part) bool { return x.last.Before(y.last) }) {
			return
		}
	}
}

// rollOldest rolls the part with the oldest chunk.
func (a *applier) rollOldest() { a.rollLeast(func(x, y *part) bool { return x.oldest < y.oldest }) }

// rollLeast rolls the part that is before all others, and reports whether
// there was one.
func (a *applier) rollLeast(before func(x, y *part) bool) bool {
	var least *part
	for _, p := range a.parts {
		if least == nil || before(p, least) {
			least = p
		}
	}
	if least != nil {
		a.roll(least)
	}
	return least != nil
}

func (a *applier) rollWhere(roll func(*part) bool) {
	for _, p := range a.parts {
		if roll(p) {
			a.roll(p)
		}
	}
}

// remove takes the part out of the buckets.
func (a *applier) remove(p *part) {
	delete(a.parts, p.bucket)
	a.held -= p.held
}

// roll hands the part to the sealer. One without records is dropped.
func (a *applier) roll(p *part) {
	a.remove(p)
	if p.records == 0 {
		a.s.dropStaged(p.file)
		return
	}
	a.s.seal.push(p)
}
