package hdfsfs_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
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
	prepare  func(t *testing.T, f *hdfsfs.Driver, dir string) fs.Info
	// act is given what prepare answered, or nothing.
	act func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error
	// check compares an error, or nil, with what is there. It returns what is
	// wrong, "" if the driver spoke the truth.
	check func(s *store, dir string, err error) string
	// needs are calls that it must make, or the test proves nothing.
	needs []string
}

const content = "first line\nsecond line\n"

func prepareTemp(t *testing.T, f *hdfsfs.Driver, dir string) fs.Info {
	return upload(t, f, dir+"/.temp", content)
}

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
		name: "upload", needs: []string{"getFileInfo", "create", "addBlock", "updateBlockForPipeline", "complete", "isFileClosed"},
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			info, err := f.Upload(ctx, strings.NewReader(content), dir+"/.temp", options)
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
		name: "upload into a new directory, with the server's defaults", needs: []string{"mkdirs", "getServerDefaults", "create"},
		settings: map[string]string{"dfs.replication": "", "dfs.blocksize": ""},
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			_, err := f.Upload(ctx, strings.NewReader(""), dir+"/new/.temp", options)
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
		name: "publish", needs: []string{"getFileInfo", "rename2"}, prepare: prepareTemp,
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			return f.Publish(ctx, temp, dir+"/final", publishing)
		},
		check: func(s *store, dir string, err error) string { return s.moved(dir+"/.temp", dir+"/final", err) },
	},
	{
		name: "publish into a new directory", needs: []string{"mkdirs", "rename2"}, prepare: prepareTemp,
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			return f.Publish(ctx, temp, dir+"/new/final", publishing)
		},
		check: func(s *store, dir string, err error) string { return s.moved(dir+"/.temp", dir+"/new/final", err) },
	},
	{
		name: "discard", needs: []string{"getFileInfo", "delete"}, prepare: prepareTemp,
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			return f.Discard(ctx, dir+"/.temp")
		},
		check: func(s *store, dir string, err error) string {
			there := s.exists(dir + "/.temp")
			if err == nil && there || err != nil && fs.ClassOf(err) == fs.Target && !there {
				return fmt.Sprintf("the file is there: %v", there)
			}
			return noFact(err)
		},
	},
	{
		name: "locate", needs: []string{"create", "delete", "getFileInfo", "isFileClosed"}, prepare: prepareTemp,
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			place, err := f.Locate(ctx, temp.ID, dir+"/.temp", dir+"/final")
			if err == nil && (!place.Names[0].Info.Same(temp) || place.Names[1].Exists || place.Searched) {
				return fmt.Errorf("it answers %+v", place)
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
		name: "locate elsewhere", needs: []string{"create", "delete", "getFileInfo", "isFileClosed", "getListing"}, prepare: prepareTemp,
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
			place, err := f.Locate(ctx, temp.ID, dir+"/final")
			if err == nil && (place.Names[0].Exists || !place.Searched || !place.Elsewhere.Info.Same(temp)) {
				return fmt.Errorf("it answers %+v", place)
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
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
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
		act: func(ctx context.Context, f *hdfsfs.Driver, dir string, temp fs.Info) error {
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
	c      *hdfs.Cluster
	proxy  *proxy.Proxy
	driver *hdfsfs.Driver
	dir    string
	temp   fs.Info // what was prepared
}

func newSite(t *testing.T, c *hdfs.Cluster, o operation, settings map[string]string) *site {
	s := &site{c: c, dir: directory(t, c)}
	if o.prepare != nil {
		s.temp = o.prepare(t, open(t, c.Authority(), user, usual), s.dir)
	}
	var err error
	s.proxy, err = proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, s.proxy.Close()) })
	settings = maps.Clone(settings)
	maps.Copy(settings, o.settings)
	s.driver = open(t, s.proxy.Addr(), user, settings)
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
			places := make(chan struct{}, 16) // they mostly wait
			settings := map[proxy.Action]map[string]string{proxy.Cut: usual, proxy.Swallow: hasty}
			for _, method := range calls {
				for n := 1; n <= made[method]; n++ {
					for _, side := range []proxy.Side{proxy.Request, proxy.Answer} {
						for _, do := range []proxy.Action{proxy.Cut, proxy.Swallow} {
							r := proxy.Rule{Message: method, Side: side, Nth: n, Do: do}
							s := newSite(t, c, o, settings[do])
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
	s := newSite(t, c, o, with())
	counts := map[string]*proxy.Count{}
	for _, m := range calls {
		counts[m] = s.proxy.Add(proxy.Rule{Message: m})
	}
	if err := o.act(t.Context(), s.driver, s.dir, s.temp); err != nil {
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
	err := o.act(ctx, s.driver, s.dir, s.temp)
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
	if _, err := s.driver.Stat(ctx, "/"); err != nil {
		t.Errorf("%v: the next call answers %v", r, err)
	}
}

// TestLocateSweepsUp lets Locate fail at each message. The next one leaves
// nothing, whatever the first left.
func TestLocateSweepsUp(t *testing.T) {
	c := shared.Cluster(t)
	st := &store{hc: superuser(t, c)}
	var o operation
	for _, o = range operations {
		if o.name == "locate" {
			break
		}
	}
	left := 0
	for method, n := range countCalls(t, c, o) {
		for i := range n {
			s := newSite(t, c, o, with())
			s.proxy.Add(proxy.Rule{Message: method, Side: proxy.Answer, Nth: i + 1, Do: proxy.Cut})
			if err := o.act(t.Context(), s.driver, s.dir, s.temp); err == nil {
				t.Errorf("answer %d of %s is lost and Locate answers nil", i+1, method)
			}
			if st.only(s.dir, ".temp") != "" {
				left++
			}
			must(t, o.act(t.Context(), s.driver, s.dir, s.temp))
			if wrong := st.only(s.dir, ".temp"); wrong != "" {
				t.Errorf("after answer %d of %s was lost: %s", i+1, method, wrong)
			}
		}
	}
	if left == 0 {
		t.Error("no marker was ever left, so nothing was tested")
	}
}

// TestLocateNoticesAnotherConnection cuts the connection between two calls of a
// look. The client library then makes the next call on a new connection, perhaps
// to another NameNode, and no answer may come of both.
func TestLocateNoticesAnotherConnection(t *testing.T) {
	c := shared.Cluster(t)
	for _, row := range []struct {
		method string
		nth    int // of those calls of a Locate
	}{{"isFileClosed", 1}, {"getFileInfo", 3}} { // the first getFileInfo is before the bracket
		s := newSite(t, c, operation{prepare: prepareTemp}, with())
		seen, cut := 0, false
		place, err := s.driver.LocateHooked(t.Context(), func(method string) {
			if method == row.method {
				if seen++; seen == row.nth {
					s.proxy.CutAll()
					cut = true
				}
			}
		}, s.temp.ID, s.dir+"/.temp", s.dir+"/final")
		wantClass(t, err, fs.Unclear, fs.Target)
		if len(place.Names) != 0 || !cut {
			t.Errorf("it answers %+v; it was cut: %v", place, cut)
		}
	}
}
