package fluentbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue is a source that a test puts flushes into.
type queue struct {
	mu     sync.Mutex
	flows  chan pending
	opened int
	closed int
}

func (q *queue) open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flows = make(chan pending)
	q.opened++
}

func (q *queue) next() (pending, bool) {
	q.mu.Lock()
	flows := q.flows
	q.mu.Unlock()
	p, more := <-flows
	return p, more
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed < q.opened {
		close(q.flows)
		q.closed = q.opened
	}
}

// deliver is a flush from Fluent Bit's side.
func (q *queue) deliver(id uintptr, f Flush) Answer {
	got := make(chan Answer, 1)
	q.flows <- pending{instance: id, flush: f, answer: func(a Answer) { got <- a }}
	return <-got
}

// fake is an output that does what a test says.
type fake struct {
	onFlush func(f Flush) Answer
	onClose func() error
	closed  atomic.Int64
}

func (f *fake) Flush(fl Flush) Answer {
	if f.closed.Load() > 0 {
		panic("flushed after close")
	}
	if f.onFlush == nil {
		return OK
	}
	return f.onFlush(fl)
}

func (f *fake) Close() error {
	f.closed.Add(1)
	if f.onClose == nil {
		return nil
	}
	return f.onClose()
}

// quiet is a host whose instance logs nothing, with the lines it was reported.
func quiet(properties map[string]string) (host, *[]string) {
	lines := &[]string{}
	return host{
		name:   "hdfs.0",
		lookup: func(key string) string { return properties[key] },
		report: func(line string) { *lines = append(*lines, line) },
	}, lines
}

// opening is an Opener of the outputs given, in turn.
func opening(outputs ...Output) Opener {
	return func(string, func(string) string, *slog.Logger) (Output, error) {
		o := outputs[0]
		outputs = outputs[1:]
		return o, nil
	}
}

func TestEveryUnusualFlushIsAnsweredRetry(t *testing.T) {
	rows := []struct {
		name string
		do   func(Flush) Answer
		want Answer
	}{
		{"ok", func(Flush) Answer { return OK }, OK},
		{"retry", func(Flush) Answer { return Retry }, Retry},
		{"Fluent Bit's error, on which it deletes the chunk", func(Flush) Answer { return 0 }, Retry},
		{"a value of no meaning", func(Flush) Answer { return -7 }, Retry},
		{"a panic", func(Flush) Answer { panic("broken") }, Retry},
		{"a nil dereference", func(Flush) Answer { var f *fake; return f.onFlush(Flush{}) }, Retry},
		{"a chunk file cut under its mapping", func(Flush) Answer { return Answer(cutMapping(t)[0]) }, Retry},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			q := &queue{}
			s := newInstances(opening(&fake{onFlush: row.do}), q)
			h, _ := quiet(nil)
			id := s.start(h)
			if got := q.deliver(id, Flush{Tag: "a", Data: []byte("x")}); got != row.want {
				t.Errorf("answer = %d, want %d", got, row.want)
			}
			s.stop(id)
		})
	}
}

// cutMapping is a mapping whose file has become shorter: reading it is a fault.
func cutMapping(t *testing.T) []byte {
	file, err := os.Create(filepath.Join(t.TempDir(), "1-2.3.flb"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	data, err := unix.Mmap(int(file.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(data) })
	if err := file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAFlushReachesItsOutputUnchanged(t *testing.T) {
	var got Flush
	q := &queue{}
	s := newInstances(opening(&fake{onFlush: func(f Flush) Answer { got = f; return OK }}), q)
	h, _ := quiet(nil)
	id := s.start(h)
	defer s.stop(id)

	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(base, "tail.0", "1-2.3.flb")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a chunk"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapped, err := unix.Mmap(int(file.Fd()), 0, 7, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()

	rows := []struct {
		name     string
		data     []byte
		engine   bool
		wantPath string
	}{
		{"from memory", []byte("a chunk"), false, ""},
		{"from a chunk file", mapped, true, path},
		{"from a chunk file, at an odd offset", mapped[3:], false, path},
		{"empty", nil, false, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if a := q.deliver(id, Flush{Tag: "kube.日志", Data: row.data, OnEngineThread: row.engine}); a != OK {
				t.Fatalf("answer = %d, want OK", a)
			}
			if got.Tag != "kube.日志" || !slices.Equal(got.Data, row.data) || got.OnEngineThread != row.engine || got.File.Path() != row.wantPath {
				t.Errorf("the output got %+v with file %q", got, got.File.Path())
			}
		})
	}
}

func TestInstancesAreApart(t *testing.T) {
	q := &queue{}
	first, second := &fake{}, &fake{onFlush: func(Flush) Answer { return Retry }}
	s := newInstances(opening(first, second), q)
	h, _ := quiet(nil)
	a, b := s.start(h), s.start(h)
	if a == b || a == 0 || b == 0 {
		t.Fatalf("ids are %d and %d, want two that differ, and no 0", a, b)
	}
	if q.deliver(a, Flush{}) != OK || q.deliver(b, Flush{}) != Retry {
		t.Error("an instance was answered for by the other")
	}
	s.stop(a)
	if first.closed.Load() != 1 || second.closed.Load() != 0 {
		t.Error("stopping one instance must close that one, once")
	}
	if q.deliver(a, Flush{}) != Retry {
		t.Error("a flush of a stopped instance must be answered RETRY")
	}
	if q.deliver(b, Flush{}) != Retry {
		t.Error("the other instance must still run")
	}
	s.stop(a) // again: there is nothing to do
	s.stop(b)
	if first.closed.Load() != 1 || second.closed.Load() != 1 {
		t.Error("each instance is closed once")
	}
}

func TestIdZeroMeansTheOnlyInstance(t *testing.T) {
	q := &queue{}
	s := newInstances(opening(&fake{}, &fake{}), q)
	h, _ := quiet(nil)
	s.start(h)
	if got := q.deliver(0, Flush{}); got != OK {
		t.Errorf("with one instance the answer is %d, want OK", got)
	}
	s.start(h)
	if got := q.deliver(0, Flush{}); got != Retry {
		t.Errorf("with two instances the answer is %d, want RETRY: it can be either's", got)
	}
	s.stop(0)
	if len(s.live) != 0 {
		t.Error("stopping 0 must stop them all")
	}
}

// A hot reload stops the old instances, then starts new ones in the same process.
func TestInstancesStartAgainAfterTheLastStopped(t *testing.T) {
	q := &queue{}
	s := newInstances(opening(&fake{}, &fake{}, &fake{}), q)
	h, _ := quiet(nil)
	seen := map[uintptr]bool{}
	for range 3 {
		id := s.start(h)
		if seen[id] {
			t.Errorf("id %d was given twice", id)
		}
		seen[id] = true
		if got := q.deliver(id, Flush{}); got != OK {
			t.Errorf("answer = %d, want OK", got)
		}
		s.stop(id)
	}
	if q.opened != 3 || q.closed != 3 {
		t.Errorf("the source was opened %d times and closed %d times, want 3 and 3", q.opened, q.closed)
	}
}

func TestStopWaitsForTheFlushesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		o := &fake{onFlush: func(Flush) Answer { time.Sleep(3 * time.Second); return OK }}
		s := newInstances(opening(o), q)
		h, _ := quiet(nil)
		id := s.start(h)
		answers := make(chan Answer, 4)
		for range cap(answers) { // the workers of one output
			go func() { answers <- q.deliver(id, Flush{}) }()
		}
		synctest.Wait()
		began := time.Now()
		s.stop(id)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("stop took %v, want the 3s that the flushes take side by side", took)
		}
		for range cap(answers) {
			if a := <-answers; a != OK {
				t.Errorf("answer = %d, want OK", a)
			}
		}
	})
}

