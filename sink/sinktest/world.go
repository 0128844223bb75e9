package sinktest

import (
	"context"
	"errors"
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
	"github.com/out-hdfs/out_hdfs/codec/deadletter"
	"github.com/out-hdfs/out_hdfs/codec/event"
	codecjson "github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
	"github.com/out-hdfs/out_hdfs/sink/memory"
)

// ByKey puts an event into the bucket that its field "b" names.
type ByKey struct {
	key *event.Accessor
	see func(bucket string) // called for each event, nil for nothing
}

var errNoBucket = errors.New("the record has no field b")

func (a *ByKey) Bucket(e *event.Event, _ *assigner.Context) (string, error) {
	raw, ok := a.key.Lookup(e)
	if !ok {
		return "", errNoBucket
	}
	text, _ := event.Text(raw)
	if a.see != nil {
		a.see(string(text))
	}
	if string(text) == "panic" {
		panic("the assigner can't stand this record")
	}
	return string(text), nil
}

// letters are the real dead letters.
type Letters struct{}

func (Letters) Bucket(at time.Time) string { return "_dead_letters/" + at.UTC().Format("2006-01-02") }
func (Letters) Suffix() string             { return ".json" }
func (Letters) Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte {
	return deadletter.Append(dst, deadletter.FromEvent(e, reason, b.Tag, b.Arrival))
}

// Streaming hides that a format can encode blocks, as a bulk format can't.
type Streaming struct{ codec.Format }

// BySize is a policy that rolls a part at a number of bytes, or after a minute.
func BySize(size int64) rolling.Policy { return rolling.Default{Size: size, Interval: time.Minute} }

// world is the agent's disk, the target with its consumers, and what Fluent Bit
// knows.
type World struct {
	T      testing.TB
	Disk   *crashdisk.Disk
	Store  *memfs.Store
	Inject faultfs.Injector   // nil for none
	Change func(*sink.Config) // changes to the usual configuration
	Log    Logbook
	See    func(bucket string) // what the assigner is asked about

	mu      sync.Mutex
	targets []*faultfs.Driver // opened so far
	noSync  bool              // see NoSync
	files   map[string]bool   // chunk files: whether they exist, or were removed and may come back
	owed    map[string]int    // how often a record must be published
	public  []Publication
	temps   map[string]bool // uploaded temps
	// Consume does something to a file that was just published, before whoever
	// published it hears of that. It reports whether the file isn't there any more.
	Consume func(path string) (gone bool)
	// Meddle is told of each operation on a temp, after it.
	Meddle func(op, temp string)
}

// Publication is a file at the moment it got its final name.
type Publication struct {
	Path    string
	Content string
	id      fs.FileID
	Gone    bool // a consumer took it away
}

func NewWorld(t testing.TB) *World { return NewWorldOn(t, memfs.Options{}) }

func NewWorldOn(t testing.TB, o memfs.Options) *World {
	return &World{
		T: t, Disk: crashdisk.New(), Store: memfs.New(o),
		files: map[string]bool{}, owed: map[string]int{}, temps: map[string]bool{},
	}
}

// MemoryOf gives half of some bytes to parts in progress, and a quarter each to
// payloads and jobs.
func MemoryOf(bytes int64) memory.Shares {
	return memory.Shares{Payloads: bytes / 4, Work: bytes / 4, Parts: bytes / 3 * 2}
}

func (w *World) Config() sink.Config {
	inject := w.Inject
	if inject == nil {
		inject = faultfs.None()
	}
	c := sink.Config{
		Disk: w.Disk, StateDir: "/state", Log: slog.New(&w.Log), Owner: "test", WriterID: "w",
		Target: "mem://", Base: "/logs",
		OpenTarget: func(context.Context, string) (*fs.Client, error) {
			f := faultfs.New(w.Watch(w.Store.Driver()), inject)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.targets = append(w.targets, f)
			return fs.NewClient(f, fs.LimitOptions{}), nil
		},
		NewAssigner: func() assigner.Assigner { return &ByKey{event.NewKey("b"), w.See} },
		Format:      codecjson.New(codecjson.Options{}), Letters: Letters{},
		Policy: BySize(1500), PartPrefix: "part", PartSuffix: ".json",
		BucketCheckInterval: 10 * time.Second, MaxOpenBuckets: 4,
		StateLimit: 1 << 20, Memory: MemoryOf(64 << 10), SegmentSize: 8 << 10,
		Uploads: 2, Workers: 2, FlushTimeout: time.Second, ExitTimeout: 10 * time.Minute,
		Directories: Directories{w.exists, w.syncFiles},
	}
	if w.Change != nil {
		w.Change(&c)
	}
	return c
}

