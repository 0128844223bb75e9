package eventtest

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime is the time that run keeps a processor busy on its own goroutine, the
// least of three runs. Unlike the time on the wall it hardly depends on what else
// the machine does, so two of them can be compared.
func CPUTime(tb testing.TB, run func()) time.Duration {
	tb.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
			tb.Fatal(err)
		}
		return time.Duration(t.Nano())
	}
	least := time.Duration(1<<63 - 1)
	for range 3 {
		before := used()
		run()
		least = min(least, used()-before)
	}
	return least
}
