package hdfsfs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// calls are those that the driver makes of a NameNode. Renewals of leases come
// when they like.
var calls = []string{
	"getFileInfo", "isFileClosed", "getServerDefaults", "mkdirs", "setPermission",
	"create", "addBlock", "updateBlockForPipeline", "complete", "rename2", "delete", "getListing",
}

// operation is one of the driver's, in a directory in which .temp may be.
type operation struct {
	name     string
	settings map[string]string
	prepare  func(t *testing.T, f fs.FileSystem, dir string)
	act      func(ctx context.Context, f fs.FileSystem, dir string) error
	// check compares an error, or nil, with what is there. It returns what is
	// wrong, "" if the driver spoke the truth.
	check func(s *store, dir string, err error) string
	// needs are calls that it must make, or the test proves nothing.
	needs []string
}

const content = "first line\nsecond line\n"

func prepareTemp(t *testing.T, f fs.FileSystem, dir string) { put(t, f, dir+"/.temp", content) }

// noFact says that an error claims something about the path that isn't so:
// nothing is wrong with it.
func noFact(err error) string {
	if err != nil {
		if c := fs.ClassOf(err); c != fs.Unclear && c != fs.Target {
			return fmt.Sprintf("the class is %v", c)
		}
	}
	return ""
}

var operations = []operation{
	{
		name: "put", needs: []string{"getFileInfo", "create", "addBlock", "updateBlockForPipeline", "complete", "isFileClosed"},
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			info, err := f.Put(ctx, strings.NewReader(content), dir+"/.temp", options)
			if err == nil && (info.Length != int64(len(content)) || !info.Closed || info.ID == "") {
				return fmt.Errorf("it answers %+v", info)
			}
			return err
		},
		check: func(s *store, dir string, err error) string {
			if err == nil {
				return s.holds(dir+"/.temp", content)
			}
			return noFact(err)
		},
	},
	{
		name: "put into a new directory, with the server's defaults", needs: []string{"mkdirs", "getServerDefaults", "create"},
		settings: map[string]string{"dfs.replication": "", "dfs.blocksize": ""},
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			_, err := f.Put(ctx, strings.NewReader(""), dir+"/new/.temp", options)
			return err
		},
		check: func(s *store, dir string, err error) string {
			if err == nil {
				return s.holds(dir+"/new/.temp", "")
			}
			return noFact(err)
		},
	},
	{
		name: "rename", needs: []string{"getFileInfo", "rename2"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			return f.Rename(ctx, dir+"/.temp", dir+"/final", options)
		},
		check: func(s *store, dir string, err error) string { return s.moved(dir+"/.temp", dir+"/final", err) },
	},
	{
		name: "rename into a new directory", needs: []string{"mkdirs", "rename2"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			return f.Rename(ctx, dir+"/.temp", dir+"/new/final", options)
		},
		check: func(s *store, dir string, err error) string { return s.moved(dir+"/.temp", dir+"/new/final", err) },
	},
	{
		name: "remove", needs: []string{"getFileInfo", "delete"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error { return f.Remove(ctx, dir+"/.temp") },
		check: func(s *store, dir string, err error) string {
			there := s.exists(dir + "/.temp")
			if err == nil && there || err != nil && fs.ClassOf(err) == fs.Target && !there {
				return fmt.Sprintf("the file is there: %v", there)
			}
			return noFact(err)
		},
	},
	{
		name: "mkdir", needs: []string{"getFileInfo", "mkdirs"},
		act: func(ctx context.Context, f fs.FileSystem, dir string) error { return f.MkdirAll(ctx, dir+"/d", 0o700) },
		check: func(s *store, dir string, err error) string {
			there := s.exists(dir + "/d")
			if err == nil && !there || err != nil && fs.ClassOf(err) == fs.Target && there {
				return fmt.Sprintf("the directory is there: %v", there)
			}
			return noFact(err)
		},
	},
	{
		name: "settle", needs: []string{"create", "delete", "getFileInfo", "isFileClosed"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			viewed := false
			err := f.Settle(ctx, dir, func(ctx context.Context, v fs.Viewer) error {
				viewed = true
				if _, err := v.Stat(ctx, dir+"/.temp"); err != nil {
					return err
				}
				_, err := v.Stat(ctx, dir+"/final")
				if err == nil || fs.ClassOf(err) == fs.Missing {
					return nil
				}
				return err
			})
			if err == nil && !viewed {
				return errors.New("nothing was viewed")
			}
			return err
		},
		check: func(s *store, dir string, err error) string {
			if err == nil {
				return s.only(dir, ".temp")
			}
			return noFact(err)
		},
	},
	{
		name: "stat", needs: []string{"getFileInfo", "isFileClosed"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			info, err := f.Stat(ctx, dir+"/.temp")
			if err == nil && (info.Length != int64(len(content)) || !info.Closed) {
				return fmt.Errorf("it answers %+v", info)
			}
			return err
		},
		check: func(_ *store, _ string, err error) string { return targetOnly(err) },
	},
	{
		name: "list", needs: []string{"getFileInfo", "getListing"}, prepare: prepareTemp,
		act: func(ctx context.Context, f fs.FileSystem, dir string) error {
			infos, err := f.List(ctx, dir)
			if err == nil && len(infos) != 1 {
				return fmt.Errorf("it answers %v", infos)
			}
			return err
		},
		check: func(_ *store, _ string, err error) string { return targetOnly(err) },
	},
}

