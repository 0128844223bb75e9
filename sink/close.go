package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Drain publishes everything that was accepted so far, and rolls what is in
// progress for that; parts that are held stay. It returns the end of ctx if
// that came first. Temps that earlier attempts left are removed, too; one that
// wasn't there stays listed, since it may still appear for as long as
// commit.LateEffect.
func (s *Sink) Drain(ctx context.Context) error {
	if !s.drain(ctx) {
		return fmt.Errorf("drain: %w", context.Cause(ctx))
	}
	s.commit.RemoveLeftovers(ctx)
	for _, l := range s.journal.Leftovers() {
		s.log.Info("a temp file of an attempt isn't confirmed gone", "target", l.Target, "file", l.Temp,
			"do", "drain again in a minute before the state directory is removed")
	}
	return nil
}

// drain publishes everything, until ctx ends. It reports whether it did.
func (s *Sink) drain(ctx context.Context) bool {
	s.intake.RetryNow()
	for s.intake.WaitIdle(ctx) && s.buckets.RollAll(ctx) && s.buckets.WaitSealed(ctx) {
		if s.intake.Idle() { // else a part is being built anew
			return s.commit.WaitIdle(ctx)
		}
	}
	return false
}

// Close stops the sink: within exit_timeout it publishes all it can, and the
// next start goes on with the rest. When it returns, no operation on the target
// begins any more, nor one on the state directory, whose lock is released. A
// second Close waits for the first and answers the same.
//
// It lasts hardly longer than exit_timeout whatever hangs. If it is the state
// directory's disk, the error is ErrDiskHangs: the lock stays with the call that
// hangs, and what waits for that call ends, and releases the lock, when it
// comes back; Released tells.
func (s *Sink) Close() error {
	if !s.closing.Swap(true) {
		s.intake.StopAccepting()
		s.closeErr = s.close()
		close(s.ended)
	}
	<-s.ended
	return s.closeErr
}

// ErrDiskHangs is the error of a Close that left a call to the local disk
// behind.
var ErrDiskHangs = errors.New("a call to the disk of the state directory hangs; the directory stays locked until it comes back")

// hungCall is how long Close waits for calls that don't heed their context, such
// as one on a dead NFS mount: first for all stages, then for the journal.
const hungCall = time.Second

func (s *Sink) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ExitTimeout)
	defer cancel()
	s.commit.RetryNow()
	drained := s.drain(ctx)
	if drained {
		s.commit.RemoveLeftovers(ctx)
	}
	s.stop()
	local := after(s.local, func() error {
		s.buckets.Close()
		return nil
	})
	remote := after(s.remote, s.commit.Close)
	hung := time.NewTimer(hungCall)
	defer hung.Stop()
	if ok, _ := await(local, hung); ok {
		local = nil
	}
	ok, err := await(remote, hung)
	if !ok {
		s.log.Warn("a call to the target hangs; leaving without it", "target", s.cfg.Target)
	}
	if !drained {
		s.log.Warn("exit_timeout passed before everything was published; the next start goes on",
			"exit_timeout", s.cfg.ExitTimeout, "chunks", len(s.journal.Chunks()), "pending_parts", len(s.journal.Parts()))
	}
	s.staging.Fence()
	s.commit.Fence()
	ended := make(chan error, 1)
	go func() { ended <- s.release(local == nil) }()
	disk := time.NewTimer(hungCall)
	defer disk.Stop()
	ok, journalErr := await(ended, disk)
	if !ok {
		journalErr = fmt.Errorf("%w: check the disk of %s", ErrDiskHangs, s.cfg.StateDir)
	}
	return errors.Join(journalErr, err)
}

// release closes the journal and releases the state directory. On a disk that
// hangs it lasts until that goes on.
func (s *Sink) release(stopped bool) error {
	defer close(s.released)
	if stopped {
		s.intake.TellIdle()
	}
	return s.journal.Close()
}

// after calls f once the group's goroutines have ended, at the latest when a
// hung call returns, and passes its answer on. The goroutine is the group's
// last; it holds nothing of the state.
func after(group *run.Group, f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		group.Wait()
		done <- f()
	}()
	return done
}

// await waits for an answer until the timer fires, and then takes one that is
// there already.
func await(done <-chan error, timer *time.Timer) (ok bool, err error) {
	select {
	case err = <-done:
		return true, err
	case <-timer.C:
		timer.Reset(0) // for whoever is awaited next
	}
	select {
	case err = <-done:
		return true, err
	default:
		return false, nil
	}
}
