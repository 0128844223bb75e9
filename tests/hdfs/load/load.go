// Package load runs sinks against a cluster in the test's own process, and counts
// what arrived: each record that was promised must be there once, in a file that
// is whole, and nothing else may be left.
//
// What was published is read by Hadoop's own shell and not by the client that
// wrote it.
package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// Agent is one sink and the chunks that it was given. Its methods are for one
// goroutine at a time, but those of the instance and the log.
type Agent struct {
	*instance.Instance
	Log  *Logbook
	next uint64 // id of the next record
}

// system is the process around an instance under test, with the test's environment.
func system(t testing.TB, log *Logbook) instance.System {
	return instance.System{
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Registry: instance.NewRegistry(), Owner: t.Name(),
		Getenv: os.Getenv,
	}
}

// Start opens a sink with these options and the usual ones, a part for each
// chunk. It ends with the test at the latest.
func Start(t testing.TB, options map[string]string) *Agent {
	t.Helper()
	values := map[string]string{
		"state_limit": "256M", "memory_limit": "32M", "assigner": "base_path", "rolling_policy": "on_checkpoint", "exit_timeout": "20s", "state_dir": t.TempDir(),
	}
	for k, v := range options {
		values[k] = v
	}
	a := &Agent{Log: &Logbook{}, next: 1}
	var err error
	if a.Instance, err = instance.Open(conf.Map(values), system(t, a.Log)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// recordsOfChunk are few, since the number of commits is what counts.
const recordsOfChunk = 20

// Send hands over a chunk, which must be answered OK.
func (a *Agent) Send(t testing.TB) {
	t.Helper()
	var b []byte
	for i := range uint64(recordsOfChunk) {
		b = eventtest.Append(b, eventtest.Event(eventtest.At(int64(1767225600+i), 0), eventtest.Map{}, eventtest.Map{"id", a.next + i}))
	}
	if got := a.Flush("test", b, chunkfile.File{}, sink.FlushOptions{}); got != sink.OK {
		t.Fatalf("a chunk was answered %v", got)
	}
	a.next += recordsOfChunk
}

// SendWhile hands over chunks at a pace while f runs.
func (a *Agent) SendWhile(t testing.TB, pace time.Duration, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		case <-tick.C:
			a.Send(t)
		}
	}
}

// Settle waits until everything is published, for minutes at most, and until no
// temp of an attempt is left. Nothing may be held.
func (a *Agent) Settle(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		s := a.Status(ctx)
		if s.UnfinishedChunks == 0 && len(s.Parts) == 0 {
			break
		}
		for _, p := range s.Parts {
			if p.State == "held" {
				t.Fatalf("part %d is held: %s", p.Number, p.Why)
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d chunks and %d parts aren't published:\n%s", s.UnfinishedChunks, len(s.Parts), a.Log.Tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
	for a.Status(ctx).LeftoverTemps > 0 {
		if err := a.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d temps are left:\n%s", a.Status(context.Background()).LeftoverTemps, a.Log.Tail())
		case <-time.After(time.Second):
		}
	}
}

// Records is how many the agent was given.
func (a *Agent) Records() uint64 { return a.next - 1 }

// ExactlyOnce compares what Hadoop's shell reads below a directory with what an
// agent was given, and says what is wrong: a record that isn't there just once,
// a file that readers would skip, a file that somebody holds open.
func (a *Agent) ExactlyOnce(t testing.TB, c *hdfs.Cluster, dir string) {
	t.Helper()
	listing, err := c.FsShell(t.Context(), "-ls", "-R", "-C", dir)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(listing) {
		if strings.HasPrefix(path.Base(name), ".") {
			t.Errorf("%s is left", name)
		}
	}
	content, err := c.FsShell(t.Context(), "-cat", dir+"/*")
	if err != nil {
		t.Fatal(err)
	}
	var written []uint64
	for line := range bytes.Lines([]byte(content)) {
		var record struct {
			ID *uint64 `json:"id"`
		}
		if err := json.Unmarshal(line, &record); err != nil || record.ID == nil {
			t.Fatalf("a line without a record (%v): %.200s", err, line)
		}
		written = append(written, *record.ID)
	}
	promised := make([]uint64, a.Records())
	for i := range promised {
		promised[i] = uint64(i) + 1
	}
	if err := host.ExactlyOnce(promised, promised, written); err != nil {
		t.Error(err)
	}
	open, err := c.ListOpenFiles(t.Context(), dir)
	if err != nil || len(open) > 0 {
		t.Errorf("open are %v, %v", open, err)
	}
}

// Logbook keeps what is logged. It is safe for concurrent use.
type Logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *Logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

// Of are the lines that have a text.
func (l *Logbook) Of(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// Tail is the end.
func (l *Logbook) Tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-20):], "")
}

// Check runs `out-hdfs check --connect` in this process and returns its steps.
func Check(t testing.TB, options map[string]string) (steps []instance.Step, err error) {
	t.Helper()
	c, err := instance.NewCheck(conf.Map(options), system(t, &Logbook{}))
	if err != nil {
		return nil, err
	}
	err = c.Connect(t.Context(), func(s instance.Step) { steps = append(steps, s) })
	return steps, errors.Join(err, stepsFailed(steps))
}

func stepsFailed(steps []instance.Step) error {
	for _, s := range steps {
		if s.Err != nil {
			return fmt.Errorf("%s: %w", s.Name, s.Err)
		}
	}
	return nil
}