func TestStartReportsEveryMistakeAndLeavesNothing(t *testing.T) {
	rows := []struct {
		name string
		open Opener
		want []string
	}{
		{"two mistakes", func(string, func(string) string, *slog.Logger) (Output, error) {
			return nil, errors.Join(errors.New("path: required"), errors.New("format: xml is none of json, text"))
		}, []string{"path: required", "format: xml is none of json, text"}},
		{"a panic", func(string, func(string) string, *slog.Logger) (Output, error) { panic("broken") }, []string{"panic: broken"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			q := &queue{}
			s := newInstances(row.open, q)
			h, lines := quiet(nil)
			if id := s.start(h); id != 0 {
				t.Fatalf("start = %d, want 0", id)
			}
			if len(*lines) != len(row.want) {
				t.Fatalf("reported %q, want %d lines", *lines, len(row.want))
			}
			for i, want := range row.want {
				if !strings.Contains((*lines)[i], want) {
					t.Errorf("line %d is %q, want it to say %q", i, (*lines)[i], want)
				}
			}
			if q.opened != 0 {
				t.Error("without an instance no flush may be taken")
			}
		})
	}
}

func TestStartHandsOverThePropertiesAsTheyAre(t *testing.T) {
	q := &queue{}
	var got string
	s := newInstances(func(name string, lookup func(string) string, _ *slog.Logger) (Output, error) {
		got = name + "|" + lookup("fs.hdfs.limit.total") + "|" + lookup("unset")
		return &fake{}, nil
	}, q)
	h, _ := quiet(map[string]string{"fs.hdfs.limit.total": "8"})
	s.stop(s.start(h))
	if want := "hdfs.0|8|"; got != want {
		t.Errorf("name and properties read %q, want %q", got, want)
	}
}

func TestACloseThatFailsOrPanicsEndsTheInstance(t *testing.T) {
	rows := map[string]func() error{
		"error": func() error { return errors.New("not released") },
		"panic": func() error { panic("broken") },
	}
	for name, onClose := range rows {
		t.Run(name, func(t *testing.T) {
			q := &queue{}
			s := newInstances(opening(&fake{onClose: onClose}), q)
			h, _ := quiet(nil)
			s.stop(s.start(h))
			if len(s.live) != 0 || q.closed != 1 {
				t.Error("the instance is still there")
			}
		})
	}
}

// What an operator should change is said once for an instance, not per flush.
func TestAdviceIsGivenOnce(t *testing.T) {
	out := &record{}
	i := &instance{output: &fake{}, log: slog.New(out)}
	for range 3 {
		i.flush(Flush{OnEngineThread: true})
	}
	if got := out.lines; len(got) != 1 || !strings.Contains(got[0], "workers") {
		t.Errorf("logged %q, want one line about workers", got)
	}
}

// record is a slog.Handler that keeps what is logged.
type record struct{ lines []string }

func (r *record) Enabled(context.Context, slog.Level) bool { return true }
func (r *record) Handle(_ context.Context, e slog.Record) error {
	r.lines = append(r.lines, fmt.Sprint(e.Level, " ", e.Message))
	return nil
}
func (r *record) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *record) WithGroup(string) slog.Handler      { return r }
