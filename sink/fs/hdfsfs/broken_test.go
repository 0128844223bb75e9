package hdfsfs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// wall is proxies in front of all of a cluster, through which alone a driver
// reaches it.
type wall struct {
	name *proxy.Proxy
	data []*proxy.Proxy
}

func newWall(t *testing.T, c *hdfs.Cluster) *wall {
	t.Helper()
	w := &wall{}
	var err error
	w.name, err = proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, w.name.Close()) })
	for _, d := range c.DataNodes() {
		_, port, err := net.SplitHostPort(d.Addr())
		must(t, err)
		p, err := proxy.DataNode(d.Addr(), net.JoinHostPort(hdfs.DataNodeHost, port))
		must(t, err)
		t.Cleanup(func() { must(t, p.Close()) })
		w.data = append(w.data, p)
	}
	return w
}

// add adds a rule for each DataNode: a block begins at any of them.
func (w *wall) add(r proxy.Rule) (fired func() int) {
	var counts []*proxy.Count
	for _, p := range w.data {
		counts = append(counts, p.Add(r))
	}
	return func() (n int) {
		for _, c := range counts {
			n += c.Fired()
		}
		return n
	}
}

func (w *wall) reset() {
	w.name.Reset()
	for _, p := range w.data {
		p.Reset()
	}
}

// behind are settings with which a client uses the wall.
func behind(pairs ...string) map[string]string {
	return with(append([]string{"dfs.client.use.datanode.hostname", "true"}, pairs...)...)
}

// dataFaults are those of a write of some blocks.
func dataFaults() (rules []proxy.Rule) {
	for _, do := range []proxy.Action{proxy.Cut, proxy.Swallow} {
		for _, side := range []proxy.Side{proxy.Request, proxy.Answer} {
			rules = append(rules,
				proxy.Rule{Message: "WRITE_BLOCK", Side: side, Nth: 1, Do: do},
				proxy.Rule{Message: "PACKET", Side: side, Nth: 1, Do: do},
				proxy.Rule{Message: "PACKET", Side: side, Nth: 9, Do: do},
				proxy.Rule{Message: "PACKET", Side: side, Nth: 17, Do: do}, // the empty one at the end of the block
			)
		}
	}
	return rules
}

// TestLostPackets loses each kind of message to and from a DataNode. No such
// file is taken for whole, and the next one is written.
func TestLostPackets(t *testing.T) {
	c := shared.Cluster(t)
	w := newWall(t, c)
	// With one replica a client waits as long as it says, with two for longer.
	patient := open(t, w.name.Addr(), user, behind("dfs.replication", "1"))
	drivers := map[proxy.Action]*hdfsfs.Driver{
		proxy.Cut:     patient,
		proxy.Swallow: open(t, w.name.Addr(), user, behind("dfs.replication", "1", "dfs.client.socket-timeout", "2s")),
	}
	whole := strings.Repeat("x", 1<<20)
	for _, r := range dataFaults() {
		t.Run(r.String(), func(t *testing.T) {
			dir := directory(t, c)
			fired := w.add(r)
			_, err := drivers[r.Do].Upload(bounded(t, time.Minute), strings.NewReader(whole), dir+"/a", options)
			w.reset()
			wantClass(t, err, fs.Unclear, fs.Target)
			if fired() == 0 {
				t.Error("the fault didn't happen")
			}
			if info, err := patient.Stat(t.Context(), dir+"/a"); err != nil || info.Closed {
				t.Errorf("Stat answers %+v, %v, want an unfinished file", info, err)
			}
			must(t, patient.Discard(t.Context(), dir+"/a"))
			upload(t, patient, dir+"/a", whole)
		})
	}
}

