package intake

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFewFlushesReadAtATime: when the disk of the chunk files hangs, no more than
// so many threads wait for it, and a flush that finds no place gives up within
// flush_timeout, or when the sink ends.
func TestFewFlushesReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(Config{FlushTimeout: 3 * time.Second})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		hung := make(chan struct{})
		var reading, read, gaveUp atomic.Int64
		flush := func() {
			if i.readChunk(ctx, func() { reading.Add(1); <-hung }) {
				read.Add(1)
			} else {
				gaveUp.Add(1)
			}
		}
		for range 1000 {
			go flush()
		}
		synctest.Wait()
		if reading.Load() != readers || gaveUp.Load() != 0 {
			t.Errorf("%d read, %d gave up", reading.Load(), gaveUp.Load())
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if reading.Load() != readers || gaveUp.Load() != 1000-readers {
			t.Errorf("after flush_timeout %d read, %d gave up", reading.Load(), gaveUp.Load())
		}
		go flush()
		synctest.Wait()
		stop()
		synctest.Wait()
		if gaveUp.Load() != 1001-readers {
			t.Error("one waits although the sink has ended")
		}
		close(hung)
		synctest.Wait()
		if read.Load() != readers {
			t.Errorf("%d were read", read.Load())
		}
	})
}
