package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"
	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 1}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site is a client that reaches the cluster through proxies only.
type site struct {
	c          *hdfs.Cluster
	name, data *proxy.Proxy
	client     *client.Client
	// lost are the rules that lose answers of the NameNode and of the DataNode,
	// nil for none.
	lost struct{ name, data atomic.Pointer[proxy.Count] }
}

// A client waits long for an answer that comes, however busy the machine is,
// and short for one that was lost.
const (
	patient   = 2 * time.Minute
	impatient = time.Second
)

func open(t *testing.T) *site {
	t.Helper()
	s := &site{c: shared.Cluster(t)}
	var err error
	s.name, err = proxy.NameNode(s.c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	_, port, err := net.SplitHostPort(s.c.DataNode(0).Addr())
	must(t, err)
	s.data, err = proxy.DataNode(s.c.DataNode(0).Addr(), net.JoinHostPort(hdfs.DataNodeHost, port))
	must(t, err)
	s.client = s.connect(t)
	t.Cleanup(func() {
		s.client.Close()
		must(t, s.name.Close())
		must(t, s.data.Close())
	})
	must(t, s.c.MkdirAs(t.Context(), "alice", "/"+t.Name()))
	return s
}

// connect makes a client that waits no longer than it makes sense.
func (s *site) connect(t *testing.T) *client.Client {
	t.Helper()
	hc, err := client.NewClient(client.ClientOptions{
		Addresses: []string{s.name.Addr()}, User: "alice", UseDatanodeHostname: true,
		NamenodeDialFunc: dial(&s.lost.name), DatanodeDialFunc: dial(&s.lost.data),
	})
	must(t, err)
	return hc
}

func dial(lost *atomic.Pointer[proxy.Count]) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return waiting{conn, lost}, err
	}
}

// waiting is a connection that doesn't wait for what was lost.
type waiting struct {
	net.Conn
	lost *atomic.Pointer[proxy.Count]
}

func (c waiting) Read(p []byte) (int, error) {
	for end := time.Now().Add(patient); ; {
		if err := c.SetReadDeadline(time.Now().Add(impatient)); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(end) {
			return n, err
		}
		if rule := c.lost.Load(); rule != nil && rule.Fired() > 0 {
			return 0, err
		}
	}
}

// losing says which rule loses answers, if it is one that does.
func losing(lost *atomic.Pointer[proxy.Count], r proxy.Rule, count *proxy.Count) {
	if r.Do == proxy.Swallow {
		lost.Store(count)
	}
}

// exists asks past the proxies.
func (s *site) exists(t *testing.T, p string) bool {
	t.Helper()
	hc, err := client.New(s.c.Authority())
	must(t, err)
	defer hc.Close()
	_, err = hc.Stat(p)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// write writes a file of one block.
func (s *site) write(t *testing.T, p string, content []byte) error {
	t.Helper()
	w, err := s.client.CreateFile(p, 1, 1<<20, 0o644)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	end := time.After(patient)
	for {
		err := w.Close()
		if !client.IsErrReplicating(err) {
			return err
		}
		select { // until a DataNode has reported the block
		case <-time.After(20 * time.Millisecond):
		case <-end:
			return err
		}
	}
}

// upload writes a file of several blocks. The client library's own writer can't
// do so on a busy machine: it doesn't wait until a block is reported.
func (s *site) upload(t *testing.T, p string, content []byte) {
	t.Helper()
	d, err := hdfsfs.Opener{}.Open(t.Context(), s.name.Addr(), fs.Options{User: "alice", Settings: map[string]string{
		"dfs.client.use.datanode.hostname": "true",
		"ipc.client.rpc-timeout.ms":        fmt.Sprint(patient.Milliseconds()),
		"dfs.client.socket-timeout":        fmt.Sprint(patient.Milliseconds()),
	}})
	must(t, err)
	_, err = d.Upload(t.Context(), bytes.NewReader(content), p, fs.UploadOptions{Replication: 1, BlockSize: 1 << 20})
	must(t, errors.Join(err, d.Close()))
}

func TestWithoutRulesEverythingPasses(t *testing.T) {
	s := open(t)
	content := []byte(strings.Repeat("0123456789", 300_000)) // three blocks
	s.upload(t, "/"+t.Name()+"/a", content)
	got, err := s.client.ReadFile("/" + t.Name() + "/a")
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestMessagesAreNamed(t *testing.T) {
	s := open(t)
	counts := map[string][2]*proxy.Count{}
	follow := func(p *proxy.Proxy, messages ...string) {
		for _, m := range messages {
			counts[m] = [2]*proxy.Count{p.Add(proxy.Rule{Message: m}), p.Add(proxy.Rule{Message: m, Side: proxy.Answer})}
		}
	}
	follow(s.name, "create", "addBlock", "complete")
	follow(s.data, "WRITE_BLOCK", "READ_BLOCK", "PACKET")
	s.upload(t, "/"+t.Name()+"/a", make([]byte, 1<<20+1)) // two blocks
	follow(s.name, "getFileInfo")
	_, err := s.client.ReadFile("/" + t.Name() + "/a")
	must(t, err)
	for m, want := range map[string]int{
		"create": 1, "addBlock": 2, "getFileInfo": 1, "WRITE_BLOCK": 2, "READ_BLOCK": 2,
		"PACKET": 16 + 1 + 1 + 1, // of 64 KiB, and an empty one at the end of each block
	} {
		if got := [2]int{counts[m][0].Seen(), counts[m][1].Seen()}; got != [2]int{want, want} {
			t.Errorf("%s: %d requests and answers, want %d each", m, got, want)
		}
	}
	if n := counts["complete"][0].Seen(); n < 1 || n != counts["complete"][1].Seen() {
		t.Errorf("complete: %d requests, %d answers", n, counts["complete"][1].Seen())
	}
}

func TestFaultsOnTheWayToTheNameNode(t *testing.T) {
	for _, row := range []struct {
		rule     proxy.Rule
		happens  bool
		fails    bool
		timesOut bool
	}{
		{proxy.Rule{Message: "mkdirs", Side: proxy.Request, Nth: 1, Do: proxy.Cut}, false, true, false},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Request, Nth: 1, Do: proxy.Swallow}, false, true, true},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Answer, Nth: 1, Do: proxy.Cut}, true, true, false},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Answer, Nth: 1, Do: proxy.Swallow}, true, true, true},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Request, Nth: 1, Do: proxy.Delay, For: 50 * time.Millisecond}, true, false, false},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Answer, Nth: 1, Do: proxy.Delay, For: 50 * time.Millisecond}, true, false, false},
		{proxy.Rule{Message: "mkdirs", Side: proxy.Request, Nth: 2, Do: proxy.Cut}, true, false, false},
		{proxy.Rule{Message: "rename2", Side: proxy.Request, Do: proxy.Cut}, true, false, false},
	} {
		t.Run(row.rule.String(), func(t *testing.T) {
			s := open(t)
			count := s.name.Add(row.rule)
			losing(&s.lost.name, row.rule, count)
			p := "/" + t.Name() + "/d"
			err := s.client.Mkdir(p, 0o755)
			if (err != nil) != row.fails || errors.Is(err, os.ErrDeadlineExceeded) != row.timesOut {
				t.Errorf("mkdir answers %v", err)
			}
			if got := s.exists(t, p); got != row.happens {
				t.Errorf("the directory exists: %v", got)
			}
			want := 0
			if row.rule.Message == "mkdirs" && row.rule.Nth == 1 {
				want = 1
			}
			if got := count.Fired(); got != want {
				t.Errorf("the rule fired %d times, want %d", got, want)
			}
		})
	}
}

