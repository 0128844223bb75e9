package fluentbit

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
)

// Answer is what Fluent Bit hears of a flush.
type Answer int

// Flush is one delivery of a chunk.
type Flush struct {
	Tag  string
	Data []byte // Fluent Bit's, which takes it back at the answer
	File chunkfile.File
	// OnEngineThread says that Fluent Bit does nothing else until the answer:
	// the output has no workers.
	OnEngineThread bool
}

// Output is an instance as its plugin makes it.
type Output interface {
	// Flush answers once the chunk is durable or refused. It keeps nothing of
	// f.Data afterwards. Several may run at a time.
	Flush(f Flush) Answer
	// Close stops the output and releases everything it holds. It is called
	// once, when no flush runs, and none follows.
	Close() error
}

// Opener makes an Output of the properties of the instance of that name. Its
// error has a line for each mistake in them.
type Opener func(name string, lookup func(key string) string, log *slog.Logger) (Output, error)

// host is what Fluent Bit says of an instance while it is initialised. The
// functions may be called until start returns, on the goroutine that called it.
type host struct {
	name   string
	level  int // Fluent Bit's: 1 error to 5 trace
	lookup func(key string) string
	report func(line string) // a line for Fluent Bit's log, at level error
}

// pending is a flush that waits for its answer. answer must be called once.
type pending struct {
	instance uintptr // 0 for the only one there is
	flush    Flush
	answer   func(Answer)
}

// source is where flushes come from.
type source interface {
	open()
	next() (p pending, more bool) // waits; no more after close
	close()
}

// instances are the configured outputs that run in this process. A goroutine
// takes the flushes from the source while there is an instance.
type instances struct {
	opener Opener
	source source

	change sync.Mutex // held while an instance starts or stops
	taker  sync.WaitGroup

	mu   sync.Mutex // guards what follows, and is never held for long
	live map[uintptr]*instance
	last uintptr
}

// instance is one output and what this package knows of it.
type instance struct {
	output Output
	log    *slog.Logger
	finder *chunkfile.Finder // nil where chunk files can't be told
	// flushes counts those under way; it grows only while the instance is in
	// the table.
	flushes  sync.WaitGroup
	onEngine sync.Once
	inMemory sync.Once
	untold   atomic.Bool // the last chunk couldn't be told from others
}

func newInstances(o Opener, s source) *instances {
	return &instances{opener: o, source: s, live: map[uintptr]*instance{}}
}

// start opens an output and returns its id, which is never 0. On 0 it has
// reported why there is none.
func (s *instances) start(h host) (id uintptr) {
	s.change.Lock()
	defer s.change.Unlock()
	defer func() {
		if p := recover(); p != nil {
			h.report(fmt.Sprintf("this plugin has a bug and can't start: panic: %v: %s", p, oneLine(debug.Stack())))
			id = 0
		}
	}()
	log := slog.New(newLogHandler(stderr{}, h.name, h.level))
	finder, err := chunkfile.Open()
	if err != nil {
		log.Warn("chunks can't be told by their files, so one that Fluent Bit delivers again is written again", "error", err)
	}
	o, err := s.opener(h.name, h.lookup, log)
	if err != nil {
		for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
			h.report(line)
		}
		if finder != nil {
			_ = finder.Close() // it only read
		}
		return 0
	}
	log.Info("Fluent Bit's own settings can't be seen from here: exactly once asks for `Retry_Limit no_limits` on this output and `storage.type filesystem` on its inputs")
	return s.add(&instance{output: o, log: log, finder: finder})
}

// add puts an instance into the table and sees to it that flushes are taken.
func (s *instances) add(i *instance) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live) == 0 {
		s.source.open()
		s.taker.Go(s.take)
	}
	s.last++
	s.live[s.last] = i
	return s.last
}

// stop closes the instance, or, for 0, all of them. An id that isn't in the
// table is none of ours any more.
func (s *instances) stop(id uintptr) {
	s.change.Lock()
	defer s.change.Unlock()
	for _, i := range s.remove(id) {
		i.flushes.Wait()
		i.close()
	}
	s.mu.Lock()
	none := len(s.live) == 0
	s.mu.Unlock()
	if none {
		s.source.close()
		s.taker.Wait()
	}
}

func (s *instances) remove(id uintptr) (gone []*instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, i := range s.live {
		if k == id || id == 0 {
			gone = append(gone, i)
			delete(s.live, k)
		}
	}
	return gone
}

// take hands out flushes until the source is closed, each to a goroutine that
// ends with its answer. There are as many at a time as Fluent Bit waits for.
func (s *instances) take() {
	for {
		p, more := s.source.next()
		if !more {
			return
		}
		i := s.find(p.instance)
		if i == nil {
			p.answer(Retry)
			continue
		}
		go func() {
			defer i.flushes.Done()
			p.answer(i.flush(p.flush))
		}()
	}
}

// find returns the instance with one more flush under way, or nil.
func (s *instances) find(id uintptr) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.live[id]
	if id == 0 && len(s.live) == 1 {
		for _, only := range s.live {
			i = only
		}
	}
	if i != nil {
		i.flushes.Add(1)
	}
	return i
}

// flush delivers to the output. Whatever goes wrong, the answer is RETRY: the
// chunk stays with Fluent Bit.
func (i *instance) flush(f Flush) (a Answer) {
	// Reading a mapped chunk whose file was cut is a fault that would end the
	// process; this makes it a panic.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			i.log.Error("a flush panicked: the chunk stays with Fluent Bit, which delivers it again; please report this", "panic", p, "stack", oneLine(debug.Stack()))
			a = Retry
		}
	}()
	if f.OnEngineThread {
		i.onEngine.Do(func() {
			i.log.Warn("all of Fluent Bit waits while this output writes: set `workers 1` or more on it")
		})
	}
	if i.finder != nil {
		file, err := i.finder.Find(f.Data)
		if err != nil {
			if !i.untold.Swap(true) {
				i.log.Error("can't tell which chunk this is: Fluent Bit keeps it and delivers it again", "error", err,
					"do", "see that the agent may read /proc/self/maps")
			}
			return Retry
		}
		if i.untold.Swap(false) {
			i.log.Info("chunks can be told apart again")
		}
		if !file.Known() {
			i.inMemory.Do(func() {
				i.log.Warn("chunks come from memory: they are lost if Fluent Bit stops before they are answered, and written again if their answer is lost; set `storage.type filesystem` on the inputs and use no processors on this output", "tag", f.Tag)
			})
		}
		f.File = file
	}
	if a := i.output.Flush(f); a == OK {
		return OK
	}
	return Retry
}

// close ends the instance. Fluent Bit can't act on a failure, so it is logged.
func (i *instance) close() {
	defer func() {
		if p := recover(); p != nil {
			i.log.Error("the output panicked as it was closed: what isn't finished is finished by the next start; please report this", "panic", p, "stack", oneLine(debug.Stack()))
		}
	}()
	err := i.output.Close()
	if i.finder != nil {
		err = errors.Join(err, i.finder.Close())
	}
	if err != nil {
		i.log.Error("the output didn't close cleanly: what isn't finished is finished by the next start", "error", err)
	}
}

// oneLine makes a stack fit for a log that has an event a line.
func oneLine(stack []byte) string {
	return strings.Join(strings.FieldsFunc(string(stack), func(r rune) bool { return r == '\n' || r == '\t' }), " | ")
}
