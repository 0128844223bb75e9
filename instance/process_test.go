package instance

import (
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
)

// processOf has a limit of open files, and so many open.
func processOf(limit, open int) *Process {
	return &Process{openFiles: func() (int, int, error) { return limit, open, nil }}
}

// TestInstancesShareTheFiles: all together they use half of what was free when the
// first one started, in equal shares, whoever comes and goes.
func TestInstancesShareTheFiles(t *testing.T) {
	const uploads = 4
	others := sink.OtherFiles(uploads)
	p := processOf(1024, 24)
	var live []*share
	want := func(each int) {
		t.Helper()
		for i, s := range live {
			if got := s.parts(); got != each-others {
				t.Errorf("of %d instances number %d has %d files for parts, want %d", len(live), i, got, each-others)
			}
		}
	}
	for _, each := range []int{500, 250, 166} {
		s, err := p.join(uploads, 1)
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, s)
		want(each)
	}
	for _, each := range []int{250, 500} {
		live[0].leave()
		live = live[1:]
		want(each)
	}
	live[0].leave()
	p.openFiles = func() (int, int, error) { return 300, 100, nil }
	s, err := p.join(uploads, 1)
	if err != nil {
		t.Fatal(err)
	}
	live = []*share{s}
	want(100)
}

// TestTooFewFilesAreRefused with the limit that would do, and not with one less.
func TestTooFewFilesAreRefused(t *testing.T) {
	const uploads, open = 4, 20
	each := sink.OtherFiles(uploads) + leastParts
	for n := range 3 { // instances that run already
		enough := open + 2*each*(n+1)
		for _, limit := range []int{enough, enough - 2} {
			p := processOf(limit, open)
			for range n {
				if _, err := p.join(uploads, 1); err != nil {
					t.Fatal(err)
				}
			}
			_, err := p.join(uploads, 1)
			if (err == nil) != (limit == enough) {
				t.Errorf("%d files, instance %d: %v", limit, n, err)
			}
			if err == nil {
				continue
			}
			for _, part := range []string{openfiles.Raise, "to " + strconv.Itoa(enough) + " or more"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q isn't in %q", part, err)
				}
			}
		}
	}
}

// TestMoreUploadsNeedMoreFiles: each has its source and its file.
func TestMoreUploadsNeedMoreFiles(t *testing.T) {
	for _, uploads := range []int{0, 1, 4, 256} {
		if n := sink.OtherFiles(uploads); n < 3*uploads {
			t.Errorf("%d uploads have %d files", uploads, n)
		}
	}
}

// TestTheRuntimeHasTheInstancesMemory: its limit is the sum of theirs, and what it
// was before when the last one has ended. A lower one of the agent's holds.
func TestTheRuntimeHasTheInstancesMemory(t *testing.T) {
	for _, before := range []int64{math.MaxInt64, 1 << 40, 100 << 20} {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(before))
		p := processOf(10000, 0)
		want := func(sum int64) {
			t.Helper()
			if got := debug.SetMemoryLimit(-1); got != min(before, sum) {
				t.Errorf("the runtime's limit is %d, want %d", got, min(before, sum))
			}
		}
		for range 2 { // starts and stops
			first, err := p.join(4, 64<<20)
			if err != nil {
				t.Fatal(err)
			}
			want(64<<20 + memory.Runtime)
			second, err := p.join(4, 256<<20)
			if err != nil {
				t.Fatal(err)
			}
			want(320<<20 + memory.Runtime)
			first.leave()
			want(256<<20 + memory.Runtime)
			second.leave()
			want(math.MaxInt64)
		}
	}
}