// TestFailingUploadsLeaveNothing lets 200 Uploads fail in all ways and counts
// goroutines, sockets and leases.
func TestFailingUploadsLeaveNothing(t *testing.T) {
	c := shared.Cluster(t)
	w := newWall(t, c)
	before := goleak.IgnoreCurrent()
	f := open(t, w.name.Addr(), user, behind("ipc.client.rpc-timeout.ms", "1000", "dfs.client.socket-timeout", "100", "dfs.replication", "1"))
	dir := directory(t, c)
	content := strings.Repeat("x", 3<<19) // a block and a half
	putSome := func(n int, from *atomic.Int64) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := from.Add(1); i <= int64(n); i = from.Add(1) {
					p := fmt.Sprintf("%s/%d", dir, i)
					ctx, cancel := context.WithCancel(t.Context())
					src := &interrupted{Reader: strings.NewReader(content), before: func(off int64) {
						if off > 0 && i%4 == 0 {
							cancel()
						}
					}}
					if _, err := f.Upload(ctx, src, p, options); err == nil {
						t.Errorf("Upload %d succeeded", i)
					}
					cancel()
					if err := c.Remove(t.Context(), p); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	w.add(proxy.Rule{Message: "PACKET", Side: proxy.Request, Nth: 20, Do: proxy.Cut})
	w.add(proxy.Rule{Message: "PACKET", Side: proxy.Answer, Do: proxy.Cut})
	w.name.Add(proxy.Rule{Message: "updateBlockForPipeline", Side: proxy.Answer, Do: proxy.Cut})
	var count atomic.Int64
	putSome(20, &count)
	quiet := func() (goroutines, files int) {
		// The session that is idle and the proxies' ends of it stay.
		for range 100 {
			time.Sleep(20 * time.Millisecond)
			if goroutines, files = runtime.NumGoroutine(), openFiles(t); w.name.Open() <= 8 && openData(w) == 0 {
				break
			}
		}
		return goroutines, files
	}
	goroutines, files := quiet()
	count.Store(20)
	putSome(220, &count)
	const slack = 8 * 5 // idle sessions, each with its goroutine and the proxy's
	if g, n := quiet(); g > goroutines+slack || n > files+slack {
		t.Errorf("after 200 failures more there are %d goroutines, before %d; %d files, before %d", g, goroutines, n, files)
	}
	if open, err := c.ListOpenFiles(t.Context(), dir); err != nil || len(open) != 0 {
		t.Errorf("leases are left: %v, %v", open, err)
	}
	must(t, f.Close())
	goleak.VerifyNone(t, before)
}

func openData(w *wall) (n int) {
	for _, p := range w.data {
		n += p.Open()
	}
	return n
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// TestAHungNameNode: calls end with their ctx or by themselves, and Close does.
func TestAHungNameNode(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, hasty), directory(t, c)
	temp := upload(t, f, dir+"/.temp", content)
	idle := open(t, c.Authority(), user, hasty) // has a session that is idle
	must(t, c.NameNode().Stop())
	defer c.NameNode().Continue()
	for name, act := range map[string]func(ctx context.Context) error{
		"upload": func(ctx context.Context) error {
			_, err := f.Upload(ctx, strings.NewReader(content), dir+"/a", options)
			return err
		},
		"publish": func(ctx context.Context) error { return f.Publish(ctx, temp, dir+"/b", publishing) },
		"stat":    func(ctx context.Context) error { _, err := f.Stat(ctx, dir+"/.temp"); return err },
		"locate": func(ctx context.Context) error {
			_, err := f.Locate(ctx, temp.ID, temp.Path)
			return err
		},
		"a new client": func(ctx context.Context) error {
			_, err := hdfsfs.Opener{}.Open(ctx, c.Authority(), fs.Options{User: user, Settings: hasty})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := act(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("under a ctx that ends: %v", err)
			}
			err := act(bounded(t, time.Minute))
			wantClass(t, err, fs.Unclear, fs.Target)
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it didn't give up by itself: %v", err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		idle.Close()
		f.Close()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("Close hangs")
	}
	must(t, c.NameNode().Continue())
	upload(t, open(t, c.Authority(), user, usual), dir+"/c", content)
}

// TestCloseEndsWhatIsUnderWay: a call that hangs in a closed driver fails.
func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	c := shared.Cluster(t)
	s := newSite(t, c, operation{}, with("ipc.client.rpc-timeout.ms", "600000"))
	count := s.proxy.Add(proxy.Rule{Message: "create", Do: proxy.Swallow})
	result := make(chan error)
	go func() {
		_, err := s.driver.Upload(context.Background(), strings.NewReader(content), s.dir+"/a", options)
		result <- err
	}()
	for count.Fired() == 0 {
		time.Sleep(time.Millisecond)
	}
	must(t, s.driver.Close())
	select {
	case err := <-result:
		wantClass(t, err, fs.Unclear)
	case <-time.After(30 * time.Second):
		t.Error("the Upload hangs")
	}
}

// TestAHungDataNode: whichever of a pipeline hangs, the Upload ends, and while the
// NameNode still takes it for alive the file isn't taken for whole.
func TestAHungDataNode(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, with("dfs.client.socket-timeout", "4s")), directory(t, c)
	d := c.DataNode(1)
	stopped := false
	src := &interrupted{Reader: strings.NewReader(strings.Repeat("x", 4<<20)), before: func(off int64) {
		if off >= 1<<19 && !stopped {
			stopped = true
			must(t, d.Stop())
		}
	}}
	defer d.Continue()
	_, err := f.Upload(bounded(t, time.Minute), src, dir+"/a", options)
	wantClass(t, err, fs.Unclear, fs.Target)
	if info, err := f.Stat(t.Context(), dir+"/a"); err == nil && info.Closed && info.Length == 4<<20 {
		t.Errorf("a whole file is there: %+v", info)
	}
	must(t, d.Continue())
	ctx := bounded(t, time.Minute)
	must(t, d.WaitReady(ctx))
	upload(t, open(t, c.Authority(), user, usual), dir+"/b", content)
}

