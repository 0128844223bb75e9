package sink_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"syscall"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// step is one thing that happens to a sink.
type step struct {
	what string
	i    int
	yes  bool
}

func (s step) String() string { return fmt.Sprintf("%s %d %v", s.what, s.i, s.yes) }

// things that happen, and how often beside each other.
var things = map[string]int{
	"deliver": 24, "deliver again": 6, "time": 8,
	"target fails": 12, "target down": 2, "bucket refused": 2, "quota": 1, "late lands": 2,
	"disk fails": 4, "stop": 3, "crash": 5,
	"consumer": 4, "stranger": 2, "meddler": 6, "pressure": 1,
}

func drawSteps(t *rapid.T) []step {
	var lots []string
	for what, n := range things {
		lots = append(lots, slices.Repeat([]string{what}, n)...)
	}
	slices.Sort(lots)
	one := rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(lots).Draw(t, "what"), rapid.IntRange(0, 1<<16).Draw(t, "i"), rapid.Bool().Draw(t, "yes")}
	})
	return rapid.SliceOfN(one, 10, 80).Draw(t, "steps")
}

// model is a sink in the middle of its steps, and what a reader of its design
// may expect of it.
type model struct {
	*sinktest.World
	s    *sink.Sink
	next int // chunk
	all  []sinktest.Chunk
	cfgs int

	lock     sync.Mutex
	dead     bool          // the process was killed: nothing takes effect any more
	faults   []modelFault  // that are still to fire
	disk1    *syscallFault // the next operation's on the disk
	consumer int           // what consumers do
	meddler  int           // what is done to temps
	meddled  map[string]bool
	looks    map[string]int // at a temp
	fired    map[string]int

	diskFailed bool
	refused    map[string]int  // how often a record's chunk was refused
	unique     map[string]bool // records whose chunk has a file
}

type modelFault struct {
	op     faultfs.Op
	action faultfs.Action
}

type syscallFault struct {
	skip  int
	fault faults.Action
}

// Decide implements faultfs.Injector.
func (m *model) Decide(c faultfs.Call) faultfs.Action {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.dead {
		return faultfs.FailBefore(0, faultfs.ErrStopped)
	}
	for i, f := range m.faults {
		if f.op == c.Op {
			m.faults = slices.Delete(m.faults, i, i+1)
			m.fired["target fault"]++
			return f.action
		}
	}
	return faultfs.Pass()
}

func (m *model) Fired() int     { return 0 }
func (m *model) String() string { return "the model" }

func (m *model) diskOp(crashdisk.Op) faults.Action {
	m.lock.Lock()
	defer m.lock.Unlock()
	switch {
	case m.dead:
		return faults.Before(faultfs.ErrStopped)
	case m.disk1 == nil:
		return faults.Pass()
	case m.disk1.skip > 0:
		m.disk1.skip--
		return faults.Pass()
	}
	f := m.disk1.fault
	m.disk1 = nil
	m.fired["disk fault"]++
	m.diskFailed = true
	return f
}

// take is what consumers do with a file as soon as it is published.
func (m *model) take(p string) (gone bool) {
	m.lock.Lock()
	c := m.consumer
	m.fired[fmt.Sprintf("consumer %d", c)]++
	m.lock.Unlock()
	switch c {
	case 1:
		_ = m.Store.Move(p, "/consumed"+p)
	case 2:
		_ = m.Store.Delete(p)
	case 3:
		_ = m.Store.Move(p, path.Join(path.Dir(p), "done-"+path.Base(p)))
	default:
		return false
	}
	return true
}

// touchTemp is what somebody does to an uploaded temp, once.
func (m *model) touchTemp(op, temp string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if op == "stat" {
		m.looks[temp]++
	}
	if m.meddler == 0 || op == "publish" || m.looks[temp] > 1 {
		return // nobody can see what is done between the last look and the publishing
	}
	how := m.meddler
	m.meddler = 0
	m.fired[fmt.Sprintf("meddler %d", how)]++
	m.meddled[temp] = true
	switch how {
	case 1:
		_ = m.Store.Delete(temp)
	case 2:
		_ = m.Store.Write(temp, []byte("changed in place\n"))
	case 3:
		_ = m.Store.Delete(temp)
		_ = m.Store.Write(temp, []byte("stranger\n"))
	}
}

func (m *model) start() {
	m.lock.Lock()
	m.dead, m.disk1 = false, nil
	m.lock.Unlock()
	m.Disk.SetHook(m.diskOp)
	m.Inject = m
	cfg := restartConfigs[max(m.cfgs, 0)%len(restartConfigs)]
	if m.cfgs < 0 {
		cfg = func(c *sink.Config) {
			c.StateLimit = 96 << 10
			c.SegmentSize = 4 << 10
			c.Policy = sinktest.BySize(1 << 20)
		}
	}
	m.Change = func(c *sink.Config) { cfg(c); c.ExitTimeout = time.Minute }
	m.NoSync(m.cfgs%2 == 1)
	m.s = m.Open()
}