// targetOnly is for what only reads: that nothing was changed is sure.
func targetOnly(err error) string {
	if err != nil && fs.ClassOf(err) != fs.Target {
		return fmt.Sprintf("the class is %v", fs.ClassOf(err))
	}
	return ""
}

// store is what is there, seen through a client of another kind and past the
// proxies.
type store struct {
	mu sync.Mutex // the client is one connection anyway
	hc *client.Client
}

func (s *store) exists(p string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.hc.Stat(p)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	return err == nil
}

func (s *store) holds(p, want string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, err := s.hc.ReadFile(p)
	if err != nil || string(got) != want {
		return fmt.Sprintf("%s holds %q, %v", path.Base(p), got, err)
	}
	return ""
}

func (s *store) moved(from, to string, err error) string {
	atFrom, atTo := s.exists(from), s.exists(to)
	switch {
	case atFrom == atTo:
		return fmt.Sprintf("at the old name: %v, at the new one: %v", atFrom, atTo)
	case err == nil && !atTo:
		return "it didn't move"
	case err != nil && fs.ClassOf(err) != fs.Unclear && atTo:
		return "it moved"
	}
	return noFact(err)
}

func (s *store) only(dir, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos, err := s.hc.ReadDir(dir)
	if err != nil || len(infos) != 1 || infos[0].Name() != name {
		return fmt.Sprintf("the directory has %v, %v", infos, err)
	}
	return ""
}

// site is a driver that reaches the NameNode through a proxy.
type site struct {
	c     *hdfs.Cluster
	proxy *proxy.Proxy
	fs    fs.FileSystem
	dir   string
}

func newSite(t *testing.T, c *hdfs.Cluster, o operation, settings map[string]string) *site {
	s := &site{c: c, dir: directory(t, c)}
	if o.prepare != nil {
		o.prepare(t, open(t, c.Authority(), user, quick), s.dir)
	}
	var err error
	s.proxy, err = proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, s.proxy.Close()) })
	for k, v := range o.settings {
		settings[k] = v
	}
	s.fs = open(t, s.proxy.Addr(), user, settings)
	return s
}

