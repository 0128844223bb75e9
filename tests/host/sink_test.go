package host

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// run is one life of the agent in a scenario.
type run struct {
	name   string
	change func(o *Options)
	ends   syscall.Signal // what it must end by; 0 is a clean exit
}

func kill(at int) run {
	return run{"killed at answer " + strconv.Itoa(at), func(o *Options) { o.OnOK = fmt.Sprintf("kill@%d", at) }, syscall.SIGKILL}
}

func lose(at int) run {
	return run{"stopped without hearing from answer " + strconv.Itoa(at) + " on", func(o *Options) { o.OnOK = fmt.Sprintf("lose@%d", at) }, 0}
}

func whole(change func(o *Options)) run { return run{"whole", change, 0} }

func plain(*Options) {}

// The plugin as users have it, in processes that end in every way.
func TestSink(t *testing.T) {
	host, plugin := Build(t), Plugin(t)
	t.Run("exactly once over any lives", func(t *testing.T) { lives(t, host, plugin) })
	t.Run("two outputs are each exactly once", func(t *testing.T) { twoOutputs(t, host, plugin) })
	t.Run("chunks in memory are written once", func(t *testing.T) { inMemory(t, host, plugin) })
	t.Run("a terminated agent publishes what it answered", func(t *testing.T) { terminatedEarly(t, host, plugin) })
	t.Run("a target that hangs hinders no other output", func(t *testing.T) { hungTarget(t, host.Run, plugin) })
	t.Run("one state directory is one output's", func(t *testing.T) { sharedState(t, host, plugin) })
	if FluentBit() == "" {
		t.Log("no fluent-bit on PATH: the host stands in for it")
		return
	}
	t.Run("exactly once on Fluent Bit", func(t *testing.T) { onFluentBit(t, plugin) })
	t.Run("a target that hangs hinders no other output on Fluent Bit", func(t *testing.T) {
		dir := t.TempDir()
		hungTarget(t, func(ctx context.Context, o Options) (*Process, error) { return RunFluentBit(ctx, dir, o) }, plugin)
	})
}

// After any mix of lives that end well or badly, each record that was promised
// is in exactly one finished file, once. The last life of each row delivers
// what is left and stops cleanly.
func lives(t *testing.T, host Program, plugin string) {
	rows := []struct {
		name string
		base func(o *Options) // for every life
		runs []run
	}{
		{"one clean life", plain, []run{whole(plain)}},
		{"on the engine's thread", func(o *Options) { o.Outputs[0].Workers = 0 }, []run{whole(plain)}},
		{"small coroutine stacks", func(o *Options) { o.Stack = 24 << 10 }, []run{whole(plain)}},
		{"killed between the first answer and the chunk's deletion", plain, []run{kill(1)}},
		{"killed later", plain, []run{kill(7)}},
		{"killed again and again", plain, []run{kill(3), kill(1), lose(2), kill(9), kill(1), lose(1), kill(4)}},
		{"killed eight times before anything is finished", plain, []run{kill(1), kill(1), kill(1), kill(1), kill(2), kill(2), kill(2), kill(1)}},
		{"killed with many buckets open", func(o *Options) { o.Hours = 48 }, []run{kill(5), kill(4)}},
		{"killed while every chunk is rolled", func(o *Options) { o.Outputs[0].Set["rolling_policy"] = "on_checkpoint" }, []run{kill(8), kill(5), lose(3), kill(3)}},
		{"killed while parts are uploaded", func(o *Options) { o.Outputs[0].Set["roll_size"] = "20K" }, []run{kill(10), kill(11), lose(12), kill(13)}},
		{"answers that are never heard", plain, []run{lose(1), lose(4), lose(2)}},
		{"killed, then stopped, then killed", plain, []run{kill(2), lose(3), kill(5)}},
		{"a hot reload", plain, []run{whole(func(o *Options) { o.ReloadAt = 6 })}},
		{"a hot reload, and killed after it", plain, []run{{"reloaded and killed", func(o *Options) { o.ReloadAt, o.OnOK = 4, "kill@12" }, syscall.SIGKILL}}},
		{"one chunk at a time, killed", func(o *Options) { o.InFlight, o.Outputs[0].Workers = 1, 0 }, []run{kill(4), kill(4)}},
		{"the backlog first, killed", func(o *Options) { o.BacklogFirst = true }, []run{kill(6), kill(6)}},
		{"the configuration changes between lives", plain, []run{
			kill(5),
			{"other buckets, killed", func(o *Options) { o.Outputs[0].Set["bucket_format"], o.OnOK = "yyyy/MM/dd", "kill@5" }, syscall.SIGKILL},
			{"no buckets, stopped", func(o *Options) { o.Outputs[0].Set["assigner"], o.OnOK = "base_path", "lose@5" }, 0},
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			var l Ledger
			id := uint64(1)
			for i, r := range append(row.runs, whole(func(o *Options) { o.Chunks = 3 })) {
				o := Options{
					Plugin: plugin, Storage: filepath.Join(dir, "storage"),
					Outputs: []Output{fileOutput(dir, "hdfs.0")},
					Chunks:  16, Records: 50, Hours: 3, FirstID: id, Retry: 10 * time.Millisecond,
				}
				row.base(&o)
				r.change(&o)
				id += uint64(o.Chunks * o.Records)
				p, err := host.Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Wait()
				if err != nil || got.Signal != r.ends || got.Signal == 0 && got.Code != 0 {
					t.Fatalf("life %d, %s: exit %d, signal %v, %v\n%s", i, r.name, got.Code, got.Signal, err, got.Log)
				}
				l.Add(got.Events)
			}
			if len(l.Promised("hdfs.0")) != len(l.Sent()) {
				t.Errorf("%d of %d records are promised, want all after the last life", len(l.Promised("hdfs.0")), len(l.Sent()))
			}
			check(t, filepath.Join(dir, "hdfs.0"), l.Sent(), l.Promised("hdfs.0"))
		})
	}
}

