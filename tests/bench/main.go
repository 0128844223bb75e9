// Command bench measures the plugin's sink beside the least that the same disk
// can do with the same bytes: a plain write and fdatasync of each chunk; the
// formats beside the nearest public encoders in Go; and on a real HDFS, where
// there are Java and Maven, the sink beside Hadoop's own copy of what it wrote.
//
// Each measurement runs in a process of its own, so that its CPU time and
// memory are its own, and takes its chunks from mapped files as Fluent Bit
// hands them over. Everything of one run is printed in one table: compare its
// rows with each other, not with another run's.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

func main() {
	var (
		dir  = flag.String("dir", "", "a folder on the disk to measure; a temporary one if empty")
		size = flag.Int("mb", 1000, "MB of chunks for the throughput rows")
		only = flag.String("only", "", "run this measurement alone")
		prof = flag.String("profile", "", "write the CPU profile of each sink's process to this name and its number")
		job  = flag.String("job", "", "a job as JSON; for the processes that this one starts")
	)
	flag.Parse()
	if err := run(*dir, *size, *only, *prof, *job); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(dir string, mb int, only, profile, task string) error {
	if task != "" {
		return child(task)
	}
	if dir == "" {
		temp, err := os.MkdirTemp("", "out_hdfs-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	b := &bench{dir: dir, only: only, profile: profile}
	if err := b.makeChunks(); err != nil {
		return err
	}
	fmt.Printf("chunks of %d bytes, %d records each, %d MB a throughput row\n\n", b.chunkBytes, recordsPerChunk, mb)
	steps := []func(int) error{b.throughput, b.latency, b.memory, b.recovery, b.formats, b.openBuckets, b.hdfs}
	for _, step := range steps {
		if err := step(mb); err != nil {
			return err
		}
	}
	return nil
}

// recordsPerChunk makes chunks of about 2 MB, Fluent Bit's limit.
const recordsPerChunk = 4400

// distinctChunks is how many different chunks there are; more only cost disk.
const distinctChunks = 8

type bench struct {
	dir        string
	only       string
	profile    string
	chunkBytes int
	jobs       int
}

// makeChunks writes the chunks: the same records once all in one minute, once
// spread over 200 minutes.
func (b *bench) makeChunks() error {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, kind := range []string{"one", "many"} {
		for c := range distinctChunks {
			var data []byte
			for i := range recordsPerChunk {
				n := c*recordsPerChunk + i
				at := start.Add(time.Duration(n%1000) * time.Millisecond)
				if kind == "many" {
					at = start.Add(time.Duration(i%200) * time.Minute)
				}
				data = eventtest.Append(data, eventtest.KubernetesEvent(n, at))
			}
			if err := os.WriteFile(b.chunk(kind, c), data, 0o600); err != nil {
				return err
			}
			b.chunkBytes = len(data)
		}
	}
	return nil
}

func (b *bench) chunk(kind string, n int) string {
	return filepath.Join(b.dir, fmt.Sprintf("chunk-%s-%d", kind, n))
}

// chunksOf is the number of chunks in mb megabytes.
func (b *bench) chunksOf(mb int) int { return max(1, mb*1_000_000/b.chunkBytes) }

// run runs a job in a process of its own.
func (b *bench) run(j job) (result, error) {
	b.jobs++
	j.Work = filepath.Join(b.dir, fmt.Sprintf("job-%d", b.jobs))
	if b.profile != "" && j.What == "sink" {
		j.Profile = fmt.Sprintf("%s-%d", b.profile, b.jobs)
	}
	if j.Keep != "" {
		j.Work = filepath.Join(b.dir, j.Keep)
	}
	for c := range distinctChunks {
		kind := "one"
		if j.Buckets > 1 {
			kind = "many"
		}
		if j.What != "client" {
			j.Files = append(j.Files, b.chunk(kind, c))
		}
	}
	if err := os.MkdirAll(j.Work, 0o700); err != nil {
		return result{}, err
	}
	task, err := json.Marshal(j)
	if err != nil {
		return result{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	cmd := exec.Command(self, "-job", string(task))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", j.What, err)
	}
	if j.Keep == "" {
		if err := os.RemoveAll(j.Work); err != nil {
			return result{}, err
		}
	}
	var r result
	return r, json.Unmarshal(out, &r)
}

func (b *bench) wants(name string) bool { return b.only == "" || b.only == name }

// throughput compares whole runs at full speed.
func (b *bench) throughput(mb int) error {
	if !b.wants("throughput") {
		return nil
	}
	w := table("full speed, two flushes at a time", "MB/s flushed", "MB/s published", "records/s", "CPU s/GB", "of it kernel", "peak MB")
	for _, j := range []job{
		{What: "plain", Label: "write + fdatasync", Chunks: b.chunksOf(mb), Flushers: 2},
		{What: "sink", Label: "json, 1 bucket", Chunks: b.chunksOf(mb), Flushers: 2},
		{What: "sink", Label: "json, 200 buckets", Chunks: b.chunksOf(mb), Flushers: 2, Buckets: 200},
	} {
		r, err := b.run(j)
		if err != nil {
			return err
		}
		records := float64(j.Chunks*recordsPerChunk) / r.Published
		if j.What == "plain" {
			records = 0
		}
		row(w, j.Label, r.mbps(r.Flushed), r.mbps(r.Published), records, r.perGB(r.CPU), r.perGB(r.Kernel), r.PeakMB)
	}
	return w.Flush()
}

// latency compares single flushes at a steady 50 MB/s.
func (b *bench) latency(mb int) error {
	if !b.wants("latency") {
		return nil
	}
	const rate = 50
	w := table(fmt.Sprintf("steady %d MB/s, one flush at a time", rate), "p50 ms", "p99 ms", "max ms", "CPU s/GB", "peak MB")
	for _, j := range []job{
		{What: "plain", Label: "write + fdatasync"},
		{What: "sink", Label: "json, 1 bucket"},
		{What: "sink", Label: "json, 200 buckets", Buckets: 200},
		{What: "plain", Label: "write + fdatasync, again"},
	} {
		j.Chunks, j.Flushers, j.Rate = b.chunksOf(max(mb, 500)), 1, rate
		r, err := b.run(j)
		if err != nil {
			return err
		}
		row(w, j.Label, r.P50, r.P99, r.Max, r.perGB(r.CPU), r.PeakMB)
	}
	return w.Flush()
}

// memory fills the journal while the target is away.
func (b *bench) memory(int) error {
	if !b.wants("memory") {
		return nil
	}
	w := table("500 chunks while the target is away for half of them, memory_limit 64M", "peak MB", "MB/s published")
	r, err := b.run(job{What: "sink", Label: "json, 1 bucket", Chunks: 500, Flushers: 2, MemoryLimit: "64M", Away: true})
	if err != nil {
		return err
	}
	row(w, "json, 1 bucket", r.PeakMB, r.mbps(r.Published))
	return w.Flush()
}

// recovery measures how long a start takes to publish what was unfinished.
func (b *bench) recovery(int) error {
	if !b.wants("recovery") {
		return nil
	}
	w := table("start with unfinished chunks", "s to open", "s to published", "s/GB", "peak MB")
	for _, mb := range []int{10, 100, 1000} {
		keep := fmt.Sprintf("recovery-%d", mb)
		if _, err := b.run(job{What: "sink", Chunks: b.chunksOf(mb), Flushers: 2, Away: true, Abandon: true, Keep: keep}); err != nil {
			return err
		}
		r, err := b.run(job{What: "sink", Label: keep, Keep: keep})
		if err != nil {
			return err
		}
		row(w, fmt.Sprintf("%d MB", mb), r.Opened, r.Published, r.Published/float64(mb)*1000, r.PeakMB)
		if err := os.RemoveAll(filepath.Join(b.dir, keep)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func table(title string, columns ...string) *tabwriter.Writer {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t", title)
	for _, c := range columns {
		fmt.Fprintf(w, "%s\t", c)
	}
	fmt.Fprintln(w)
	return w
}

func row(w io.Writer, label string, values ...float64) {
	fmt.Fprintf(w, "%s\t", label)
	for _, v := range values {
		switch {
		case v == 0:
			fmt.Fprint(w, "\t")
		case v >= 1000:
			fmt.Fprintf(w, "%.0f\t", v)
		default:
			fmt.Fprintf(w, "%.2f\t", v)
		}
	}
	fmt.Fprintln(w)
}