func (w *World) Open() *sink.Sink {
	w.T.Helper()
	s, err := sink.Open(w.Config())
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = s.Close() }) // after a Fatal
	return s
}

// Close stops a sink that has nothing to complain about.
func (w *World) Close(s *sink.Sink) {
	w.T.Helper()
	if err := s.Close(); err != nil {
		w.T.Errorf("close: %v", err)
	}
}

// Status asks a sink, whose disk may hang.
func (w *World) Status(s *sink.Sink) sink.Status {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st := s.Status(ctx)
	if st.Ledger.Unbalanced != 0 {
		w.T.Errorf("records aren't accounted for: %+v", st.Ledger)
	}
	return st
}

// Calls are the operations asked of the targets so far.
func (w *World) Calls() (out []faultfs.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.targets {
		out = append(out, f.Calls()...)
	}
	return out
}

func (w *World) Count(op faultfs.Op) (n int) {
	for _, c := range w.Calls() {
		if c.Op == op {
			n++
		}
	}
	return n
}

// Land lets late operations take effect.
func (w *World) Land() {
	w.mu.Lock()
	targets := slices.Clone(w.targets)
	w.mu.Unlock()
	for _, f := range targets {
		f.Land()
	}
}

// NoSync has Fluent Bit's directories refuse to be synced, from now on.
func (w *World) NoSync(refuse bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noSync = refuse
}

func (w *World) exists(chunkFile string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[chunkFile]
}

// syncFiles answers the chunk files that exist. Unless the directory can't be
// synced, what was removed is gone for good then.
func (w *World) syncFiles() (paths []string, durable bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, exists := range w.files {
		if exists {
			paths = append(paths, p)
		} else if !w.noSync {
			delete(w.files, p)
		}
	}
	return paths, !w.noSync
}

// Watch lets the world see what takes effect on a target.
func (w *World) Watch(d fs.Driver) fs.Driver { return &watcher{d, w} }

// SetConsumer changes Consume while a sink runs.
func (w *World) SetConsumer(f func(path string) (gone bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Consume = f
}

// watcher is the target below the injected faults: it sees what took effect.
type watcher struct {
	fs.Driver
	w *World
}

func (x *watcher) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	err := x.Driver.Publish(ctx, from, final, o)
	if err == nil {
		x.w.saw(final)
	}
	x.w.touched("publish", from.Path)
	return err
}

func (x *watcher) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (fs.Info, error) {
	info, err := x.Driver.Upload(ctx, src, temp, o)
	if err == nil {
		x.w.mu.Lock()
		x.w.temps[temp] = true
		x.w.mu.Unlock()
	}
	x.w.touched("upload", temp)
	return info, err
}

func (x *watcher) Stat(ctx context.Context, p string) (fs.Info, error) {
	info, err := x.Driver.Stat(ctx, p)
	x.w.touched("stat", p)
	return info, err
}

func (w *World) touched(op, p string) {
	w.mu.Lock()
	meddle, temp := w.Meddle, w.temps[p]
	w.mu.Unlock()
	if meddle != nil && temp {
		meddle(op, p)
	}
}

