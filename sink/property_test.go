package sink_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// collector keeps what a test complains of, for whoever repeats it with less.
type collector struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (c *collector) Errorf(format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors = append(c.errors, fmt.Sprintf(format, a...))
}

// finishAll ends all trouble, lets the sink finish, and answers what is held.
func (m *model) finishAll() []sink.PartStatus {
	m.heal()
	m.lock.Lock()
	m.faults, m.disk1, m.meddler, m.consumer = nil, nil, 0, 0
	m.lock.Unlock()
	m.Land()
	_ = m.s.Close()
	m.cfgs = 0
	m.start()
	time.Sleep(5 * time.Minute)
	for _, seq := range m.Status(m.s).HeldChunks { // the process died over them three times in a row
		if err := m.s.Resolve(journal.Resolved{Seq: seq, How: journal.DecodeAgain}); err != nil {
			m.T.Errorf("resolve chunk %d: %v", seq, err)
		}
	}
	time.Sleep(5 * time.Minute)
	var held []sink.PartStatus
	for _, p := range m.Status(m.s).Parts {
		if p.State == "held" {
			held = append(held, p)
		}
	}
	m.Close(m.s)
	return held
}

// justified reports whether a part may be held: the file that was renamed isn't
// where it was renamed to, or somebody touched the temp.
func (m *model) justified(p sink.PartStatus, canFind bool) bool {
	for temp := range m.meddled {
		if strings.Contains(p.Why, temp) {
			return true
		}
	}
	for _, f := range m.Published() {
		if f.Gone && strings.Contains(p.Why, f.Path) {
			_, err := m.Store.Read("/consumed" + f.Path)
			return err != nil || !canFind || !strings.HasPrefix(f.Path, "/")
		}
	}
	return false
}

// TestAnythingInAnyOrder lets anything happen in any order, and then demands
// the promise: each record of an accepted chunk is published once, or is in a
// part that had to be held.
func TestAnythingInAnyOrder(t *testing.T) {
	fired := map[string]int{}
	heldParts := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawSteps(rt)
		canFind := rapid.Bool().Draw(rt, "find")
		var faults []string
		var log []sinktest.LogLine
		synctest.Test(t, func(t *testing.T) {
			m := &model{
				World: sinktest.NewWorldOn(&collector{TB: t}, memfs.Options{NoSearch: !canFind}), fired: fired, meddled: map[string]bool{}, looks: map[string]int{},
				refused: map[string]int{}, unique: map[string]bool{},
			}
			m.Consume, m.Meddle = m.take, m.touchTemp
			m.start()
			for _, st := range steps {
				m.do(st)
			}
			held := m.finishAll()
			heldParts += len(held)
			faults = append(m.judge(held, canFind), m.T.(*collector).errors...)
			log = m.Log.AtLeast(slog.LevelDebug)
		})
		for _, f := range faults {
			rt.Error(f)
		}
		if len(faults) > 0 {
			rt.Log(log)
		}
	})
	t.Logf("what fired: %v, %d parts were held", fired, heldParts)
	if !testing.Short() {
		for _, what := range []string{"target fault", "disk fault", "consumer 1", "consumer 2", "consumer 3", "meddler 1", "meddler 2", "meddler 3"} {
			if fired[what] == 0 {
				t.Errorf("%s never happened", what)
			}
		}
	}
}

// judge is check, but for what held parts explain, and for chunks that were
// refused because the disk failed: until the journal has begun its next segment
// a stop may still leave them, and Fluent Bit delivers them again.
func (m *model) judge(held []sink.PartStatus, canFind bool) []string {
	records, faults := m.Records()
	owed := m.Owed()
	may := int64(0) // records that may be missing
	for _, p := range held {
		if !m.justified(p, canFind) {
			faults = append(faults, fmt.Sprintf("part %d is held without need: %s", p.Number, p.Why))
		}
		may += p.Records
	}
	for id, n := range owed {
		spare := 0
		if m.diskFailed && !m.unique[id] {
			spare = m.refused[id]
		}
		switch got := records[id]; {
		case got < n && may > 0:
			may -= int64(n - got)
		case got < n || got > n+spare:
			faults = append(faults, fmt.Sprintf("record %s was published %d times and not %d", id, got, n))
		}
	}
	for id, n := range records {
		if owed[id] == 0 && (!m.diskFailed || m.refused[id] == 0 || n > 1 && m.unique[id]) {
			faults = append(faults, fmt.Sprintf("record %s was published %d times and never accepted", id, n))
		}
	}
	for _, f := range m.Unchanged() {
		if len(held) == 0 || !strings.Contains(f, "a temp is left") { // a held part's
			faults = append(faults, f)
		}
	}
	return faults
}
