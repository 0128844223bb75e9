package host

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// bench is a host with the plugin scripted, whose outputs do what their
// properties say, and a folder for the test.
type bench struct {
	t      *testing.T
	host   Program
	plugin string
	dir    string
}

// border builds the plugin once for all of a test's subtests.
func border(t *testing.T) func(t *testing.T) *bench {
	t.Helper()
	host, plugin := Build(t), compiled(t, module+"/tests/host/scripted")
	return func(t *testing.T) *bench {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return &bench{t: t, host: host, plugin: plugin, dir: dir}
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// output is one that answers as told and writes what it sees to a file.
func (b *bench) output(name, answers string, workers int) Output {
	return Output{Name: name, Workers: workers, Set: map[string]string{"path": b.path(name), "answer": answers}}
}

// seen is what the output of that name wrote.
func (b *bench) seen(name string) string {
	text, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *bench) start(o Options) *Process {
	b.t.Helper()
	o.Plugin = b.plugin
	if !o.Memory {
		o.Storage = b.path("storage")
	}
	p, err := b.host.Run(b.t.Context(), o)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) run(o Options) Result {
	b.t.Helper()
	r, err := b.start(o).Wait()
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// left is the chunk files that the storage still holds.
func (b *bench) left() int {
	names, err := filepath.Glob(b.path("storage/*/*.flb"))
	if err != nil {
		b.t.Fatal(err)
	}
	return len(names)
}

func TestBorder(t *testing.T) {
	on := border(t)
	t.Run("every kind of flush is answered OK or RETRY", func(t *testing.T) { answers(on(t)) })
	t.Run("the output sees the chunk and its file", func(t *testing.T) { sees(on(t)) })
	t.Run("Go never runs on a coroutine's stack", func(t *testing.T) { stacks(t, on) })
	t.Run("two outputs are apart", func(t *testing.T) { outputs(on(t)) })
	t.Run("mistakes in the configuration are all reported", func(t *testing.T) { mistakes(t, on) })
	t.Run("Daemon On is refused", func(t *testing.T) { daemon(on(t)) })
	t.Run("an exit without a start is fine", func(t *testing.T) { exitNull(on(t)) })
	t.Run("a hot reload exits the old and starts the new", func(t *testing.T) { reload(on(t)) })
	t.Run("the level is the output's own", func(t *testing.T) { levels(on(t)) })
	t.Run("many flushes at a time", func(t *testing.T) { many(on(t)) })
}

func answers(b *bench) {
	r := b.run(Options{
		Outputs: []Output{b.output("hdfs.0", "ok,retry,panic,error,7,5ms,ok", 2)},
		Chunks:  20, Retry: 10 * time.Millisecond,
	})
	s := r.Summary
	if r.Code != 0 || s.OK != 20 || s.Retry == 0 || s.Error != 0 || s.Other != 0 || s.Dropped != 0 || s.Deleted != 20 {
		b.t.Errorf("exit %d, answers %+v, want 20 OK, some RETRY and nothing else\n%s", r.Code, s.Summary, r.Log)
	}
	if !strings.Contains(r.Log, "asked for") {
		b.t.Errorf("the panic isn't in the log:\n%s", r.Log)
	}
}

func sees(b *bench) {
	r := b.run(Options{
		Outputs: []Output{b.output("hdfs.0", "retry,ok", 1), b.output("hdfs.1", "", 0)},
		Chunks:  1, Tags: []string{"kube.var.log 日志"}, Retry: time.Millisecond,
	})
	var chunk Event
	for _, e := range r.Events {
		if e.Event == "chunk" {
			chunk = e
		}
	}
	line := fmt.Sprintf("flush tag=kube.var.log 日志 size=%d file=%q engine=", chunk.Bytes, b.path("storage/host.0/"+chunk.Chunk))
	if got, want := b.seen("hdfs.0"), line+"false\n"+line+"false\nclose\n"; got != want {
		b.t.Errorf("with a worker the output saw\n%swant\n%s", got, want)
	}
	if got, want := b.seen("hdfs.1"), line+"true\nclose\n"; got != want {
		b.t.Errorf("without workers the output saw\n%swant\n%s", got, want)
	}
}

func stacks(t *testing.T, on func(*testing.T) *bench) {
	for _, size := range []int{64 << 10, 24 << 10} {
		for _, memory := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d bytes, memory %v", size, memory), func(t *testing.T) {
				b := on(t)
				r := b.run(Options{
					Outputs: []Output{b.output("hdfs.0", "ok,panic", 3), b.output("hdfs.1", "ok,retry", 0)},
					Chunks:  50, Stack: size, Memory: memory, Retry: time.Millisecond,
				})
				// The semaphore and the lock need a few hundred bytes, the
				// dynamic linker's first look-up of each some two thousand. A
				// call into Go would need more by itself.
				if r.Code != 0 || r.Summary.OK != 100 || r.Summary.StackBytes > 6<<10 {
					t.Errorf("exit %d, %d OK, %d bytes of stack, want 0, 100, and at most 6 KiB\n%s", r.Code, r.Summary.OK, r.Summary.StackBytes, r.Log)
				}
				if memory == strings.Contains(b.seen("hdfs.0"), ".flb") {
					t.Errorf("chunks in memory have no file, others have:\n%s", b.seen("hdfs.0"))
				}
			})
		}
	}
}

