// Package host runs the plugin in a process that treats it as Fluent Bit does.
//
// Build compiles a small C program (csrc) that loads out_hdfs.so, initialises
// outputs on a second thread, flushes mapped chunk files on small coroutine
// stacks, retries, restarts with what its storage holds, reloads and exits,
// and that can be killed at the moments that matter. It reports every answer
// it hears, so that a Ledger knows what the plugin promised. RunFluentBit runs
// the same outputs on a real fluent-bit.
//
// The program's chunk files are named and mapped as Fluent Bit's, but what
// stands before their content is its own: the two can't read each other's.
package host

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

//go:embed csrc
var source embed.FS

// Output is an [OUTPUT] section. Its plugin is hdfs.
type Output struct {
	Name       string            // as in the log; hdfs.<n> if empty
	Set        map[string]string // the plugin's keys
	Workers    int               // 0 flushes on the engine's thread
	RetryLimit int               // deliveries after the first; 0 for no limit
	LogLevel   int               // 1 error to 5 trace; 0 for info
}

// Options is what a run does. The zero value of a field is its default.
type Options struct {
	Plugin  string // the .so, see Plugin
	Storage string // the folder of the chunk files, kept from run to run
	Memory  bool   // chunks in memory instead: no identity, and lost at the end
	Outputs []Output
	Stack   int // bytes of a coroutine's stack: 64 KiB, and 24 KiB before 5.1

	// The records that are made: Chunks times Records, with ids that count up
	// from FirstID and times that go round over Hours from Start on.
	Chunks     int
	Records    int // of a chunk: 100
	RecordSize int // bytes of filling in each: 200
	Hours      int
	FirstID    uint64 // 1
	Start      time.Time
	Tags       []string // one after the other, chunk by chunk: host.test

	// Input is a file of JSON lines to send instead, Records to a chunk, with
	// the time in TimeKey ("date").
	Input   string
	TimeKey string

	// Raw is a file of chunks to send as they are, see WriteRaw. They are
	// flushed in their order if InFlight is 1.
	Raw string

	Rate         float64       // bytes a second at most
	InFlight     int           // chunks that are live at most: 16
	Retry        time.Duration // before the first redelivery, doubling: 100ms
	Grace        time.Duration // for what is under way at SIGTERM: 5s
	Linger       time.Duration // stay after everything was delivered
	BacklogFirst bool          // deliver what a former run left before new chunks

	// OnOK is kill@N, stop@N or lose@N: at the Nth answer OK, before the chunk
	// is deleted, the process kills or stops itself, or never hears that answer
	// or a later one and shuts down.
	OnOK     string
	ReloadAt int  // answers OK before one hot reload
	ExitNull bool // register, exit without Init, and end
	Daemon   bool // fork after the plugin was loaded
	Files    int  // that the process may have open, soft and hard limit; as its parent if 0
}

// Program is the compiled host.
type Program string

// Build is Compile for a test.
func Build(t testing.TB) Program {
	t.Helper()
	p, err := Compile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Compile compiles the host, or takes what was compiled before of the same
// source. It asks for a C compiler called cc. dir is an empty folder that lives
// as long as the program is needed.
func Compile(dir string) (Program, error) {
	names, err := fs.Glob(source, "csrc/*")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	var files []string
	for _, name := range names {
		content, err := source.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return "", err
		}
		if filepath.Ext(path) == ".c" {
			files = append(files, path)
		}
	}
	kept := filepath.Join(os.TempDir(), fmt.Sprintf("out_hdfs-host-%d-%s", os.Getuid(), hex.EncodeToString(sum.Sum(nil)[:8])))
	if _, err := os.Stat(kept); err == nil {
		return Program(kept), nil
	}
	program := filepath.Join(dir, "host")
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-rdynamic", "-o", program}, files...)
	if out, err := exec.Command("cc", append(args, "-lpthread", "-ldl")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the host: %w\n%s", err, out)
	}
	if err := os.Rename(program, kept); err == nil {
		return Program(kept), nil
	}
	return Program(program), nil // the temporary folder is on another disk
}

