package sink_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/deadletter"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	codecjson "github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// byKey puts an event into the bucket that its field "b" names.
type byKey struct{ key *event.Accessor }

func newByKey() assigner.Assigner { return &byKey{event.NewKey("b")} }

var errNoBucket = errors.New("the record has no field b")

func (a *byKey) Bucket(e *event.Event, _ *assigner.Context) (string, error) {
	raw, ok := a.key.Lookup(e)
	if !ok {
		return "", errNoBucket
	}
	text, _ := event.Text(raw)
	if string(text) == "panic" {
		panic("the assigner can't stand this record")
	}
	return string(text), nil
}

// letters are the real dead letters.
type letters struct{}

func (letters) Bucket(at time.Time) string { return "_dead_letters/" + at.UTC().Format("2006-01-02") }
func (letters) Suffix() string             { return ".json" }
func (letters) Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte {
	return deadletter.Append(dst, deadletter.FromEvent(e, reason, b.Tag, b.Arrival))
}

// streaming hides that a format can encode blocks, as a bulk format can't.
type streaming struct{ codec.Format }

// bySize is a policy that rolls a part at a number of bytes.
type bySize struct{ size int64 }

func (p bySize) RollOnEvent(i rolling.PartInfo) bool    { return i.Size >= p.size }
func (p bySize) RollOnCheckpoint(rolling.PartInfo) bool { return false }
func (p bySize) RollOnTimer(i rolling.PartInfo, now time.Time) bool {
	return now.Sub(i.FirstWrite) >= time.Minute
}

// world is the agent's disk, the target, and what Fluent Bit knows.
type world struct {
	t      *testing.T
	disk   *crashdisk.Disk
	store  *memfs.Store
	inject faultfs.Injector // nil for none
	log    *slog.Logger
	cfg    func(*sink.Config) // changes to the usual configuration

	mu    sync.Mutex
	files map[string]bool // chunk files that exist
	owed  map[string]int  // records that must be in finished files, and how often
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, disk: crashdisk.New(), store: memfs.New(memfs.Options{}), log: slog.New(slog.DiscardHandler),
		files: map[string]bool{}, owed: map[string]int{},
	}
}

func (w *world) config() sink.Config {
	inject := w.inject
	c := sink.Config{
		Disk: w.disk, StateDir: "/state", Log: w.log, Owner: "test", WriterID: "w",
		Target: "mem://", Base: "/logs",
		OpenTarget: func(context.Context, string) (fs.FileSystem, error) {
			if inject != nil {
				return faultfs.New(w.store.Client(), inject), nil
			}
			return w.store.Client(), nil
		},
		NewAssigner: newByKey, Format: codecjson.New(codecjson.Options{}), Letters: letters{},
		Policy: bySize{1500}, PartPrefix: "part", PartSuffix: ".json",
		BucketCheckInterval: 10 * time.Second, MaxOpenBuckets: 4,
		StateLimit: 1 << 20, MemoryLimit: 64 << 10, SegmentSize: 8 << 10,
		Uploads: 2, Workers: 2, FlushTimeout: time.Second, ExitTimeout: 10 * time.Minute,
		ChunkFiles: w.list,
	}
	if w.cfg != nil {
		w.cfg(&c)
	}
	return c
}

func (w *world) open() *sink.Sink {
	w.t.Helper()
	s, err := sink.Open(w.config())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) list(dir string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for f := range w.files {
		if path.Dir(f) == dir {
			names = append(names, path.Base(f))
		}
	}
	return names, nil
}

// testChunk is chunk i: records for three buckets, one without a bucket and one
// that is no log event, and for every third chunk an undecodable end.
type testChunk struct {
	data []byte
	ids  []string
	file chunkfile.File
}

func chunkOf(i int) testChunk {
	c := testChunk{file: chunkfile.File{Dir: "/storage", Stream: "in", Name: fmt.Sprintf("1-%d.0.flb", i)}}
	add := func(v any, id string) {
		c.data = eventtest.Append(c.data, v)
		c.ids = append(c.ids, id)
	}
	at := eventtest.EventTime(uint32(1_700_000_000+i), 0)
	for r := range 9 {
		id := fmt.Sprintf("c%d-r%d", i, r)
		body := eventtest.Map{"id", id, "b", fmt.Sprintf("b%d", (i+r)%3), "pad", strings.Repeat("x", 40)}
		if r == 4 {
			body = eventtest.Map{"id", id}
		}
		add(eventtest.Event(at, eventtest.Map{}, body), id)
	}
	add("odd "+fmt.Sprintf("c%d-odd", i), fmt.Sprintf("c%d-odd", i))
	if i%3 == 0 {
		id := fmt.Sprintf("c%d-rest", i)
		c.data = append(append(c.data, 0xd9, 0xff), id...)
		c.ids = append(c.ids, id)
	}
	return c
}

// deliver flushes a chunk until it is accepted or the tries are over, and then
// deletes its file as Fluent Bit does. The records count once however often
// the chunk comes.
func (w *world) deliver(s *sink.Sink, i, tries int) bool {
	c := chunkOf(i)
	w.mu.Lock()
	w.files[path.Join(c.file.Dir, c.file.Stream, c.file.Name)] = true
	w.mu.Unlock()
	for range tries {
		if s.Flush("tag", c.data, c.file, sink.FlushOptions{}) == sink.OK {
			w.mu.Lock()
			for _, id := range c.ids {
				w.owed[id] = 1
			}
			w.mu.Unlock()
			return true
		}
		time.Sleep(time.Second)
	}
	return false
}

func (w *world) acked(i int) {
	c := chunkOf(i)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, path.Join(c.file.Dir, c.file.Stream, c.file.Name))
}

// found counts the records of the finished files, dead letters included, and
// names what isn't as it should be.
func (w *world) found() (records map[string]int, faults []string) {
	records = map[string]int{}
	for _, f := range w.store.Files() {
		name := path.Base(f.Path)
		switch {
		case strings.HasPrefix(name, "."):
			faults = append(faults, "a temp is left: "+f.Path)
			continue
		case len(f.Content) == 0 || f.Content[len(f.Content)-1] != '\n':
			faults = append(faults, "not whole: "+f.Path)
		}
		if len(f.Content) == 0 {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(f.Content), "\n"), "\n") {
			id, err := idOf(line)
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v: %s", f.Path, err, line))
				continue
			}
			records[id]++
		}
	}
	return records, faults
}

// idOf finds the id in a record's line or in a dead letter's.
func idOf(line string) (string, error) {
	var l struct {
		ID     string          `json:"id"`
		Reason string          `json:"reason"`
		Record json.RawMessage `json:"record"`
		Raw    string          `json:"raw"`
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return "", err
	}
	if l.ID != "" {
		return l.ID, nil
	}
	var r struct{ ID string }
	if json.Unmarshal(l.Record, &r) == nil && r.ID != "" {
		return r.ID, nil
	}
	raw, err := base64.StdEncoding.DecodeString(l.Raw)
	if err != nil {
		return "", err
	}
	if i := slices.Index(raw, 'c'); i >= 0 {
		return string(raw[i:]), nil
	}
	return "", errors.New("a line without an id")
}

// check compares what was owed with what is there.
func (w *world) check() []string {
	records, faults := w.found()
	for id, n := range w.owed {
		if records[id] != n {
			faults = append(faults, fmt.Sprintf("record %s is there %d times and not %d", id, records[id], n))
		}
	}
	for id, n := range records {
		if n > 1 && w.owed[id] == 0 {
			faults = append(faults, fmt.Sprintf("record %s is there %d times", id, n))
		}
	}
	slices.Sort(faults)
	return faults
}
