package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs the command as an operator does.
func run(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetOut(&b)
	cmd.SetErr(io.Discard)
	err = cmd.ExecuteContext(t.Context())
	return b.String(), err
}

// mustRun is run for what has to work.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatalf("out-hdfs %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// agent is an instance as the plugin opens it, on a real directory.
type agent struct {
	t               *testing.T
	stateDir, lands string
	values          map[string]string
}

func newAgent(t *testing.T) *agent {
	dir := t.TempDir()
	a := &agent{t: t, stateDir: filepath.Join(dir, "state"), lands: filepath.Join(dir, "data")}
	a.values = map[string]string{
		"path": "file://" + a.lands, "state_dir": a.stateDir, "assigner": "base_path", "writer_id": "w",
		"exit_timeout": "10s", "state_limit": "100M", "roll_size": "10M",
	}
	return a
}

func (a *agent) open() *instance.Instance {
	a.t.Helper()
	i, err := instance.Open(conf.Map(a.values), instance.System{
		Log: slog.New(slog.DiscardHandler), Registry: instance.NewRegistry(), Getenv: func(string) string { return "" },
		Owner: "a test's agent",
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return i
}

func (a *agent) flush(i *instance.Instance, id int) {
	a.t.Helper()
	data := eventtest.Pack(eventtest.Event(eventtest.EventTime(1_700_000_000, 0), eventtest.Map{}, eventtest.Map{"id", id}))
	if i.Flush("tag", data, chunkfile.File{}, sink.FlushOptions{}) != sink.OK {
		a.t.Fatal("a chunk is refused")
	}
}

// stop stops an agent.
func (a *agent) stop(i *instance.Instance) {
	a.t.Helper()
	if err := i.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// published are the lines of all finished files.
func (a *agent) published() (lines []string) {
	a.t.Helper()
	err := filepath.WalkDir(a.lands, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if strings.HasPrefix(e.Name(), ".") {
			a.t.Errorf("%s is left", p)
		}
		b, err := os.ReadFile(p)
		lines = append(lines, strings.Split(strings.TrimSpace(string(b)), "\n")...)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.t.Fatal(err)
	}
	return lines
}

func (a *agent) status() (st sink.Status) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(mustRun(a.t, "status", "--json", "--state-dir", a.stateDir)), &st); err != nil {
		a.t.Fatal(err)
	}
	return st
}

// TestStatus of an agent that runs and of one that doesn't, for people and for
// programs.
func TestStatus(t *testing.T) {
	a := newAgent(t)
	i := a.open()
	a.flush(i, 1)
	st := a.status()
	if !st.Running || st.WriterID != "w" || st.Target != "file://"+a.lands || st.UnfinishedChunks != 1 {
		t.Errorf("%+v", st)
	}
	out := mustRun(t, "status", "--state-dir", a.stateDir)
	for _, want := range []string{"w in " + a.stateDir, "writing to file://" + a.lands, "unfinished chunks 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("status doesn't say %q:\n%s", want, out)
		}
	}
	a.stop(i)
	st = a.status()
	if st.Running || st.UnfinishedChunks != 0 || st.Finished.Parts != 1 || st.Finished.Records != 1 {
		t.Errorf("%+v", st)
	}
	if out := mustRun(t, "status", "--state-dir", a.stateDir); !strings.Contains(out, "no agent is running") || !strings.Contains(out, "finished 1 parts") {
		t.Errorf("status says\n%s", out)
	}
}

// TestStatusChangesNothing of a directory that no agent has.
func TestStatusChangesNothing(t *testing.T) {
	a := newAgent(t)
	i := a.open()
	a.flush(i, 1)
	a.stop(i)
	before := listing(t, a.stateDir)
	mustRun(t, "status", "--state-dir", a.stateDir)
	if after := listing(t, a.stateDir); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&b, p, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNoStateDirectory: every command refuses one that isn't a state directory,
// names it, and makes nothing there.
func TestNoStateDirectory(t *testing.T) {
	for _, args := range [][]string{{"status"}, {"resolve", "part", "1", "done"}, {"adopt"}, {"drain"}, {"damaged", "list"}, {"damaged", "purge", "--yes"}, {"resolve", "chunk", "doubtful", "done"}} {
		dir := t.TempDir()
		if _, err := run(t, append(args, "--state-dir", dir)...); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", args[0], err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s made %v, %v", args[0], entries, err)
		}
	}
}

