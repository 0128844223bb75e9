package instance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

const (
	// openWait is how long Start waits for the disk: the agent does nothing else
	// meanwhile. A journal is usually read in less than a second.
	openWait = 5 * time.Second
	// openAgain is how long it takes until an instance that could not be opened
	// behind the agent's back is tried again.
	openAgain = time.Minute
	// leaveWait is how long Close waits for an open that is under way.
	leaveWait = time.Second
)

// Left are the state directories that instances of this process have left while
// a call to the disk hung, so that their locks are still held. The zero value is
// ready to use, by any number of goroutines.
type Left struct {
	mu   sync.Mutex
	dirs map[string]<-chan struct{}
}

// add notes a directory until it is released.
func (l *Left) add(dir string, released <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirs == nil {
		l.dirs = map[string]<-chan struct{}{}
	}
	l.dirs[dir] = released
}

// of is closed when the directory is released; nil if it isn't waited for.
func (l *Left) of(dir string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.dirs[dir]:
		delete(l.dirs, dir)
	default:
	}
	return l.dirs[dir]
}

// Output is an instance for an agent that must not wait: until the disk has
// answered and a predecessor in this process has left the state directory, every
// flush is answered Retry; then it goes on by itself.
type Output struct {
	dir  string
	log  *slog.Logger
	left *Left

	stop  context.CancelFunc
	ended chan struct{} // closed when the opening goroutine is through

	mu     sync.Mutex
	opened running // nil until then
	closed bool
	behind bool // Start has returned, or has its answer
}

// running is an open instance as an Output sees it.
type running interface {
	Flush(tag string, data []byte, file chunkfile.File, o sink.FlushOptions) sink.Answer
	Close() error
	Released() <-chan struct{}
}

// Start reads an instance's configuration and opens it as Open does, and returns
// soon also when the disk hangs. Only an error that was there by then is
// returned; a later one is logged, and opening tried again.
func Start(lookup conf.Lookup, sys System) (*Output, error) {
	p, err := prepare(lookup, sys)
	if err != nil {
		return nil, err
	}
	return start(p.settings.State.Dir, sys.Log, sys.Left, func() (running, error) {
		i, err := p.open()
		if err != nil {
			return nil, err
		}
		return i, nil
	})
}

func start(dir string, log *slog.Logger, left *Left, open func() (running, error)) (*Output, error) {
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	predecessor := left.of(dir)
	o := &Output{dir: dir, log: log, left: left, stop: cancel, ended: make(chan struct{}), behind: predecessor != nil}
	go func() {
		defer close(o.ended)
		o.open(ctx, predecessor, open, first)
	}()
	if predecessor != nil {
		log.Warn("an instance before this one left a call to the disk behind that hangs; chunks are answered RETRY until it comes back",
			"state_dir", dir, "do", "check the disk")
		return o, nil
	}
	wait := time.NewTimer(openWait)
	defer wait.Stop()
	select {
	case err := <-first:
		return o.first(err)
	case <-wait.C:
	}
	o.mu.Lock()
	answered := o.behind
	o.behind = true
	o.mu.Unlock()
	if answered {
		return o.first(<-first)
	}
	log.Warn("the disk is slow or hangs; chunks are answered RETRY until the state is read", "state_dir", dir, "do", "check the disk")
	return o, nil
}

// first is what Start answers after an attempt that ended in time.
func (o *Output) first(err error) (*Output, error) {
	if err == nil {
		return o, nil
	}
	o.stop()
	<-o.ended
	return nil, err
}

// open opens the instance, until that succeeds, the output is closed, or the
// first attempt fails while Start waits for it.
func (o *Output) open(ctx context.Context, predecessor <-chan struct{}, open func() (running, error), first chan<- error) {
	if predecessor != nil {
		select {
		case <-predecessor:
		case <-ctx.Done():
			<-predecessor // the directory isn't free before
			return
		}
	}
	for ; ctx.Err() == nil; run.Sleep(ctx, openAgain) {
		i, err := open()
		if err == nil {
			o.opens(i)
		}
		if o.tell(first, err) || err == nil {
			return
		}
		o.log.Error("the output can't be opened; chunks are answered RETRY, and it is tried again", "state_dir", o.dir, "error", err)
	}
}

// tell answers Start, if it still waits.
func (o *Output) tell(first chan<- error, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.behind {
		return false
	}
	o.behind = true
	first <- err
	return true
}

// opens lets flushes in, or closes what was opened for nobody.
func (o *Output) opens(i running) {
	o.mu.Lock()
	if !o.closed {
		o.opened = i
	}
	closed := o.closed
	o.mu.Unlock()
	if !closed {
		return
	}
	if err := i.Close(); err != nil {
		o.log.Error("the output didn't close cleanly: the next start goes on", "state_dir", o.dir, "error", err)
	}
	<-i.Released()
}

// Flush is sink.Flush.
func (o *Output) Flush(tag string, data []byte, file chunkfile.File, f sink.FlushOptions) sink.Answer {
	o.mu.Lock()
	i := o.opened
	o.mu.Unlock()
	if i == nil {
		return sink.Retry
	}
	return i.Flush(tag, data, file, f)
}

// Close is Instance.Close, or ends the attempts to open one.
func (o *Output) Close() error {
	o.stop()
	o.mu.Lock()
	o.closed = true
	i := o.opened
	o.mu.Unlock()
	if i != nil {
		err := i.Close()
		if errors.Is(err, sink.ErrDiskHangs) {
			o.left.add(o.dir, i.Released())
		}
		return err
	}
	wait := time.NewTimer(leaveWait)
	defer wait.Stop()
	select {
	case <-o.ended:
		return nil
	case <-wait.C:
		o.left.add(o.dir, o.ended)
		return sink.ErrDiskHangs
	}
}