// fileOutput writes JSON lines below dir.
func fileOutput(dir, name string) Output {
	return Output{Name: name, Workers: 3, Set: map[string]string{
		"path":      "file://" + filepath.Join(dir, name),
		"state_dir": filepath.Join(dir, name+".state"),
		// The journal's segments are allocated ahead, and a test has many.
		"state_limit": "256M",
	}}
}

func check(t *testing.T, dir string, sent, promised []uint64) {
	t.Helper()
	written, err := Written(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := ExactlyOnce(sent, promised, written); err != nil {
		t.Error(err)
	}
}

// Two outputs of one plugin each keep their own promise, in one process, also
// when it is killed and though one of them heard of a chunk before the other.
func twoOutputs(t *testing.T, host Program, plugin string) {
	dir := t.TempDir()
	var l Ledger
	for i, on := range []string{"kill@5", "kill@9", "lose@7", ""} {
		first, second := fileOutput(dir, "first"), fileOutput(dir, "second")
		second.Set["bucket_format"], second.Workers = "yyyy-MM-dd", 1
		p, err := host.Run(t.Context(), Options{
			Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{first, second},
			Chunks: 10, Records: 50, Hours: 3, FirstID: uint64(1 + 500*i), OnOK: on,
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait()
		if err != nil {
			t.Fatal(err)
		}
		l.Add(r.Events)
	}
	for _, name := range []string{"first", "second"} {
		if len(l.Promised(name)) != len(l.Sent()) {
			t.Errorf("output %s promised %d of %d records, want all in the end", name, len(l.Promised(name)), len(l.Sent()))
		}
		check(t, filepath.Join(dir, name), l.Sent(), l.Promised(name))
	}
}

// Chunks in memory have no identity, but without a restart none is written twice.
func inMemory(t *testing.T, host Program, plugin string) {
	dir := t.TempDir()
	p, err := host.Run(t.Context(), Options{
		Plugin: plugin, Memory: true, Outputs: []Output{fileOutput(dir, "hdfs.0")}, Chunks: 20, Records: 50, Hours: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 {
		t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
	var l Ledger
	l.Add(r.Events)
	check(t, filepath.Join(dir, "hdfs.0"), l.Sent(), l.Sent())
}

// SIGTERM in the middle: what was answered is published before the process ends.
func terminatedEarly(t *testing.T, host Program, plugin string) {
	dir := t.TempDir()
	p, err := host.Run(t.Context(), Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{fileOutput(dir, "hdfs.0")},
		Chunks: 100000, Records: 20, Hours: 3, Rate: 2 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = p.WaitFor(t.Context(), func(events []Event) bool {
		var l Ledger
		l.Add(events)
		return len(l.Promised("hdfs.0")) >= 500
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Terminate(); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 {
		t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
	var l Ledger
	l.Add(r.Events)
	check(t, filepath.Join(dir, "hdfs.0"), l.Sent(), l.Promised("hdfs.0"))
}

// One output's NameNode takes connections and never answers. Its chunks are
// accepted all the same, the other output's are published, and the process ends.
func hungTarget(t *testing.T, run func(context.Context, Options) (*Process, error), plugin string) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	dir := t.TempDir()
	hung, fine := fileOutput(dir, "hdfs.0"), fileOutput(dir, "hdfs.1")
	hung.Set["path"], hung.Set["hdfs_user"], hung.Set["exit_timeout"] = "hdfs://"+deaf.Addr().String()+"/logs", "alice", "1s"
	hung.Set["rolling_policy"], fine.Set["rolling_policy"] = "on_checkpoint", "on_checkpoint"
	p, err := run(t.Context(), Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{hung, fine}, Chunks: 20, Records: 50, Hours: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 {
		t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
	if !strings.Contains(r.Log, "exit_timeout passed before everything was published") {
		t.Errorf("the one output didn't hang:\n%s", r.Log)
	}
	var all []uint64
	for id := range uint64(20 * 50) {
		all = append(all, id+1)
	}
	check(t, filepath.Join(dir, "hdfs.1"), all, all)
}

// A second output with the same state directory would ruin the first's.
func sharedState(t *testing.T, host Program, plugin string) {
	dir := t.TempDir()
	first, second := fileOutput(dir, "first"), fileOutput(dir, "second")
	second.Set["state_dir"] = first.Set["state_dir"]
	p, err := host.Run(t.Context(), Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{first, second}, Chunks: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 1 {
		t.Errorf("exit %d, %v, want 1: the second output can't start\n%s", r.Code, err, r.Log)
	}
}

// The same outputs on a real Fluent Bit.
func onFluentBit(t *testing.T, plugin string) {
	dir := t.TempDir()
	o := Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"),
		Outputs: []Output{fileOutput(dir, "hdfs.0"), fileOutput(dir, "hdfs.1")}, Chunks: 20, Records: 50, Hours: 3,
	}
	o.Outputs[1].Workers = 0
	var sent []uint64
	for life := range 2 {
		o.FirstID = uint64(1 + 1000*life)
		for id := range uint64(1000) {
			sent = append(sent, o.FirstID+id)
		}
		p, err := RunFluentBit(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Wait(); err != nil || r.Code != 0 {
			t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
		}
	}
	check(t, filepath.Join(dir, "hdfs.0"), sent, sent)
	check(t, filepath.Join(dir, "hdfs.1"), sent, sent)
}