// do lets one thing happen.
func (m *model) do(st step) {
	switch st.what {
	case "deliver":
		for k := range 1 + st.i%4 {
			c := sinktest.ChunkKinds[(st.i/4+k)%len(sinktest.ChunkKinds)].Make(m.next)
			c.File = chunkfile.File{}
			if m.next++; st.yes {
				c.File = sinktest.FileOf(m.next)
			}
			m.all = append(m.all, c)
			m.deliverAt(len(m.all) - 1)
		}
	case "deliver again":
		if len(m.all) > 0 && m.MayCome(m.all[st.i%len(m.all)]) {
			m.deliverAt(st.i % len(m.all))
		}
	case "time":
		time.Sleep([]time.Duration{time.Millisecond, time.Second, 20 * time.Second, 2 * time.Minute}[st.i%4])
	case "target fails":
		ops := []faultfs.Op{faultfs.UploadCreate, faultfs.UploadWrite, faultfs.UploadClose, faultfs.Publish, faultfs.Publish,
			faultfs.Publish, faultfs.Stat, faultfs.LocateBegin, faultfs.LocateEnd, faultfs.Discard}
		names := []string{"before", "after", "half", "late", "path", "target"}
		m.lock.Lock()
		m.faults = append(m.faults, modelFault{ops[st.i%len(ops)], actions[names[st.i/16%len(names)]]})
		m.lock.Unlock()
	case "target down":
		m.Store.SetDown(errors.New("connection refused"))
		time.Sleep(time.Duration(st.i%90) * time.Second)
		if st.yes {
			m.Store.SetDown(nil)
		}
	case "bucket refused":
		if st.yes {
			m.Store.Refuse(fmt.Sprintf("/logs/b%d", st.i%3), nil)
		} else {
			m.heal()
		}
	case "quota":
		m.Store.SetQuota("/logs/b0", int64(st.i%5000))
	case "late lands":
		m.Land()
	case "disk fails":
		ways := []faults.Action{faults.Before(syscall.EIO), faults.Before(syscall.ENOSPC), faults.After(syscall.EIO), faults.Half(0, syscall.EIO)}
		m.lock.Lock()
		m.disk1 = &syscallFault{st.i / 4 % 40, ways[st.i%4]}
		m.lock.Unlock()
	case "stop":
		_ = m.s.Close()
		m.cfgs = st.i
		m.start()
	case "crash":
		m.crash(crashdisk.Keep(st.i%4), uint64(st.i))
		m.cfgs = st.i / 4
		m.start()
	case "consumer":
		m.lock.Lock()
		m.consumer = st.i % 4
		m.lock.Unlock()
	case "stranger":
		m.takeNames(st.i)
	case "meddler":
		m.lock.Lock()
		m.meddler = 1 + st.i%3
		m.lock.Unlock()
	case "pressure":
		_ = m.s.Close()
		m.cfgs = -1
		m.start()
	}
}

// deliverAt flushes a chunk. One with a file is Fluent Bit's until it was
// acknowledged, and sometimes longer.
func (m *model) deliverAt(i int) {
	c := m.all[i]
	ok := m.Flush(m.s, c, sink.FlushOptions{NoWait: i%2 == 0})
	for _, id := range c.IDs {
		m.unique[id] = c.File.Known()
		if !ok {
			m.refused[id]++
		}
	}
	if ok && c.File.Known() && i%3 > 0 {
		m.Acked(c)
	}
}

func (m *model) heal() {
	m.Store.SetDown(nil)
	for i := range 3 {
		m.Store.Allow(fmt.Sprintf("/logs/b%d", i))
	}
}

// takeNames puts another writer's files on names to come.
func (m *model) takeNames(i int) {
	next := 0
	for _, p := range m.Finished() {
		next = max(next, numberOf(p)+1)
	}
	for k := range 4 {
		p := fmt.Sprintf("/logs/b%d/part-w-%d.json", i%3, next+k)
		if _, err := m.Store.Read(p); err != nil {
			_ = m.Store.Write(p, []byte("stranger\n"))
		}
	}
}

// crash kills the process. What it had under way on the target may land later.
func (m *model) crash(keep crashdisk.Keep, seed uint64) {
	m.lock.Lock()
	m.dead = true
	m.lock.Unlock()
	after := m.Disk.Crash(keep, seed)
	_ = m.s.Close()
	m.Disk = after
}
