package fs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/semaphore"
)

// LimitOptions are Flink's fs.<scheme>.limit.*, without the one on input streams
// since next to nothing is read. Zero or less means no limit.
type LimitOptions struct {
	Total  int // streams open at a time
	Output int // of these, streams that write: uploads
	// Timeout is how long an upload waits for a stream before it fails.
	Timeout time.Duration
	// StreamTimeout is how long an upload may make no progress before it is
	// aborted, so that one that hangs doesn't hold its place.
	StreamTimeout time.Duration
}

// ErrNoStream is in the error of an upload that waited Timeout at a limit.
var ErrNoStream = errors.New("no stream became free in time")

// ErrStalled is in the error of an upload that was aborted after StreamTimeout.
var ErrStalled = errors.New("stream made no progress")

// limits apply LimitOptions to the uploads of one driver. At a limit an upload
// waits its turn, first come, first served.
//
// An aborted upload is one whose ctx ended: a driver that is stuck in a call
// which can't be interrupted keeps its place until that call returns.
type limits struct {
	o       LimitOptions
	streams *semaphore.Weighted // nil without a limit
	closing context.Context     // ends with close, and with it all waiting
	end     context.CancelCauseFunc
}

func newLimits(o LimitOptions) *limits {
	l := &limits{o: o}
	if n := o.streams(); n > 0 {
		l.streams = semaphore.NewWeighted(int64(n))
	}
	l.closing, l.end = context.WithCancelCause(context.Background())
	return l
}

// streams is how many uploads may run at a time, 0 for any number: all streams
// are uploads.
func (o LimitOptions) streams() int {
	if o.Total <= 0 || o.Output <= 0 {
		return max(o.Total, o.Output, 0)
	}
	return min(o.Total, o.Output)
}

// enter takes a place for an upload or waits for one. The caller leaves after a
// nil.
func (l *limits) enter(ctx context.Context, path string) error {
	if l.closing.Err() != nil {
		return Closed("upload", path)
	}
	if l.streams == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.closing, func() { cancel(context.Cause(l.closing)) })()
	if l.o.Timeout > 0 {
		timer := time.AfterFunc(l.o.Timeout, func() { cancel(l.noStream()) })
		defer timer.Stop()
	}
	if l.streams.Acquire(ctx, 1) == nil {
		return nil
	}
	class := Unclear
	if cause := context.Cause(ctx); errors.Is(cause, ErrNoStream) || errors.Is(cause, os.ErrClosed) {
		class = Target
	}
	return &Error{Op: "upload", Path: path, Class: class, Err: context.Cause(ctx)}
}

func (l *limits) leave() {
	if l.streams != nil {
		l.streams.Release(1)
	}
}

// close sends all waiting uploads away.
func (l *limits) close() { l.end(os.ErrClosed) }

func (l *limits) noStream() error {
	return fmt.Errorf("%w: %v at the limit of total %d, output %d streams; raise the limit or its timeout",
		ErrNoStream, l.o.Timeout, max(l.o.Total, 0), max(l.o.Output, 0))
}

// watch runs an upload and aborts it if it makes no progress for StreamTimeout.
func (l *limits) watch(ctx context.Context, src Source, path string, upload func(context.Context, Source) (Info, error)) (Info, error) {
	if l.o.StreamTimeout <= 0 {
		return upload(ctx, src)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(l.o.StreamTimeout, func() {
		cancel(fmt.Errorf("%w for %v (stream-timeout)", ErrStalled, l.o.StreamTimeout))
	})
	defer watch.Stop()
	info, err := upload(ctx, &watched{src: src, watch: watch, timeout: l.o.StreamTimeout})
	if err != nil && errors.Is(context.Cause(ctx), ErrStalled) {
		// Whatever the driver made of the ended ctx, this is why it ended.
		err = &Error{Op: "upload", Path: path, Class: ClassOf(err), Err: fmt.Errorf("%w: %w", context.Cause(ctx), err)}
	}
	return info, err
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
	// A watch that has fired stays so: its upload is on the way out.
	if w.watch.Stop() {
		w.watch.Reset(w.timeout)
	}
	return w.src.ReadAt(p, off)
}