// module is the plugin's main package, and what the others' paths begin with.
const module = "github.com/out-hdfs/out_hdfs"

// Plugin is CompilePlugin for a test.
func Plugin(t testing.TB) string { return compiled(t, module) }

func compiled(t testing.TB, mainPackage string) string {
	t.Helper()
	path, err := compile(t.TempDir(), mainPackage)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// CompilePlugin builds out_hdfs.so of this module in dir.
func CompilePlugin(dir string) (string, error) { return compile(dir, module) }

// compile builds a plugin's main package with the flags of `make`, so that what
// both compile is shared.
func compile(dir, mainPackage string) (string, error) {
	path := filepath.Join(dir, "out_hdfs.so")
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-o", path, mainPackage)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugin: %w\n%s", err, out)
	}
	return path, nil
}

// Run starts the host. The process is killed when ctx ends.
func (p Program) Run(ctx context.Context, o Options) (*Process, error) {
	return start(exec.CommandContext(ctx, string(p), o.args()...))
}

// args are the host's command line.
func (o Options) args() []string {
	var a []string
	text := func(name, value string) {
		if value != "" {
			a = append(a, "--"+name, value)
		}
	}
	number := func(name string, value uint64) {
		if value != 0 {
			text(name, strconv.FormatUint(value, 10))
		}
	}
	seconds := func(name string, value time.Duration) {
		if value != 0 {
			text(name, strconv.FormatFloat(value.Seconds(), 'f', -1, 64))
		}
	}
	flag := func(name string, value bool) {
		if value {
			a = append(a, "--"+name)
		}
	}
	text("plugin", o.Plugin)
	text("storage", o.Storage)
	flag("memory", o.Memory)
	for i, out := range o.Outputs {
		a = append(a, out.args(i)...)
	}
	number("stack", uint64(o.Stack))
	number("chunks", uint64(o.Chunks))
	number("records", uint64(o.Records))
	number("record-size", uint64(o.RecordSize))
	number("hours", uint64(o.Hours))
	number("first-id", o.FirstID)
	if !o.Start.IsZero() {
		number("start", uint64(o.Start.Unix()))
	}
	for _, tag := range o.Tags {
		text("tag", tag)
	}
	text("input", o.Input)
	text("time-key", o.TimeKey)
	text("raw", o.Raw)
	if o.Rate > 0 {
		text("rate", strconv.FormatFloat(o.Rate, 'f', -1, 64))
	}
	number("in-flight", uint64(o.InFlight))
	seconds("retry", o.Retry)
	seconds("grace", o.Grace)
	seconds("linger", o.Linger)
	flag("backlog-first", o.BacklogFirst)
	text("on-ok", o.OnOK)
	number("reload-at", uint64(o.ReloadAt))
	flag("exit-null", o.ExitNull)
	flag("daemon", o.Daemon)
	number("files", uint64(o.Files))
	return a
}

// name is what the output at an index of Options.Outputs is called.
func (o Output) name(index int) string {
	if o.Name == "" {
		return "hdfs." + strconv.Itoa(index)
	}
	return o.Name
}

func (o Output) args(index int) []string {
	a := []string{"--output", o.name(index)}
	for _, key := range slices.Sorted(maps.Keys(o.Set)) {
		a = append(a, "--set", key+"="+o.Set[key])
	}
	if o.Workers > 0 {
		a = append(a, "--workers", strconv.Itoa(o.Workers))
	}
	if o.RetryLimit > 0 {
		a = append(a, "--retry-limit", strconv.Itoa(o.RetryLimit))
	}
	if o.LogLevel > 0 {
		a = append(a, "--log-level", strconv.Itoa(o.LogLevel))
	}
	return a
}
