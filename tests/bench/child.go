package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// job is one measurement.
type job struct {
	What     string // plain, sink, client, encode, open, or a rival's name
	Label    string
	Files    []string // the chunks, taken in turn
	Work     string   // a folder of its own
	Keep     string   // the folder's name, if another job needs it
	Chunks   int
	Flushers int
	Rate     float64 // MB/s; 0 is as fast as it goes
	Buckets  int
	// MemoryLimit is memory_limit.
	MemoryLimit string
	Away        bool   // the target is away for the first half
	Abandon     bool   // leave everything unfinished; with Away nothing is published before
	Format      string // what to encode, and how it is compressed
	Compression string
	Rival       string // whose files are open instead of ours
	Profile     string // write a CPU profile there
	Path        string // where the sink or the client writes; a local folder if empty
	ConfDir     string // of the HDFS of Path; for a client the NameNode's address
}

// result is what came of it. Times are seconds, or milliseconds for flushes.
type result struct {
	Bytes     float64
	Opened    float64 // until the sink was open
	Flushed   float64 // until the last flush was answered
	Published float64 // until everything was published
	CPU       float64
	Kernel    float64
	P50       float64
	P99       float64
	Max       float64
	PeakMB    float64
	Out       float64 // bytes of the files
	Held      float64 // the most that writers said they hold, in bytes
	Groups    float64 // row groups a file
}

func (r result) mbps(seconds float64) float64 {
	if r.Bytes == 0 || seconds == 0 {
		return 0
	}
	return r.Bytes / 1e6 / seconds
}

func (r result) perGB(seconds float64) float64 { return seconds / r.Bytes * 1e9 }

// add takes over the CPU time between two moments.
func (r *result) add(before, after times) {
	r.CPU, r.Kernel = after.user+after.kernel-before.user-before.kernel, after.kernel-before.kernel
}

// target takes chunks.
type target interface {
	flush(data []byte) error
	finish() error
}

