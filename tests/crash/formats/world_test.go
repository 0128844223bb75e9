// Package formats crashes the core within one process while it writes the
// formats that users have: whatever the operation on the disk or the target
// after which the process ends, whatever of the unsynced data survives and
// whichever format the next process is configured for, each record is once in
// a file that readers can read.
package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
	"github.com/out-hdfs/out_hdfs/tests/crash/ids"
)

// world is the agent's disk, the target, and what Fluent Bit knows.
type world struct {
	t      *testing.T
	disk   *crashdisk.Disk
	store  *memfs.Store
	inject faultfs.Injector // of the target; nil for none
	cfg    func(*sink.Config)

	mu      sync.Mutex
	targets []*faultfs.Driver // opened so far
	files   map[string]bool   // chunk files that exist
	owed    map[uint64]bool   // records that were accepted
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, disk: crashdisk.New(), store: memfs.New(memfs.Options{}),
		files: map[string]bool{}, owed: map[uint64]bool{},
	}
}

// byRecords rolls a part that has so many records, or after a minute.
type byRecords int64

func (p byRecords) RollOnEvent(i rolling.PartInfo) rolling.Reason {
	if i.Records >= int64(p) {
		return rolling.Size
	}
	return rolling.None
}

func (p byRecords) RollOnCheckpoint(rolling.PartInfo) rolling.Reason { return rolling.None }

func (p byRecords) RollOnTimer(i rolling.PartInfo, now time.Time) rolling.Reason {
	return rolling.Default{Interval: time.Minute}.RollOnTimer(i, now)
}

// byField puts a record into the bucket that its field "b" names.
type byField struct{ field *event.Accessor }

func (a byField) Bucket(e *event.Event, _ *assigner.Context) (string, error) {
	raw, ok := a.field.Lookup(e)
	if !ok {
		return "", fmt.Errorf("the record has no field %v", a.field)
	}
	text, _ := event.Text(raw)
	return string(text), nil
}

// open starts a process that writes a format. The error is the process's end.
func (w *world) open(f codec.Format) (*sink.Sink, error) {
	inject := w.inject
	if inject == nil {
		inject = faultfs.None()
	}
	c := sink.Config{
		Disk: w.disk, StateDir: "/state", Log: slog.New(slog.DiscardHandler), Owner: "test", WriterID: "w",
		Target: "mem://", Base: "/logs",
		OpenTarget: func(context.Context, string) (*fs.Client, error) {
			opened := faultfs.New(w.store.Driver(), inject)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.targets = append(w.targets, opened)
			return fs.NewClient(opened, fs.LimitOptions{}), nil
		},
		NewAssigner: func() assigner.Assigner { return byField{event.NewKey("b")} },
		Format:      f, Letters: sinktest.Letters{}, Policy: byRecords(12), PartPrefix: "part", PartSuffix: f.Extension(),
		BucketCheckInterval: 10 * time.Second, MaxOpenBuckets: 3,
		StateLimit: 4 << 20, Memory: sinktest.MemoryOf(1 << 20), SegmentSize: 16 << 10,
		Uploads: 2, Workers: 2, FlushTimeout: time.Second, ExitTimeout: 2 * time.Minute,
		Directories: sinktest.Directories{Exists: w.exists, Sync: w.syncFiles},
	}
	if w.cfg != nil {
		w.cfg(&c)
	}
	s, err := sink.Open(c)
	if err == nil {
		w.t.Cleanup(func() { _ = s.Close() }) // after a Fatal
	}
	return s, err
}

func (w *world) exists(chunkFile string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[chunkFile]
}

func (w *world) syncFiles() (paths []string, durable bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.files)), true
}

func fileOf(i int) chunkfile.File {
	return chunkfile.File{Dir: "/storage", Stream: "in", Name: fmt.Sprintf("1-%d.0.flb", i)}
}

// deliver flushes chunk i until it is accepted or the tries are over. Its file
// stays until acked.
func (w *world) deliver(s *sink.Sink, i, tries int) bool {
	data, records := chunkOf(i)
	w.mu.Lock()
	w.files[fileOf(i).Path()] = true
	w.mu.Unlock()
	for range tries {
		if s.Flush("tag", data, fileOf(i), sink.FlushOptions{}) == sink.OK {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, id := range records {
				w.owed[id] = true
			}
			return true
		}
		time.Sleep(time.Second)
	}
	return false
}

// acked deletes a chunk's file, as Fluent Bit does once it heard OK.
func (w *world) acked(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, fileOf(i).Path())
}

// pending reports whether Fluent Bit still has to deliver chunk i, as far as it
// knows.
func (w *world) pending(i int) bool {
	_, records := chunkOf(i)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[fileOf(i).Path()] || !w.owed[records[0]]
}

// land lets late operations take effect.
func (w *world) land() {
	w.mu.Lock()
	targets := slices.Clone(w.targets)
	w.mu.Unlock()
	for _, f := range targets {
		f.Land()
	}
}

// published counts the finished files by their names' ends, and the records in
// them by id. Faults are files that can't be read or shouldn't be there.
func (w *world) published() (files map[string]int, records map[uint64]int, faults []string) {
	files, records = map[string]int{}, map[uint64]int{}
	for _, f := range w.store.Files() {
		var in []uint64
		var err error
		switch name := path.Base(f.Path); {
		case strings.HasPrefix(name, "."):
			faults = append(faults, "a hidden file is left: "+f.Path)
			continue
		case strings.Contains(f.Path, "/"+sink.LettersDir+"/"):
			files["dead letters"]++
			in, err = idsOfLetters(f.Content)
		default:
			files[name[strings.IndexByte(name, '.'):]]++
			in, err = ids.Of(f.Path, f.Content)
		}
		if err != nil {
			faults = append(faults, err.Error())
		}
		for _, id := range in {
			records[id]++
		}
	}
	return files, records, faults
}

// check compares what was accepted with what was published.
func (w *world) check() []string {
	_, records, faults := w.published()
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.owed {
		if records[id] != 1 {
			faults = append(faults, fmt.Sprintf("record %d was published %d times", id, records[id]))
		}
	}
	for id, n := range records {
		if !w.owed[id] {
			faults = append(faults, fmt.Sprintf("record %d was published %d times and never accepted", id, n))
		}
	}
	slices.Sort(faults)
	return faults
}

func idsOfLetters(content []byte) (all []uint64, err error) {
	for line := range bytes.Lines(content) {
		var letter struct {
			Record struct{ ID *uint64 }
		}
		if err := json.Unmarshal(line, &letter); err != nil || letter.Record.ID == nil {
			return all, fmt.Errorf("no dead letter of a record with an id (%w): %s", err, line)
		}
		all = append(all, *letter.Record.ID)
	}
	return all, nil
}
