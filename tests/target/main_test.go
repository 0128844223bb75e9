// Package target proves the whole sink, as it is configured and opened for an
// instance, on a real HDFS: while the NameNode is away, with each message of a
// commit lost once, beside consumers and other writers, and where HDFS refuses.
//
// The sink runs in the test's own process; package crash has what needs a
// process that dies. What was published is read back past every proxy by a
// client that isn't the sink's.
package target

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// longestComponent is how long a name the cluster takes.
const longestComponent = 120

var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 1, Encryption: true, Properties: map[string]string{
	"dfs.namenode.fs-limits.max-component-length": fmt.Sprint(longestComponent),
}}}

// beside is how many tests run at a time that may: they mostly wait.
const beside = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", beside); err != nil {
		panic(err) // there is no such flag
	}
	code := shared.Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "after all tests and the cluster have ended:", err)
		code = 1
	}
	os.Exit(code)
}

// user is whom the sinks write as. Nobody is a superuser by this name.
const user = "alice"

// Clients wait long for an answer that comes, and short for one that doesn't.
const (
	patient   = 60 * time.Second
	impatient = 2 * time.Second
)

// client is a directory with a client's configuration.
func client(t testing.TB, defaultFS string, patience time.Duration, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, properties map[string]string) {
		var b strings.Builder
		b.WriteString("<configuration>\n")
		for k, v := range properties {
			fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", k, v)
		}
		b.WriteString("</configuration>\n")
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
	}
	site := map[string]string{
		"dfs.replication": "1", "dfs.blocksize": "1m",
		"ipc.client.connect.timeout": "2s",
		"ipc.client.rpc-timeout.ms":  fmt.Sprint(patience.Milliseconds()),
		"dfs.client.socket-timeout":  fmt.Sprintf("%dms", patience.Milliseconds()),
	}
	for k, v := range more {
		site[k] = v
	}
	write("core-site.xml", map[string]string{"fs.defaultFS": defaultFS})
	write("hdfs-site.xml", site)
	return dir
}

// agent is one instance of the sink.
type agent struct {
	*instance.Instance
	log logbook
}

// try opens an instance with these options and the usual ones: buckets by the
// records' field b, and a part for each bucket of each chunk.
func try(t testing.TB, options map[string]string) (*agent, error) {
	values := map[string]string{
		"hdfs_user": user, "state_limit": "128M", "memory_limit": "32M",
		"assigner": "partition", "partition_by": "b=$b", "rolling_policy": "on_checkpoint",
		"exit_timeout": "20s",
	}
	for k, v := range options {
		values[k] = v
	}
	if values["rolling_policy"] == "default" {
		delete(values, "rolling_policy")
	}
	if values["state_dir"] == "" {
		values["state_dir"] = t.TempDir()
	}
	a := &agent{}
	var err error
	a.Instance, err = instance.Open(conf.Map(values), instance.System{
		Log: a.log.logger(), Registry: instance.NewRegistry(), Owner: t.Name(),
		Getenv: func(string) string { return "" },
	})
	return a, err
}

// start opens an instance that ends with the test at the latest.
func start(t testing.TB, options map[string]string) *agent {
	t.Helper()
	a, err := try(t, options)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	return a
}

// records is a chunk of n records with ids from first on, one after the other
// for each of the buckets, with so many bytes of filling in each.
func records(first, n uint64, filling int, buckets ...string) []byte {
	var b []byte
	fill := strings.Repeat("x", filling)
	for i := range n {
		b = eventtest.Append(b, eventtest.Event(eventtest.At(int64(1767225600+i), 0), eventtest.Map{}, eventtest.Map{
			"id", first + i, "b", buckets[i%uint64(len(buckets))], "fill", fill,
		}))
	}
	return b
}

// flush hands over a chunk, which must be answered OK.
func (a *agent) flush(t testing.TB, chunk []byte) {
	t.Helper()
	if got := a.Flush("test", chunk, chunkfile.File{}, sink.FlushOptions{}); got != sink.OK {
		t.Fatalf("the chunk was answered %v", got)
	}
}

// status is the sink's, with all parts.
func (a *agent) status(t testing.TB) sink.Status {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	s := a.Status(ctx)
	if ctx.Err() != nil {
		t.Error("the pipeline doesn't say what it has in hand")
	}
	return s
}

// published waits until nothing is in hand but what is held, and returns that.
func (a *agent) published(t testing.TB) (held []sink.PartStatus) {
	t.Helper()
	within(t, "everything is published", func() bool {
		s := a.status(t)
		held = held[:0]
		for _, p := range s.Parts {
			if p.State == "held" {
				held = append(held, p)
			}
		}
		return s.UnfinishedChunks == 0 && len(held) == len(s.Parts)
	})
	return held
}

// noTemps drains the agents again and again, until no temp of an attempt is
// listed any more.
func noTemps(t testing.TB, agents []*agent) {
	t.Helper()
	again := time.NewTicker(3 * time.Second)
	defer again.Stop()
	within(t, "no temp is listed", func() bool {
		left := 0
		for _, a := range agents {
			if a.status(t).LeftoverTemps > 0 {
				must(t, a.Drain(t.Context()))
				left += a.status(t).LeftoverTemps
			}
		}
		if left > 0 {
			<-again.C
		}
		return left == 0
	})
}

// within waits until ok answers true, for minutes at most.
func within(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.NewTimer(5 * time.Minute)
	defer end.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var directories atomic.Int64

// directory is a new one of the user's.
func directory(t testing.TB, c *hdfs.Cluster) string {
	t.Helper()
	p := fmt.Sprintf("/target/%d", directories.Add(1))
	must(t, c.MkdirAs(t.Context(), user, p))
	return p
}
