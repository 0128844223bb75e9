package target

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

const (
	flatAgents = 16
	flatParts  = 63 // of each agent
	inHand     = 4  // of an agent, at most
	everyParts = 50 // a sample is taken
	// If each failed upload left something behind, the last quarter would have
	// several hundred more than the first. Idle sessions come and go.
	mostMore     = 150
	mostMoreHeap = 8 << 20
)

// sample is what a process has at a moment.
type sample struct{ goroutines, descriptors, heap int }

func measure(t *testing.T) sample {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return sample{runtime.NumGoroutine(), len(open), int(m.HeapAlloc)}
}

func median(samples []sample, of func(sample) int) int {
	values := make([]int, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// TestNothingGrows publishes 1,000 parts while every third upload fails at its
// end, and others before or after it: goroutines, descriptors and memory stay as
// they were.
func TestNothingGrows(t *testing.T) {
	c := shared.Cluster(t)
	base := directory(t, c)
	var (
		agents   []*agent
		faults   []*proxy.Count
		feeding  sync.WaitGroup
		progress = make(chan int, flatAgents*flatParts)
	)
	for range flatAgents {
		p, err := proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { must(t, p.Close()) })
		for n := 1; n <= 4*flatParts; n++ {
			for _, r := range []proxy.Rule{
				{Message: "complete", Side: proxy.Answer, Nth: 3 * n, Do: proxy.Cut},
				{Message: "addBlock", Side: proxy.Request, Nth: 13 * n, Do: proxy.Cut},
				{Message: "rename2", Side: proxy.Answer, Nth: 7 * n, Do: proxy.Cut},
			} {
				if r.Nth <= 4*flatParts {
					faults = append(faults, p.Add(r))
				}
			}
		}
		agents = append(agents, start(t, map[string]string{
			"path": "hdfs://" + p.Addr() + base, "hadoop_conf_dir": client(t, "hdfs://"+p.Addr(), patient, nil),
		}))
	}
	for i, a := range agents {
		feeding.Go(func() {
			for n := range flatParts {
				a.flush(t, records(uint64(1+(i*flatParts+n)*recordsOfCase), recordsOfCase, 1000, "x"))
				within(t, "few parts are in hand", func() bool { return len(a.status(t).Parts) < inHand })
				progress <- n
			}
		})
	}
	var samples []sample
	for n := range flatAgents * flatParts {
		<-progress
		if n%everyParts == everyParts-1 {
			samples = append(samples, measure(t))
		}
	}
	feeding.Wait()
	for _, a := range agents {
		if held := a.published(t); len(held) > 0 {
			t.Errorf("held are %v", held)
		}
	}
	fired := 0
	for _, f := range faults {
		fired += f.Fired()
	}
	quarter := len(samples) / 4
	first, last := samples[:quarter], samples[len(samples)-quarter:]
	for _, row := range []struct {
		name string
		of   func(sample) int
		more int
	}{
		{"goroutines", func(s sample) int { return s.goroutines }, mostMore},
		{"descriptors", func(s sample) int { return s.descriptors }, mostMore},
		{"bytes of heap", func(s sample) int { return s.heap }, mostMoreHeap},
	} {
		was, is := median(first, row.of), median(last, row.of)
		t.Logf("%s: %d in the first quarter, %d in the last", row.name, was, is)
		if is-was > row.more {
			t.Errorf("%d %s in the first quarter, %d in the last", was, row.name, is)
		}
	}
	t.Logf("%d calls failed", fired)
	if fired < flatAgents*flatParts/2 {
		t.Errorf("only %d calls failed", fired)
	}
	if err := exactlyOnce(look(t, c).files(t, base), span(1, flatAgents*flatParts*recordsOfCase)); err != nil {
		t.Error(err)
	}
}