func TestFaultsOnTheWayToADataNode(t *testing.T) {
	for _, rule := range []proxy.Rule{
		{Message: "WRITE_BLOCK", Side: proxy.Request, Nth: 1, Do: proxy.Cut},
		{Message: "WRITE_BLOCK", Side: proxy.Answer, Nth: 1, Do: proxy.Swallow},
		{Message: "PACKET", Side: proxy.Request, Nth: 3, Do: proxy.Cut},
		{Message: "PACKET", Side: proxy.Answer, Nth: 3, Do: proxy.Cut},
		{Message: "PACKET", Side: proxy.Answer, Do: proxy.Swallow},
	} {
		t.Run(rule.String(), func(t *testing.T) {
			s := open(t)
			count := s.data.Add(rule)
			losing(&s.lost.data, rule, count)
			if err := s.write(t, "/"+t.Name()+"/a", make([]byte, 1<<20)); err == nil {
				t.Error("the write succeeded")
			}
			if count.Fired() == 0 {
				t.Error("the rule didn't fire")
			}
			s.data.Reset()
			s.lost.data.Store(nil)
			must(t, s.write(t, "/"+t.Name()+"/b", make([]byte, 1<<20)))
		})
	}
}

func TestDownRefusesAndUpTakesAgain(t *testing.T) {
	s := open(t)
	s.name.Down(true)
	s.name.CutAll()
	if err := s.client.Mkdir("/"+t.Name()+"/d", 0o755); err == nil {
		t.Error("mkdir succeeded through a proxy that is down")
	}
	s.name.Down(false)
	hc := s.connect(t)
	defer hc.Close()
	must(t, hc.Mkdir("/"+t.Name()+"/d", 0o755))
}

func TestCloseEndsEverything(t *testing.T) {
	c := shared.Cluster(t)
	before := goleak.IgnoreCurrent()
	p, err := proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	p.Add(proxy.Rule{Message: "getFileInfo", Side: proxy.Request, Do: proxy.Delay, For: time.Hour})
	hc, err := client.NewClient(client.ClientOptions{Addresses: []string{p.Addr()}, User: "alice"})
	must(t, err)
	result := make(chan error)
	go func() {
		_, err := hc.Stat("/")
		result <- err
	}()
	for p.Open() == 0 {
		time.Sleep(time.Millisecond)
	}
	must(t, p.Close())
	if err := <-result; err == nil {
		t.Error("a call through a closed proxy succeeded")
	}
	must(t, p.Close())
	_ = hc.Close() // its connection is gone
	goleak.VerifyNone(t, before)
}
