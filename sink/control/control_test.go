package control_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/basepath"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	codecjson "github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type noLetters struct{}

func (noLetters) Bucket(time.Time) string { return "_dead_letters" }
func (noLetters) Suffix() string          { return ".json" }
func (noLetters) Append(dst []byte, _ *event.Batch, _ *event.Event, _ string) []byte {
	return append(dst, "{}\n"...)
}

// held opens a sink in dir one of whose parts is held.
func held(t *testing.T, dir string) *sink.Sink {
	t.Helper()
	d, err := disk.NewOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := memfs.New(memfs.Options{})
	lost := faultfs.Times(1, faultfs.On(faultfs.Publish), faultfs.FailAfter(nil))
	s, err := sink.Open(sink.Config{
		Disk: d, StateDir: dir, Log: slog.New(slog.DiscardHandler), WriterID: "w", Target: "mem://", Base: "/logs",
		OpenTarget: func(context.Context, string) (*fs.Client, error) {
			return fs.NewClient(faultfs.New(&deleting{store.Driver(), store}, lost), fs.LimitOptions{}), nil
		},
		NewAssigner: func() assigner.Assigner { return basepath.Assigner{} },
		Format:      codecjson.New(codecjson.Options{}), Letters: noLetters{}, Policy: rolling.OnCheckpoint{},
		PartPrefix: "part", PartSuffix: ".json", BucketCheckInterval: time.Second, MaxOpenBuckets: 4,
		StateLimit: 1 << 30, Memory: sinktest.MemoryOf(1 << 20), SegmentSize: 64 << 10, Uploads: 1, Workers: 1,
		FlushTimeout: time.Second, ExitTimeout: 10 * time.Second,
		Directories: sinktest.Directories{
			Exists: func(string) bool { return false },
			Sync:   func() ([]string, bool) { return nil, true },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	data := eventtest.Pack(eventtest.Event(1, eventtest.Map{}, eventtest.Map{"a", 1}))
	if s.Flush("tag", data, chunkfile.File{}, sink.FlushOptions{}) != sink.OK {
		t.Fatal("a chunk is refused")
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lost.Fired() != 1 {
		t.Fatal("no answer was lost")
	}
	return s
}

// deleting is a target whose consumer deletes what is published.
type deleting struct {
	fs.Driver
	store *memfs.Store
}

func (d *deleting) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	if err := d.Driver.Publish(ctx, from, final, o); err != nil {
		return err
	}
	return d.store.Delete(final)
}

// serve answers for a sink with a held part, until the test ends.
func serve(t *testing.T, dir string) {
	t.Helper()
	srv, err := control.Serve(dir, held(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStatusAndResolve(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir)
	c := control.Dial(dir)
	st, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !st.Running || st.StateDir != dir || len(st.Parts) != 1 || st.Parts[0].State != "held" || st.Parts[0].Why == "" {
		t.Errorf("%+v", st)
	}
	for _, r := range []control.Request{
		{}, {How: "publish"}, {Part: 1}, {Part: 1, How: "decode"}, {Part: 1, Chunk: 1, How: "done"}, {Chunk: 1, How: "publish"},
		{Part: 99, How: "publish"}, {Chunk: 99, How: "dead-letter"}, {Part: 1, How: strings.Repeat("x", 10000)},
	} {
		if err := c.Resolve(t.Context(), r); err == nil || errors.Is(err, control.ErrNotRunning) {
			t.Errorf("%.60q is answered with %v", r.How, err)
		}
	}
	if err := c.Resolve(t.Context(), control.Request{Part: st.Parts[0].Number, How: "done"}); err != nil {
		t.Fatal(err)
	}
	if st, err = c.Status(t.Context()); err != nil || len(st.Parts) != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestRequestFrames: each word means one resolution of the right thing.
func TestRequestFrames(t *testing.T) {
	for _, row := range []struct {
		r    control.Request
		want journal.Resolved
	}{
		{control.Request{Part: 3, How: "publish"}, journal.Resolved{Part: 3, How: journal.PublishAgain}},
		{control.Request{Part: 3, How: "done"}, journal.Resolved{Part: 3, How: journal.AcceptDone}},
		{control.Request{Chunk: 3, How: "decode"}, journal.Resolved{Seq: 3, How: journal.DecodeAgain}},
		{control.Request{Chunk: 3, How: "dead-letter"}, journal.Resolved{Seq: 3, How: journal.DeadLetter}},
	} {
		if got, err := row.r.Frame(); err != nil || got != row.want {
			t.Errorf("%+v is %+v, %v", row.r, got, err)
		}
	}
}

// TestLongStateDir: a socket's path is bound to 107 bytes, and a state directory
// isn't.
func TestLongStateDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a", 100), strings.Repeat("b", 100))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	serve(t, dir)
	if _, err := control.Dial(dir).Status(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStaleSocket: the socket that a killed process left is replaced, and until
// then it says that nobody is running.
func TestStaleSocket(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, control.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Dial(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("a stale socket is answered with %v", err)
	}
	serve(t, dir)
	if _, err := control.Dial(dir).Status(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNobodyIsRunning(t *testing.T) {
	if _, err := control.Dial(t.TempDir()).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("without a socket: %v", err)
	}
	if _, err := control.Dial(filepath.Join(t.TempDir(), "none")).Status(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestOnlyTheOwnerMayAsk, also where somebody made the directory himself.
func TestOnlyTheOwnerMayAsk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	serve(t, dir)
	st, err := os.Stat(filepath.Join(dir, control.SocketName))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v, %v", st.Mode(), err)
	}
}

// TestNoSocketCanBeMade is an error that leaves nothing behind.
func TestNoSocketCanBeMade(t *testing.T) {
	dir := t.TempDir()
	s := held(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, control.SocketName, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if srv, err := control.Serve(dir, s); err == nil {
		t.Error("a directory in the socket's place is no error")
		_ = srv.Close()
	}
}
