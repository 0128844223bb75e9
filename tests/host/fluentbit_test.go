package host

import (
	"os"
	"strings"
	"testing"
)

// The border holds on a real Fluent Bit too, where there is one.
func TestBorderOnFluentBit(t *testing.T) {
	if FluentBit() == "" {
		t.Log("no fluent-bit on PATH: the host stands in for it")
		return
	}
	on := border(t)
	t.Run("flushes are answered and redelivered", func(t *testing.T) { fluentBitDelivers(on(t)) })
	t.Run("Daemon On is refused", func(t *testing.T) { fluentBitDaemon(on(t)) })
	t.Run("mistakes end it", func(t *testing.T) { fluentBitMistakes(on(t)) })
}

func (b *bench) startFluentBit(o Options) *Process {
	b.t.Helper()
	o.Plugin, o.Storage = b.plugin, b.path("storage")
	p, err := RunFluentBit(b.t.Context(), b.dir, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func fluentBitDelivers(b *bench) {
	first, second := b.output("first", "retry,ok,ok", 2), b.output("second", "", 0)
	p := b.startFluentBit(Options{Outputs: []Output{first, second}, Chunks: 5})
	r, err := p.Wait()
	if err != nil || r.Code != 0 || b.left() != 0 {
		b.t.Fatalf("exit %d, %v, %d chunks left, want none\n%s", r.Code, err, b.left(), r.Log)
	}
	for name, want := range map[string][]string{
		"first":  {"tag=host.test", "storage/tail.0/", "engine=false", "close\n"},
		"second": {"tag=host.test", "storage/tail.0/", "engine=true", "close\n"},
	} {
		for _, w := range want {
			if seen := b.seen(name); !strings.Contains(seen, w) {
				b.t.Errorf("output %s saw nothing of %q:\n%s", name, w, seen)
			}
		}
	}
}

func fluentBitDaemon(b *bench) {
	o := Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Daemon: true}
	p := b.startFluentBit(o)
	if _, err := p.Wait(); err != nil {
		b.t.Fatal(err)
	}
	// The parent is gone and the child has closed its log: without one of its
	// own it leaves no trace but that nothing was opened.
	if _, err := os.Stat(b.path("hdfs.0")); !os.IsNotExist(err) {
		b.t.Errorf("the output was opened in a forked process (%v)", err)
	}
}

func fluentBitMistakes(b *bench) {
	bad := b.output("bad", "", 0)
	bad.Set["fail"] = "path: is required;format: xml is unknown"
	r, err := b.startFluentBit(Options{Outputs: []Output{bad}}).Wait()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, want := range []string{"[error] [output:hdfs:bad] path: is required", "[error] [output:hdfs:bad] format: xml is unknown"} {
		if !strings.Contains(r.Log, want) {
			b.t.Errorf("the log doesn't say %q:\n%s", want, r.Log)
		}
	}
	if r.Code == 0 {
		b.t.Error("Fluent Bit started with mistakes")
	}
}
