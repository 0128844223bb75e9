package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"
	"go.uber.org/goleak"

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
	patience   time.Duration // how long an answer may take
}

// A client waits long for an answer that comes, and short for one that doesn't.
const (
	patient   = 30 * time.Second
	impatient = time.Second
)

func open(t *testing.T, patience time.Duration) *site {
	t.Helper()
	s := &site{c: shared.Cluster(t), patience: patience}
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

// connect makes a client whose NameNode has to answer in time.
func (s *site) connect(t *testing.T) *client.Client {
	t.Helper()
	hc, err := client.NewClient(client.ClientOptions{
		Addresses: []string{s.name.Addr()}, User: "alice", UseDatanodeHostname: true,
		NamenodeDialFunc: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return waiting{conn, s.patience}, err
		},
	})
	must(t, err)
	return hc
}

// waiting is a connection that doesn't wait for ever.
type waiting struct {
	net.Conn
	patience time.Duration
}

func (c waiting) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// patience is what a rule needs.
func patience(r proxy.Rule) time.Duration {
	if r.Do == proxy.Swallow {
		return impatient
	}
	return patient
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

func (s *site) write(t *testing.T, p string, content []byte) error {
	t.Helper()
	w, err := s.client.CreateFile(p, 1, 1<<20, 0o644)
	if err != nil {
		return err
	}
	if err := w.SetDeadline(time.Now().Add(s.patience)); err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	end := time.After(time.Minute)
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

func TestWithoutRulesEverythingPasses(t *testing.T) {
	s := open(t, patient)
	content := []byte(strings.Repeat("0123456789", 300_000)) // three blocks
	must(t, s.write(t, "/"+t.Name()+"/a", content))
	got, err := s.client.ReadFile("/" + t.Name() + "/a")
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestMessagesAreNamed(t *testing.T) {
	s := open(t, patient)
	counts := map[string][2]*proxy.Count{}
	for _, m := range []string{"create", "addBlock", "complete", "getFileInfo"} {
		counts[m] = [2]*proxy.Count{s.name.Add(proxy.Rule{Message: m}), s.name.Add(proxy.Rule{Message: m, Side: proxy.Answer})}
	}
	for _, m := range []string{"WRITE_BLOCK", "READ_BLOCK", "PACKET"} {
		counts[m] = [2]*proxy.Count{s.data.Add(proxy.Rule{Message: m}), s.data.Add(proxy.Rule{Message: m, Side: proxy.Answer})}
	}
	must(t, s.write(t, "/"+t.Name()+"/a", make([]byte, 1<<20+1))) // two blocks
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
			s := open(t, patience(row.rule))
			count := s.name.Add(row.rule)
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
			s := open(t, patience(rule))
			count := s.data.Add(rule)
			if err := s.write(t, "/"+t.Name()+"/a", make([]byte, 1<<20)); err == nil {
				t.Error("the write succeeded")
			}
			if count.Fired() == 0 {
				t.Error("the rule didn't fire")
			}
			s.data.Reset()
			s.patience = patient
			must(t, s.write(t, "/"+t.Name()+"/b", make([]byte, 1<<20)))
		})
	}
}

func TestDownRefusesAndUpTakesAgain(t *testing.T) {
	s := open(t, patient)
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