// saw notes a file that was just published, and lets the consumer have it.
func (w *World) saw(p string) {
	// Not as a client sees it: for those the target may be down by now.
	files := w.Store.Files()
	i := slices.IndexFunc(files, func(f memfs.File) bool { return f.Path == p })
	if i < 0 {
		w.T.Errorf("%s was published and isn't there", p)
		return
	}
	w.mu.Lock()
	w.public = append(w.public, Publication{Path: p, id: files[i].ID, Content: string(files[i].Content)})
	i = len(w.public) - 1
	consume := w.Consume
	w.mu.Unlock()
	if consume != nil && consume(p) {
		w.mu.Lock()
		w.public[i].Gone = true
		w.mu.Unlock()
	}
}

// Finished are the files that were published so far, dead letters not among
// them.
func (w *World) Finished() (paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.public {
		if !strings.Contains(p.Path, "/_") {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// DeadLetters are all published dead letters' lines.
func (w *World) DeadLetters() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.public {
		if strings.Contains(p.Path, "/"+sink.LettersDir+"/") {
			lines = append(lines, strings.Split(strings.TrimSuffix(p.Content, "\n"), "\n")...)
		}
	}
	return lines
}

// Records counts what was published by id, and names what isn't as it should
// be.
func (w *World) Records() (records map[string]int, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	records = map[string]int{}
	for _, p := range w.public {
		if p.Content == "" || p.Content[len(p.Content)-1] != '\n' {
			faults = append(faults, "published and not whole: "+p.Path)
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(p.Content, "\n"), "\n") {
			id, err := IDOf(line)
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v: %s", p.Path, err, line))
				continue
			}
			if !strings.HasPrefix(id, "pad") {
				records[id]++
			}
		}
	}
	return records, faults
}

// Unchanged names published files that changed, names that were used twice, and
// files that no one published.
func (w *World) Unchanged() (faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[fs.FileID]memfs.File{}
	for _, f := range w.Store.Files() {
		now[f.ID] = f
		if strings.Contains(f.Path, ".inprogress.") && !strings.Contains(string(f.Content), "stranger") {
			faults = append(faults, "a temp is left: "+f.Path)
		}
	}
	names, ids := map[string]bool{}, map[fs.FileID]bool{}
	for _, p := range w.public {
		f, there := now[p.id]
		switch {
		case names[p.Path]:
			faults = append(faults, "a name was used twice: "+p.Path)
		case ids[p.id]:
			faults = append(faults, "a file was published twice: "+p.Path)
		case !there && !p.Gone:
			faults = append(faults, "published and gone: "+p.Path)
		case there && string(f.Content) != p.Content:
			faults = append(faults, "published and changed: "+p.Path)
		case there && !p.Gone && f.Path != p.Path:
			faults = append(faults, "published and moved: "+p.Path)
		}
		names[p.Path], ids[p.id] = true, true
	}
	for id, f := range now {
		hidden := strings.HasPrefix(path.Base(f.Path), ".")
		if !hidden && !ids[id] && !strings.Contains(string(f.Content), "stranger") {
			faults = append(faults, "nobody published "+f.Path)
		}
	}
	return faults
}

// Check compares what was owed with what was published.
func (w *World) Check() []string {
	records, faults := w.Records()
	faults = append(faults, w.Unchanged()...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, n := range w.owed {
		if records[id] != n {
			faults = append(faults, fmt.Sprintf("record %s was published %d times and not %d", id, records[id], n))
		}
	}
	for id, n := range records {
		if w.owed[id] == 0 {
			faults = append(faults, fmt.Sprintf("record %s was published %d times and never accepted", id, n))
		}
	}
	slices.Sort(faults)
	return faults
}

func (w *World) MustBeRight() {
	w.T.Helper()
	for _, f := range w.Check() {
		w.T.Error(f)
	}
}

// Published are the files at the moment they got their final names, in that
// order.
func (w *World) Published() []Publication {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.public)
}

// Owed is how often each record must be published.
func (w *World) Owed() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.owed)
}

// Owes is how many different records must be published.
func (w *World) Owes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.owed)
}

// IsOwed reports whether a record must be published.
func (w *World) IsOwed(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.owed[id] > 0
}

// Forgive lets a record be lost that nothing can save.
func (w *World) Forgive(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.owed, id)
}