// TestMistakesInTheCommand are refused before anything is opened.
func TestMistakesInTheCommand(t *testing.T) {
	for _, args := range [][]string{
		{"resolve"}, {"resolve", "part", "1"}, {"resolve", "part", "x", "done"}, {"resolve", "part", "0", "done"},
		{"resolve", "file", "1", "done"}, {"resolve", "part", "1", "decode"}, {"resolve", "chunk", "1", "publish"},
		{"status", "x"}, {"adopt", "x"}, {"drain", "x"}, {"nonsense"},
		{"damaged", "list", "x"}, {"resolve", "chunk", "doubtful", "publish"}, {"resolve", "part", "doubtful", "done"},
	} {
		if _, err := run(t, append(args, "--state-dir", filepath.Join(t.TempDir(), "none"))...); err == nil || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// holdPart stops an agent with a part that is held: its staged file is damaged.
func (a *agent) holdPart() {
	a.t.Helper()
	a.values["exit_timeout"] = "1s"
	if err := os.WriteFile(a.lands, nil, 0o600); err != nil { // a file where the directory should be
		a.t.Fatal(err)
	}
	i := a.open()
	a.flush(i, 1)
	a.stop(i)
	staged, err := filepath.Glob(filepath.Join(a.stateDir, "staged", "*"))
	if err != nil || len(staged) != 1 {
		a.t.Fatalf("staged files: %v, %v", staged, err)
	}
	if err := os.WriteFile(staged[0], []byte("damaged"), 0o600); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Remove(a.lands); err != nil {
		a.t.Fatal(err)
	}
	i = a.open()
	if err := i.Drain(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	a.stop(i)
}

// TestResolve ends a held part, with an agent and without.
func TestResolve(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			a := newAgent(t)
			a.holdPart()
			st := a.status()
			if len(st.Parts) != 1 || st.Parts[0].State != "held" {
				t.Fatalf("%+v", st)
			}
			n := fmt.Sprint(st.Parts[0].Number)
			if out := mustRun(t, "status", "--state-dir", a.stateDir); !strings.Contains(out, "held: part "+n) {
				t.Errorf("status says\n%s", out)
			}
			if running {
				i := a.open()
				defer i.Close()
			}
			if _, err := run(t, "resolve", "part", "77", "done", "--state-dir", a.stateDir); err == nil {
				t.Error("a part that isn't there was resolved")
			}
			mustRun(t, "resolve", "part", n, "done", "--state-dir", a.stateDir)
			if st := a.status(); len(st.Parts) != 0 || st.Running != running {
				t.Errorf("%+v", st)
			}
			if _, err := run(t, "resolve", "part", n, "done", "--state-dir", a.stateDir); err == nil {
				t.Error("it was resolved twice")
			}
		})
	}
}