func child(task string) error {
	var j job
	if err := json.Unmarshal([]byte(task), &j); err != nil {
		return err
	}
	runtime.GC()
	peak := watchMemory()
	if j.Profile != "" {
		f, err := os.Create(j.Profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	before, start := cpu(), time.Now()
	if j.What == "client" {
		bytes, err := writeFiles(j)
		if err != nil {
			return err
		}
		r := result{Bytes: float64(bytes), Published: time.Since(start).Seconds(), PeakMB: float64(peak()) / 1e6}
		r.add(before, cpu())
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	if j.What == "open" {
		r, err := openFiles(j)
		if err != nil {
			return err
		}
		r.PeakMB = float64(peak()) / 1e6
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	if j.What != "plain" && j.What != "sink" {
		r, err := encode(j)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	t, err := open(j)
	if err != nil {
		return err
	}
	r := result{Opened: time.Since(start).Seconds()}
	flushes, bytes, err := j.send(t)
	if err != nil {
		return err
	}
	r.Bytes, r.Flushed = float64(bytes), time.Since(start).Seconds()
	if j.Abandon {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	if err := t.finish(); err != nil {
		return err
	}
	r.Published = time.Since(start).Seconds()
	r.add(before, cpu())
	r.PeakMB = float64(peak()) / 1e6
	if n := len(flushes); n > 0 {
		slices.Sort(flushes)
		ms := func(i int) float64 { return flushes[i].Seconds() * 1000 }
		r.P50, r.P99, r.Max = ms(n/2), ms(n*99/100), ms(n-1)
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func open(j job) (target, error) {
	if j.What == "plain" {
		f, err := os.Create(filepath.Join(j.Work, "plain"))
		return &plain{f: f}, err
	}
	values := map[string]string{
		"path": "file://" + j.Work + "/out", "state_dir": j.Work + "/state", "exit_timeout": "10m",
		"bucket_timezone": "UTC", "bucket_format": "yyyy-MM-dd--HH-mm", "state_limit": "20G",
	}
	if j.Path != "" {
		values["path"], values["hadoop_conf_dir"], values["hdfs_user"] = j.Path, j.ConfDir, hdfs.Superuser
	}
	if j.MemoryLimit != "" {
		values["memory_limit"] = j.MemoryLimit
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	if j.Away {
		// A file where the base path should be: every upload fails.
		log = slog.New(slog.DiscardHandler)
		if err := os.WriteFile(j.Work+"/out", nil, 0o600); err != nil {
			return nil, err
		}
	} else if at, err := os.Stat(j.Work + "/out"); err == nil && at.Mode().IsRegular() {
		// A job before this one left everything unfinished.
		if err := os.Remove(j.Work + "/out"); err != nil {
			return nil, err
		}
	}
	s, err := instance.Open(conf.Map(values), instance.System{
		Log: log, Registry: instance.NewRegistry(), Getenv: os.Getenv, Owner: "bench",
	})
	if err != nil {
		return nil, err
	}
	finder, err := chunkfile.Open()
	return &plugin{s, finder}, err
}

// plain is the least: each chunk written and synced.
type plain struct {
	mu sync.Mutex
	f  *os.File
}

func (p *plain) flush(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.f.Write(data); err != nil {
		return err
	}
	return unix.Fdatasync(int(p.f.Fd()))
}

func (p *plain) finish() error { return p.f.Close() }

type plugin struct {
	s      *instance.Instance
	finder *chunkfile.Finder
}

func (p *plugin) flush(data []byte) error {
	file, err := p.finder.Find(data)
	if err != nil {
		return err
	}
	for p.s.Flush("bench", data, file, sink.FlushOptions{}) != sink.OK {
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (p *plugin) finish() error { return p.s.Close() }

// send delivers the chunks as Fluent Bit does: each in a mapped file of its
// own, which is unmapped and deleted after the answer.
func (j job) send(t target) (flushes []time.Duration, bytes int64, err error) {
	var (
		next  atomic.Int64
		mu    sync.Mutex
		group sync.WaitGroup
	)
	start := time.Now()
	for range j.Flushers {
		group.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= j.Chunks {
					return
				}
				if j.Away && !j.Abandon && n == j.Chunks/2 {
					_ = os.Remove(j.Work + "/out")
				}
				took, size, e := j.sendOne(t, n, start)
				mu.Lock()
				flushes, bytes = append(flushes, took), bytes+size
				if err == nil {
					err = e
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return flushes, bytes, err
}

func (j job) sendOne(t target, n int, start time.Time) (took time.Duration, size int64, err error) {
	name := filepath.Join(j.Work, "storage", "bench.0", fmt.Sprintf("1-%d.%d.flb", n, n))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, 0, err
	}
	if err := os.Link(j.Files[n%len(j.Files)], name); err != nil {
		return 0, 0, err
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, 0, err
	}
	if j.Rate > 0 {
		time.Sleep(time.Until(start.Add(time.Duration(float64(n) * float64(st.Size()) / j.Rate / 1e6 * 1e9))))
	}
	began := time.Now()
	if err := t.flush(data); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	if err := unix.Munmap(data); err != nil {
		return 0, 0, err
	}
	return took, st.Size(), os.Remove(name)
}

type times struct{ user, kernel float64 }

func cpu() times { return cpuOf(unix.RUSAGE_SELF) }

func cpuOf(who int) times {
	var ru unix.Rusage
	if err := unix.Getrusage(who, &ru); err != nil {
		return times{}
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return times{seconds(ru.Utime), seconds(ru.Stime)}
}

// watchMemory samples the process's own memory: anonymous pages, since the
// chunks' mapped files are Fluent Bit's.
func watchMemory() (peak func() int64) {
	var most atomic.Int64
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			most.Store(max(most.Load(), anonymous()))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most.Load()
	}
}

// anonymous is RssAnon of /proc/self/status, in bytes.
func anonymous() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kb * 1024
}