func outputs(b *bench) {
	r := b.run(Options{
		Outputs: []Output{b.output("fast", "ok", 2), b.output("slow", "20ms,retry,ok", 1)},
		Chunks:  10, Retry: time.Millisecond,
	})
	if r.Code != 0 || r.Summary.Deleted != 10 {
		b.t.Fatalf("exit %d, %d chunks deleted, want 10\n%s", r.Code, r.Summary.Deleted, r.Log)
	}
	if got := strings.Count(b.seen("fast"), "flush "); got != 10 {
		b.t.Errorf("the output that answers OK got %d flushes, want 10", got)
	}
	if got := strings.Count(b.seen("slow"), "flush "); got != 20 {
		b.t.Errorf("the output that answers RETRY first got %d flushes, want 20", got)
	}
}

func mistakes(t *testing.T, on func(*testing.T) *bench) {
	rows := []struct {
		name string
		fail string
		want []string
	}{
		{"two", "path: is required;format: xml is none of json, text", []string{"path: is required", "format: xml is none of json, text"}},
		{"a panic", "panic", []string{"this plugin has a bug and can't start: panic: asked for"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b := on(t)
			bad := b.output("bad", "", 0)
			bad.Set["fail"] = row.fail
			r := b.run(Options{Outputs: []Output{b.output("good", "", 1), bad}, Chunks: 1})
			if r.Code != 1 {
				t.Errorf("exit %d, want 1: a configuration with mistakes must not start", r.Code)
			}
			for _, want := range row.want {
				line := regexp.MustCompile(`(?m)^\[[^\]]+\] \[error\] \[output:hdfs:bad\] ` + regexp.QuoteMeta(want))
				if !line.MatchString(r.Log) {
					t.Errorf("no line says %q in\n%s", want, r.Log)
				}
			}
			if got := b.seen("good"); got != "close\n" {
				t.Errorf("the output that had started saw %q, want a close", got)
			}
		})
	}
}

func daemon(b *bench) {
	r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Chunks: 1, Daemon: true})
	if r.Code != 1 || !strings.Contains(r.Log, "Daemon off") {
		b.t.Errorf("exit %d, want 1 and a line that says `Daemon off`:\n%s", r.Code, r.Log)
	}
}

func exitNull(b *bench) {
	r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 0), b.output("hdfs.1", "", 1)}, ExitNull: true})
	if r.Code != 0 || r.Signal != 0 {
		b.t.Errorf("exit %d, signal %v, want 0\n%s", r.Code, r.Signal, r.Log)
	}
}

func reload(b *bench) {
	r := b.run(Options{
		Outputs: []Output{b.output("hdfs.0", "ok,2ms", 2), b.output("hdfs.1", "ok", 0)},
		Chunks:  30, ReloadAt: 10,
	})
	var life []string
	for _, e := range r.Events {
		if e.Event == "init" || e.Event == "exit" {
			life = append(life, e.Event+" "+e.Output)
		}
	}
	want := []string{"init hdfs.0", "init hdfs.1", "exit hdfs.0", "exit hdfs.1", "init hdfs.0", "init hdfs.1", "exit hdfs.0", "exit hdfs.1"}
	if r.Code != 0 || !slices.Equal(life, want) || r.Summary.Deleted != 30 || b.left() != 0 {
		b.t.Errorf("exit %d, life %v, %d chunks deleted, %d left\n%s", r.Code, life, r.Summary.Deleted, b.left(), r.Log)
	}
}

func levels(b *bench) {
	quiet, loud := b.output("quiet", "", 1), b.output("loud", "", 1)
	quiet.LogLevel, loud.LogLevel = 1, 4
	r := b.run(Options{Outputs: []Output{quiet, loud}, Chunks: 1})
	if strings.Contains(r.Log, "[output:hdfs:quiet]") || !strings.Contains(r.Log, "[debug] [output:hdfs:loud] opened") {
		b.t.Errorf("want debug lines of the one and none of the other:\n%s", r.Log)
	}
}

func many(b *bench) {
	var all []Output
	for i := range 4 {
		all = append(all, b.output(fmt.Sprintf("hdfs.%d", i), "ok,1ms,ok,retry", 4))
	}
	r := b.run(Options{Outputs: all, Chunks: 200, Records: 10, InFlight: 64, Retry: time.Millisecond, Stack: 24 << 10})
	if r.Code != 0 || r.Summary.OK != 800 || b.left() != 0 {
		b.t.Errorf("exit %d, %d OK, %d chunks left, want 0, 800, 0\n%s", r.Code, r.Summary.OK, b.left(), r.Log)
	}
}
