package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

var shared hdfs.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// trouble hurts the cluster in every way once, one after the other, and makes
// it well again.
func trouble(ctx context.Context, c *hdfs.Cluster) error {
	killed := func(d *hdfs.Daemon) error {
		if err := d.Kill(); err != nil {
			return err
		}
		pause(ctx, 3*time.Second)
		if err := d.Restart(); err != nil {
			return err
		}
		return d.WaitReady(ctx)
	}
	stopped := func(d *hdfs.Daemon) error {
		if err := d.Stop(); err != nil {
			return err
		}
		pause(ctx, 20*time.Second)
		if err := d.Continue(); err != nil {
			return err
		}
		return d.WaitReady(ctx)
	}
	for _, step := range []struct {
		what string
		do   func(*hdfs.Daemon) error
		to   *hdfs.Daemon
	}{
		{"kill", killed, c.DataNode(0)},
		{"kill", killed, c.NameNode()},
		{"stop", stopped, c.DataNode(1)},
		{"stop", stopped, c.NameNode()},
		{"stop", stopped, c.DataNode(0)},
	} {
		if err := step.do(step.to); err != nil {
			return fmt.Errorf("%s %s: %w", step.what, step.to.Name(), err)
		}
		pause(ctx, 2*time.Second)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestExactlyOnceOnAnUnreliableHDFS kills the agent twenty times while DataNodes
// and the NameNode are killed, restarted and stopped under load.
func TestExactlyOnceOnAnUnreliableHDFS(t *testing.T) {
	const agentKills = 20
	cluster := shared.Cluster(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	program, plugin, dir := host.Build(t), host.Plugin(t), t.TempDir()
	base := "/crash/unreliable"

	var over atomic.Bool
	done := make(chan error, 1)
	go func() { // ends with the last trouble
		defer over.Store(true)
		done <- trouble(t.Context(), cluster)
	}()
	var ledger host.Ledger
	killed, chunk, known := 0, 0, map[string]bool{}
	for life := 0; killed < agentKills || !over.Load() || chunk < chunks; life++ {
		o := hdfsOptions(plugin, dir, cluster, base, chunk)
		moment := time.Duration(1000+rng.IntN(6000)) * time.Millisecond
		if over.Load() && killed >= agentKills {
			o.Chunks = chunks
			moment = 500 * time.Millisecond
		}
		p, err := program.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), moment)
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait()
		if err != nil || !endedWell(r) {
			t.Fatalf("life %d: exit %d, signal %v, %v\n%s", life, r.Code, r.Signal, err, r.Log)
		}
		if r.Signal == syscall.SIGKILL {
			killed++
		}
		ledger.Add(r.Events)
		ledger.Add(unreported(t, o, r.Events, known))
		chunk = len(ledger.Sent()) / recordsPerChunk
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o := hdfsOptions(plugin, dir, cluster, base, chunk)
	o.Linger, o.Chunks = 0, 1
	if held := lastLife(t, program, o, &ledger); held > 0 {
		t.Errorf("%d chunks were held though nothing is wrong with them", held)
	}
	t.Logf("the agent was killed %d times, %d chunks", killed, chunk+1)
	verify(t, hdfsFiles(t, cluster, base), &ledger)
	healthy(t, cluster, base)
}

func hdfsOptions(plugin, dir string, c *hdfs.Cluster, base string, chunk int) host.Options {
	return host.Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"),
		Chunks: 60, Records: recordsPerChunk, Hours: 4,
		FirstID: uint64(1 + chunk*recordsPerChunk),
		Retry:   10 * time.Millisecond, Linger: time.Minute, Rate: 200e3, Grace: 3 * time.Minute,
		Outputs: []host.Output{{Name: "hdfs.0", Workers: 2, Set: map[string]string{
			"path":                  c.URI() + base,
			"hadoop_conf_dir":       c.ConfDir(),
			"hdfs_user":             "hdfs",
			"state_dir":             filepath.Join(dir, "state"),
			"state_limit":           "256M",
			"roll_size":             "20K",
			"roll_interval":         "500ms",
			"bucket_check_interval": "100ms",
			"exit_timeout":          "2m",
		}}},
	}
}

// hdfsFiles reads every file below a directory through a client of its own.
func hdfsFiles(t *testing.T, c *hdfs.Cluster, base string) map[string][]byte {
	t.Helper()
	cl, err := client.NewClient(client.ClientOptions{Addresses: []string{c.Authority()}, User: "hdfs"})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	files := map[string][]byte{}
	err = cl.Walk(base, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		f, err := cl.Open(path)
		if err != nil {
			return err
		}
		files[path], err = io.ReadAll(f)
		_ = f.Close()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// healthy asks HDFS itself: no block is missing and no file is open.
func healthy(t *testing.T, c *hdfs.Cluster, base string) {
	t.Helper()
	report, err := c.Fsck(t.Context(), base)
	if err != nil || !strings.Contains(report, "is HEALTHY") {
		t.Errorf("fsck: %v\n%s", err, report)
	}
	open, err := c.ListOpenFiles(t.Context(), base)
	if err != nil || len(open) > 0 {
		t.Errorf("open files: %v, %v", open, err)
	}
}
