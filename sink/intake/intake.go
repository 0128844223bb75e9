// Package intake takes chunks in: it decides whether there is room for one,
// journals it, and hands what is owed to the encoding stage in the chunks' order.
//
// # Promise
//
// A chunk that Accept answered with true is in the journal, durable, and is
// handed on until every record of it is in a part that was journaled, in this
// process or a later one. A chunk that it answered with false isn't kept, and is
// new when it comes again. Chunks over which a process died come later and alone;
// one over which several died in a row is held.
//
// It never looks into a chunk.
package intake

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/encode"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/record"
	"github.com/out-hdfs/out_hdfs/sink/retry"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Config is what an Intake is made of.
type Config struct {
	Log          *slog.Logger
	StateDir     string // in texts
	Target       string // in texts
	StateLimit   int64  // bytes of journal and staged parts
	FlushTimeout time.Duration
	Directories  Directories

	Journal  *journal.Journal
	Recorder *record.Recorder
	Memory   *memory.Pool
	Work     *memory.Work
	Used     func() int64 // bytes of what StateLimit bounds
	Staged   func() int64 // bytes of staged parts, which are among them
	Encode   *encode.Stage
	// RollPinning asks for the part to be rolled that pins the journal longest.
	RollPinning func()
}

// Intake is the first stage of one sink. Accept may be called from any number of
// goroutines at a time.
type Intake struct {
	Config
	admission  admission
	readers    chan struct{} // a place for each flush that reads its chunk
	queue      queue
	dispatcher dispatcher
	// unread is why chunks can't be read back, by sequence. Finish alone, which
	// is called by one goroutine, touches it.
	unread map[uint64]*retry.Pause

	group   *run.Group // of Start
	closing atomic.Bool
	retry   chan struct{} // closed by RetryNow
	once    sync.Once     // closes it
}

// New returns an Intake that isn't started: it accepts chunks, and hands none on.
func New(c Config) *Intake {
	return &Intake{Config: c, unread: map[uint64]*retry.Pause{}, retry: make(chan struct{}), readers: make(chan struct{}, readers)}
}

// readers is how many flushes read their chunks at a time. Each is a window on a
// mapped file, so to read it may wait for a disk, and each that waits takes a
// thread of the process; Go ends a process with 10,000 of them
// (runtime/debug.SetMaxThreads). Fluent Bit may have some thousand flushes under
// way.
const readers = 32

// readChunk calls f, which reads a chunk's bytes, when there is a place for one
// more. It reports false if there was none within flush_timeout or ctx ended.
func (i *Intake) readChunk(ctx context.Context, f func()) bool {
	select {
	case i.readers <- struct{}{}:
	default:
		ctx, cancel := context.WithTimeout(ctx, i.FlushTimeout)
		defer cancel()
		select {
		case i.readers <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	defer func() { <-i.readers }()
	f()
	return true
}

// Start queues what the last process left unfinished and starts the goroutines,
// which end with the group's context.
func (i *Intake) Start(g *run.Group) {
	i.group = g
	i.recover()
	g.Go("dispatcher", i.dispatch)
	g.Go("origins", i.watchOrigins)
}

// Accept makes a chunk durable and reports whether that succeeded within
// flush_timeout, or half of it after room was found for the chunk. data is read until it returns and not kept. file is the chunk's
// own file, where that is known. With noWait a full state directory is answered
// at once.
//
// The journal gets a copy of data: a disk that hangs may hold the bytes for
// longer than Fluent Bit keeps them mapped, and a chunk file that is cut under
// its mapping fails here, on the caller's goroutine, and nowhere else.
func (i *Intake) Accept(ctx context.Context, tag string, data []byte, file chunkfile.File, noWait bool) bool {
	if i.closing.Load() {
		return false
	}
	arrival := time.Now()
	origin := journal.Origin{}
	if file.Known() && !i.readChunk(ctx, func() {
		origin = journal.Origin{
			Dir: path.Dir(file.Path()), Name: file.Name, Length: uint32(len(data)), CRC: journal.CRC(data), In: i.Directories.Locate(file),
		}
	}) {
		return false
	}
	size := int64(len(data))
	if !i.waitForRoom(ctx, size, noWait) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, max(i.FlushTimeout-time.Since(arrival), i.FlushTimeout/2))
	defer cancel()
	var own []byte
	var kept *memory.Payload
	if !i.readChunk(ctx, func() { own, kept = i.copy(data) }) {
		i.admission.leave(size)
		return false
	}
	settle := func(a journal.Accepted, err error) {
		i.admission.leave(size)
		if kept == nil {
			i.Memory.Give(own)
		}
		if err != nil || a.Known {
			i.Memory.Release(kept)
			return
		}
		i.queue.push(chunk.Owed{Seq: a.Seq, Size: size, Tag: tag, Arrival: arrival, Payload: kept})
	}
	a, err := i.Journal.AppendChunk(ctx, tag, arrival, origin, own, settle)
	if !errors.Is(err, journal.ErrLate) {
		settle(a, err)
	}
	if err != nil {
		i.refused(err)
		return false
	}
	i.accepted()
	if a.Known {
		i.Log.Debug("a chunk came again and is known", "file", file.Path())
	}
	return true
}

// copy copies a chunk's bytes. They are kept for the decoder if the limit of
// payloads allows, else lent for as long as the journal needs them.
func (i *Intake) copy(data []byte) ([]byte, *memory.Payload) {
	if kept := i.Memory.Keep(data); kept != nil {
		return kept.Bytes(), kept
	}
	return append(i.Memory.Take(len(data)), data...), nil
}

// StopAccepting refuses every further chunk.
func (i *Intake) StopAccepting() { i.closing.Store(true) }

// RetryNow tries soon what waits for a delay to pass: what hindered it may be
// over, and nothing is tried after a stop.
func (i *Intake) RetryNow() { i.once.Do(func() { close(i.retry) }) }

// Idle reports whether every chunk that was taken in is applied.
func (i *Intake) Idle() bool { return i.queue.idle() }

// WaitIdle waits for that.
func (i *Intake) WaitIdle(ctx context.Context) bool { return i.queue.WaitFor(ctx, i.queue.idle) }

// Decode queues a chunk that was held.
func (i *Intake) Decode(seq uint64) { i.queue.push(chunk.Owed{Seq: seq, Alone: true}) }