// TestADataNodeDies in the middle of a file. Others are written as soon as the
// NameNode has noticed.
func TestADataNodeDies(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	d := c.DataNode(0)
	killed := false
	src := &interrupted{Reader: strings.NewReader(strings.Repeat("x", 4<<20)), before: func(off int64) {
		if off >= 2<<20 && !killed {
			killed = true
			must(t, d.Kill())
		}
	}}
	ctx := bounded(t, time.Minute)
	_, err := f.Upload(ctx, src, dir+"/a", options)
	wantClass(t, err, fs.Unclear, fs.Target)
	must(t, d.WaitDead(ctx))
	for i := 0; ; i++ { // for a moment longer it is still given blocks
		_, err := f.Upload(ctx, strings.NewReader(content), fmt.Sprintf("%s/b%d", dir, i), options)
		if err == nil {
			break
		}
		wantClass(t, err, fs.Unclear, fs.Target)
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	must(t, d.Restart())
	must(t, d.WaitReady(ctx))
}

// TestNoDataNodes: the target as a whole is in trouble, not the path.
func TestNoDataNodes(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	ctx := bounded(t, 2*time.Minute)
	for _, d := range c.DataNodes() {
		must(t, d.Kill())
	}
	for _, d := range c.DataNodes() {
		must(t, d.WaitDead(ctx))
	}
	for i := 0; ; i++ { // for a moment longer they are still given blocks
		_, err := f.Upload(ctx, strings.NewReader(content), fmt.Sprintf("%s/a%d", dir, i), options)
		wantClass(t, err, fs.Unclear, fs.Target)
		if err != nil && strings.Contains(err.Error(), "-report") {
			wantClass(t, err, fs.Target)
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	for _, d := range c.DataNodes() {
		must(t, d.Restart())
	}
	for _, d := range c.DataNodes() {
		must(t, d.WaitReady(ctx))
	}
	upload(t, f, dir+"/b", content)
}

// TestTheNameNodeRestarts under a driver that has been used.
func TestTheNameNodeRestarts(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	info := upload(t, f, dir+"/a", content)
	must(t, c.NameNode().Kill())
	_, err := f.Stat(t.Context(), dir+"/a")
	wantClass(t, err, fs.Target)
	must(t, c.NameNode().Restart())
	ctx := bounded(t, time.Minute)
	must(t, c.NameNode().WaitReady(ctx))
	for _, d := range c.DataNodes() {
		must(t, d.WaitReady(ctx))
	}
	if now, err := f.Stat(ctx, dir+"/a"); err != nil || !now.Same(info) {
		t.Errorf("Stat answers %+v, %v, want %+v", now, err, info)
	}
	upload(t, f, dir+"/b", content)
}
