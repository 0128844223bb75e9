package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// limited is a FileSystem behind a gate.
type limited struct {
	FileSystem
	o    LimitOptions
	gate *gate
}

func (l *limited) enter(ctx context.Context, op, path string, d direction) error {
	err := l.gate.enter(ctx, d, l.o.Timeout)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrClosed):
		return Closed(op, path)
	case errors.Is(err, ErrNoStream):
		return &Error{Op: op, Path: path, Class: Target, Err: err}
	default:
		return &Error{Op: op, Path: path, Class: Unclear, Err: err}
	}
}

func (l *limited) Put(ctx context.Context, src Source, temp string, o PutOptions) (Info, error) {
	if err := l.enter(ctx, "put", temp, output); err != nil {
		return Info{}, err
	}
	defer l.gate.leave(output)
	if l.o.StreamTimeout <= 0 {
		return l.FileSystem.Put(ctx, src, temp, o)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(l.o.StreamTimeout, func() { cancel(l.stalled()) })
	defer watch.Stop()
	info, err := l.FileSystem.Put(ctx, &watched{src: src, watch: watch, timeout: l.o.StreamTimeout}, temp, o)
	if err != nil && errors.Is(context.Cause(ctx), ErrStalled) {
		// Whatever the driver made of the ended ctx, this is why it ended.
		err = &Error{Op: "put", Path: temp, Class: ClassOf(err), Err: fmt.Errorf("%w: %w", context.Cause(ctx), err)}
	}
	return info, err
}

func (l *limited) stalled() error {
	return fmt.Errorf("%w for %v (stream-timeout)", ErrStalled, l.o.StreamTimeout)
}

// watched is a Source whose every read is progress: a driver asks for a slice
// once the one before is written. It has no OSFile, since a copy inside the
// kernel can't be watched.
type watched struct {
	src     Source
	watch   *time.Timer
	timeout time.Duration
}

func (w *watched) Size() int64 { return w.src.Size() }

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	// A watch that has fired stays so: its Put is on the way out.
	if w.watch.Stop() {
		w.watch.Reset(w.timeout)
	}
	return w.src.ReadAt(p, off)
}

func (l *limited) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := l.enter(ctx, "open", path, input); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := l.FileSystem.Open(ctx, path)
	if err != nil {
		cancel(nil)
		l.gate.leave(input)
		return nil, err
	}
	s := &stream{r: r, path: path, cancel: cancel, leave: func() { l.gate.leave(input) }}
	if l.o.StreamTimeout > 0 {
		s.timeout = l.o.StreamTimeout
		s.mu.Lock()
		s.watch = time.AfterFunc(s.timeout, func() { s.abort(l.stalled()) })
		s.mu.Unlock()
	}
	return s, nil
}

// Close sends waiting calls away and closes the file system. Streams that are
// open are their holders'.
func (l *limited) Close() error {
	l.gate.close()
	return l.FileSystem.Close()
}

// stream is an input stream that holds a place until it is closed or aborted.
type stream struct {
	path    string
	timeout time.Duration
	leave   func()

	mu      sync.Mutex
	r       io.ReadCloser
	watch   *time.Timer // nil without a timeout
	cancel  context.CancelCauseFunc
	reading bool  // a Read is inside r, which then mustn't be closed
	ended   error // why no Read can begin any more
	closed  bool  // r is closed, the place is free
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	if s.ended != nil {
		defer s.mu.Unlock()
		return 0, &Error{Op: "read", Path: s.path, Class: Target, Err: s.ended}
	}
	s.reading = true
	s.mu.Unlock()

	n, err := s.r.Read(p)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = false
	if s.ended != nil { // by abort or Close, which left closing to this Read
		_ = s.finishLocked() // its answer, if any, is behind the reason to end
		return n, &Error{Op: "read", Path: s.path, Class: Target, Err: s.ended}
	}
	if s.watch != nil && s.watch.Stop() {
		s.watch.Reset(s.timeout)
	}
	return n, err
}

// abort ends the stream from outside. A Read that hangs in the driver sees its
// ctx end.
func (s *stream) abort(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = why
		s.cancel(why)
		_ = s.finishLocked()
	}
}

// Close closes the stream. A second Close does nothing.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = os.ErrClosed
		s.cancel(os.ErrClosed) // for a Read that is inside, and closes r then
	}
	return s.finishLocked()
}

// finishLocked closes r and frees the place, once, as soon as no Read is
// inside.
func (s *stream) finishLocked() error {
	if s.closed || s.reading {
		return nil
	}
	s.closed = true
	if s.watch != nil {
		s.watch.Stop()
	}
	err := s.r.Close()
	s.cancel(nil)
	s.leave()
	return err
}
