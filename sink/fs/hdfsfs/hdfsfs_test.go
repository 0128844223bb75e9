package hdfsfs_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// listLimit is how many entries the NameNode lists at a time.
const listLimit = 7

var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 2, Encryption: true, Properties: map[string]string{
	"dfs.ls.limit": fmt.Sprint(listLimit),
}}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// user is whom the tests write as. Nobody is a superuser by this name.
const user = "alice"

var publishing = fs.PublishOptions{DirMode: 0o755}

var options = fs.UploadOptions{FileMode: 0o644, DirMode: 0o755}

// usual are the clients' settings. They wait long for an answer that comes, so
// that no test depends on an idle machine.
var usual = map[string]string{
	"dfs.replication": "2", "dfs.blocksize": "1m",
	"ipc.client.connect.timeout": "60s", "ipc.client.rpc-timeout.ms": "60000", "dfs.client.socket-timeout": "60s",
}

// hasty are settings for tests in which an answer doesn't come. What is done
// before that must be done in time with them, on a busy machine too.
var hasty = with("ipc.client.connect.timeout", "4s", "ipc.client.rpc-timeout.ms", "4000", "dfs.client.socket-timeout", "4s")

// with is usual and more, name and value in turn.
func with(pairs ...string) map[string]string {
	out := maps.Clone(usual)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func open(t testing.TB, authority, user string, settings map[string]string) *hdfsfs.Driver {
	t.Helper()
	opened, err := hdfsfs.Opener{}.Open(t.Context(), authority, fs.Options{User: user, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened.(*hdfsfs.Driver)
}

var directories atomic.Int64

// directory is a new one of alice's.
func directory(t testing.TB, c *hdfs.Cluster) string {
	t.Helper()
	p := fmt.Sprintf("/test/%d", directories.Add(1))
	must(t, c.MkdirAs(t.Context(), user, p))
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// superuser is a client of another kind, through which tests see what is there.
func superuser(t testing.TB, c *hdfs.Cluster) *client.Client {
	t.Helper()
	hc, err := client.NewClient(client.ClientOptions{Addresses: []string{c.Authority()}, User: hdfs.Superuser})
	must(t, err)
	t.Cleanup(func() { hc.Close() })
	return hc
}

func harness(c *hdfs.Cluster) fstest.Harness {
	return fstest.Harness{
		Open:   func(t testing.TB) fs.Driver { return open(t, c.Authority(), user, usual) },
		Reader: func(t testing.TB) fs.Reader { return open(t, c.Authority(), user, usual) },
		Dir:    func(t testing.TB) string { return directory(t, c) },
		Search: true, NoColon: true, Tick: 2 * time.Millisecond,
		Rewrite: func(t testing.TB, p string, content []byte) { rewrite(t, superuser(t, c), p, content) },
		Mode: func(t testing.TB, p string) uint32 {
			st, err := superuser(t, c).Stat(p)
			must(t, err)
			return uint32(st.Mode().Perm())
		},
		Refused: func(t testing.TB, dir string, f func(fs.Driver)) {
			must(t, c.Chmod(t.Context(), dir, 0o555))
			f(open(t, c.Authority(), "stranger", usual))
			must(t, c.Chmod(t.Context(), dir, 0o755))
		},
	}
}

// rewrite replaces a file's content in place: the file stays the same.
func rewrite(t testing.TB, hc *client.Client, p string, content []byte) {
	t.Helper()
	ok, err := hc.Truncate(p, 0)
	if err != nil || !ok {
		t.Fatalf("truncate %s: %v, %v", p, ok, err)
	}
	if len(content) == 0 {
		return
	}
	w, err := hc.Append(p)
	must(t, err)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	finish(t, w)
}

// finish closes a file of the tests' own.
func finish(t testing.TB, w *client.FileWriter) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := w.Close()
		if client.IsErrReplicating(err) && time.Now().Before(end) {
			continue
		}
		must(t, err)
		return
	}
}

func TestConformance(t *testing.T) { fstest.Run(t, harness(shared.Cluster(t))) }

func BenchmarkConformance(b *testing.B) {
	h := harness(shared.Cluster(b))
	h.Open = func(t testing.TB) fs.Driver {
		return open(t, shared.Cluster(b).Authority(), user, with("dfs.blocksize", "128m"))
	}
	fstest.Bench(b, h)
}

func wantClass(t testing.TB, err error, want ...fs.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want class %v", want)
		return
	}
	for _, w := range want {
		if fs.ClassOf(err) == w {
			return
		}
	}
	t.Errorf("class %v, want %v: %v", fs.ClassOf(err), want, err)
}

// mentions checks that an operator reads all of the words.
func mentions(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error doesn't say %q: %v", w, err)
		}
	}
}

func upload(t testing.TB, f *hdfsfs.Driver, p, content string) fs.Info {
	t.Helper()
	info, err := f.Upload(t.Context(), strings.NewReader(content), p, options)
	must(t, err)
	return info
}

// system is a process of the user's environment.
func system(pairs ...string) hadoop.System {
	return hadoop.System{User: "bob", Getenv: func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}}
}

func bounded(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