// TestDamaged: what was set aside is listed, and removed once it is sure that nobody
// needs it, with an agent and without.
func TestDamaged(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			a := newAgent(t)
			a.holdPart()
			n := fmt.Sprint(a.status().Parts[0].Number)
			lies := filepath.Join(a.stateDir, "journal", "damaged", "0000000000000001")
			if err := errors.Join(os.MkdirAll(filepath.Dir(lies), 0o700), os.WriteFile(lies, []byte("damaged"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if running {
				i := a.open()
				defer i.Close()
			}
			out := mustRun(t, "damaged", "list", "--state-dir", a.stateDir)
			for _, want := range []string{"aside/" + n, "journal/damaged/0000000000000001", "7 B"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q isn't in\n%s", want, out)
				}
			}
			if st := a.status(); st.AsideBytes != 14 || st.JournalBytes%(1<<20) != 0 {
				t.Errorf("%+v", st)
			}
			if _, err := run(t, "damaged", "purge", "--state-dir", a.stateDir); err == nil || !strings.Contains(err.Error(), "--yes") {
				t.Errorf("purged with %v", err)
			}
			mustRun(t, "damaged", "purge", "--yes", "--state-dir", a.stateDir)
			out = mustRun(t, "damaged", "list", "--state-dir", a.stateDir)
			if !strings.Contains(out, "aside/"+n) || strings.Contains(out, "journal/damaged/") {
				t.Errorf("with a held part it leaves\n%s", out)
			}
			mustRun(t, "resolve", "part", n, "done", "--state-dir", a.stateDir)
			mustRun(t, "damaged", "purge", "--yes", "--state-dir", a.stateDir)
			if out := mustRun(t, "damaged", "list", "--state-dir", a.stateDir); !strings.Contains(out, "nothing") {
				t.Errorf("in the end it leaves\n%s", out)
			}
			if st := a.status(); st.AsideBytes != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestAdopt: a copy of a state directory is refused by agent and tools, until
// it is adopted.
func TestAdopt(t *testing.T) {
	a := newAgent(t)
	i := a.open()
	a.flush(i, 1)
	a.stop(i)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.Remove(filepath.Join(a.stateDir, control.SocketName)); err != nil { // can't be copied
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(a.stateDir)); err != nil {
		t.Fatal(err)
	}
	a.values["state_dir"] = copied
	_, err := instance.Open(conf.Map(a.values), instance.System{
		Log: slog.New(slog.DiscardHandler), Registry: instance.NewRegistry(), Getenv: func(string) string { return "" },
	})
	if moved := (*journal.MovedError)(nil); !errors.As(err, &moved) {
		t.Fatalf("a copy is opened with %v", err)
	}
	if _, err := run(t, "drain", "--state-dir", copied); err == nil {
		t.Error("a copy is drained")
	}
	if out := mustRun(t, "adopt", "--state-dir", copied); !strings.Contains(out, "writer w") {
		t.Errorf("adopt says %q", out)
	}
	i = a.open()
	a.flush(i, 2)
	a.stop(i)
	if lines := a.published(); len(lines) != 2 {
		t.Errorf("published %q", lines)
	}
}

// TestDrain publishes what an agent left, with its options or with others, and
// says what it could not.
func TestDrain(t *testing.T) {
	a := newAgent(t)
	a.values["exit_timeout"] = "100ms"
	if err := os.WriteFile(a.lands, nil, 0o600); err != nil { // the target refuses everything
		t.Fatal(err)
	}
	i := a.open()
	for id := range 3 {
		a.flush(i, id)
	}
	a.stop(i)
	if _, err := run(t, "drain", "--state-dir", a.stateDir, "--timeout", "1s"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a drain without a target ends with %v", err)
	}
	if st := a.status(); len(st.Parts) == 0 {
		t.Errorf("after a drain that failed: %+v", st)
	}
	if err := os.Remove(a.lands); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, "drain", "--state-dir", a.stateDir); !strings.Contains(out, "with 3 records") {
		t.Errorf("drain says %q", out)
	}
	if lines := a.published(); len(lines) != 3 {
		t.Errorf("published %q", lines)
	}
	if st := a.status(); st.UnfinishedChunks != 0 || len(st.Parts) != 0 || st.Running {
		t.Errorf("%+v", st)
	}
	if _, err := run(t, "drain", "--state-dir", a.stateDir, "-o", "nonsense"); err == nil {
		t.Error("an option without a value is accepted")
	}
}

// TestNothingIsChangedUnderAnAgent: adopt and drain need the directory.
func TestNothingIsChangedUnderAnAgent(t *testing.T) {
	a := newAgent(t)
	i := a.open()
	defer i.Close()
	for _, args := range [][]string{{"adopt"}, {"drain"}} {
		_, err := run(t, append(args, "--state-dir", a.stateDir)...)
		if locked := (*disk.LockedError)(nil); !errors.As(err, &locked) || !strings.Contains(err.Error(), "a test's agent") {
			t.Errorf("%s under an agent: %v", args[0], err)
		}
	}
}