// TestLostMessages loses each message of each operation once, before and after
// it took effect, with the connection and without, and looks whether what the
// driver says is so.
func TestLostMessages(t *testing.T) {
	c := shared.Cluster(t)
	st := &store{hc: superuser(t, c)}
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			made := countCalls(t, c, o)
			for _, needed := range o.needs {
				if made[needed] == 0 {
					t.Errorf("it makes no call %s: %v", needed, made)
				}
			}
			var rows sync.WaitGroup
			places := make(chan struct{}, 8) // they mostly wait
			for _, method := range calls {
				for n := 1; n <= made[method]; n++ {
					for _, side := range []proxy.Side{proxy.Request, proxy.Answer} {
						for _, do := range []proxy.Action{proxy.Cut, proxy.Swallow} {
							r := proxy.Rule{Message: method, Side: side, Nth: n, Do: do}
							s := newSite(t, c, o, with("ipc.client.rpc-timeout.ms", "1500"))
							rows.Go(func() {
								places <- struct{}{}
								defer func() { <-places }()
								lose(t, o, s, st, r)
							})
						}
					}
				}
			}
			rows.Wait()
		})
	}
}

// countCalls runs o undisturbed.
func countCalls(t *testing.T, c *hdfs.Cluster, o operation) map[string]int {
	t.Helper()
	s := newSite(t, c, o, with("ipc.client.rpc-timeout.ms", "60000"))
	counts := map[string]*proxy.Count{}
	for _, m := range calls {
		counts[m] = s.proxy.Add(proxy.Rule{Message: m})
	}
	if err := o.act(t.Context(), s.fs, s.dir); err != nil {
		t.Fatal(err)
	}
	made := map[string]int{}
	for m, n := range counts {
		made[m] = n.Seen()
	}
	return made
}

// lose runs o once with a fault. It runs beside others.
func lose(t *testing.T, o operation, s *site, st *store, r proxy.Rule) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	count := s.proxy.Add(r)
	err := o.act(ctx, s.fs, s.dir)
	if wrong := o.check(st, s.dir, err); wrong != "" {
		t.Errorf("%v: it answers %v, but %s", r, err, wrong)
	}
	if ctx.Err() != nil {
		t.Errorf("%v: it took a minute", r)
	}
	// A close may be asked for several times, or just once.
	if r.Message == "complete" && r.Nth > 1 {
		return
	}
	if count.Fired() != 1 {
		t.Errorf("%v: it fired %d times, after which it answers %v", r, count.Fired(), err)
	}
	if r.Do == proxy.Cut && err == nil {
		t.Errorf("%v: it noticed nothing", r)
	}
	// The next call has a new connection.
	s.proxy.Reset()
	if _, err := s.fs.Stat(ctx, "/"); err != nil {
		t.Errorf("%v: the next call answers %v", r, err)
	}
}

// TestSettleSweepsUp lets Settle fail at each message. The next one leaves
// nothing, whatever the first left.
func TestSettleSweepsUp(t *testing.T) {
	c := shared.Cluster(t)
	st := &store{hc: superuser(t, c)}
	var o operation
	for _, o = range operations {
		if o.name == "settle" {
			break
		}
	}
	left := 0
	for method, n := range countCalls(t, c, o) {
		for i := range n {
			s := newSite(t, c, o, with("ipc.client.rpc-timeout.ms", "60000"))
			s.proxy.Add(proxy.Rule{Message: method, Side: proxy.Answer, Nth: i + 1, Do: proxy.Cut})
			if err := o.act(t.Context(), s.fs, s.dir); err == nil {
				t.Errorf("answer %d of %s is lost and Settle answers nil", i+1, method)
			}
			if st.only(s.dir, ".temp") != "" {
				left++
			}
			must(t, o.act(t.Context(), s.fs, s.dir))
			if wrong := st.only(s.dir, ".temp"); wrong != "" {
				t.Errorf("after answer %d of %s was lost: %s", i+1, method, wrong)
			}
		}
	}
	if left == 0 {
		t.Error("no marker was ever left, so nothing was tested")
	}
}

// TestSettleNoticesAnotherConnection cuts the connection inside the view, which
// doesn't look at anything then.
func TestSettleNoticesAnotherConnection(t *testing.T) {
	c := shared.Cluster(t)
	s := newSite(t, c, operation{prepare: prepareTemp}, with())
	err := s.fs.Settle(t.Context(), s.dir, func(context.Context, fs.Viewer) error {
		s.proxy.CutAll()
		return nil
	})
	wantClass(t, err, fs.Unclear, fs.Target)
}
