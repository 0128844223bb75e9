package sink_test

import (
	"context"
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
	codecjson "github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// byKey puts an event into the bucket that its field "b" names.
type byKey struct {
	key *event.Accessor
	see func(bucket string) // called for each event, nil for nothing
}

var errNoBucket = errors.New("the record has no field b")

func (a *byKey) Bucket(e *event.Event, _ *assigner.Context) (string, error) {
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
type letters struct{}

func (letters) Bucket(at time.Time) string { return "_dead_letters/" + at.UTC().Format("2006-01-02") }
func (letters) Suffix() string             { return ".json" }
func (letters) Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte {
	return deadletter.Append(dst, deadletter.FromEvent(e, reason, b.Tag, b.Arrival))
}

// streaming hides that a format can encode blocks, as a bulk format can't.
type streaming struct{ codec.Format }

// bySize is a policy that rolls a part at a number of bytes, or after a minute.
type bySize struct{ size int64 }

func (p bySize) RollOnEvent(i rolling.PartInfo) bool    { return i.Size >= p.size }
func (p bySize) RollOnCheckpoint(rolling.PartInfo) bool { return false }
func (p bySize) RollOnTimer(i rolling.PartInfo, now time.Time) bool {
	return now.Sub(i.FirstWrite) >= time.Minute
}

// world is the agent's disk, the target with its consumers, and what Fluent Bit
// knows.
type world struct {
	t      testing.TB
	disk   *crashdisk.Disk
	store  *memfs.Store
	inject faultfs.Injector   // nil for none
	cfg    func(*sink.Config) // changes to the usual configuration
	log    logbook
	see    func(bucket string) // what the assigner is asked about
	seen   bool                // the state begins with a batch of seen chunks

	mu      sync.Mutex
	targets []*faultfs.Driver // opened so far
	files   map[string]bool   // chunk files that exist
	owed    map[string]int    // how often a record must be published
	public  []publication
	temps   map[string]bool // uploaded temps
	// consume does something to a file that was just published, before whoever
	// published it hears of that. It reports whether the file isn't there any more.
	consume func(path string) (gone bool)
	// meddle is told of each operation on a temp, after it.
	meddle func(op, temp string)
}

// publication is a file at the moment it got its final name.
type publication struct {
	path    string
	id      fs.FileID
	content string
	gone    bool // a consumer took it away
}

func newWorld(t testing.TB) *world { return newWorldOn(t, memfs.Options{}) }

func newWorldOn(t testing.TB, o memfs.Options) *world {
	return &world{
		t: t, disk: crashdisk.New(), store: memfs.New(o),
		files: map[string]bool{}, owed: map[string]int{}, temps: map[string]bool{},
	}
}

func (w *world) config() sink.Config {
	inject := w.inject
	if inject == nil {
		inject = faultfs.None()
	}
	c := sink.Config{
		Disk: w.disk, StateDir: "/state", Log: slog.New(&w.log), Owner: "test", WriterID: "w",
		Target: "mem://", Base: "/logs",
		OpenTarget: func(context.Context, string) (*fs.Client, error) {
			f := faultfs.New(&watcher{w.store.Driver(), w}, inject)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.targets = append(w.targets, f)
			return fs.NewClient(f, fs.LimitOptions{}), nil
		},
		NewAssigner: func() assigner.Assigner { return &byKey{event.NewKey("b"), w.see} },
		Format:      codecjson.New(codecjson.Options{}), Letters: letters{},
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
	w.t.Cleanup(func() { _ = s.Close() }) // after a Fatal
	return s
}

// close stops a sink that has nothing to complain about.
func (w *world) close(s *sink.Sink) {
	w.t.Helper()
	if err := s.Close(); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

// status asks a sink, whose disk may hang.
func (w *world) status(s *sink.Sink) sink.Status {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.Status(ctx)
}

// calls are the operations asked of the targets so far.
func (w *world) calls() (out []faultfs.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.targets {
		out = append(out, f.Calls()...)
	}
	return out
}

func (w *world) count(op faultfs.Op) (n int) {
	for _, c := range w.calls() {
		if c.Op == op {
			n++
		}
	}
	return n
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

// watcher is the target below the injected faults: it sees what took effect.
type watcher struct {
	fs.Driver
	w *world
}

func (x *watcher) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	err := x.Driver.Publish(ctx, from, final, o)
	if err == nil {
		x.w.saw(final)
	}
	x.w.touched("publish", from.Path)
	return err
}

func (x *watcher) Upload(ctx context.Context, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
	info, err := x.Driver.Upload(ctx, src, hidden, o)
	if err == nil {
		x.w.mu.Lock()
		x.w.temps[hidden] = true
		x.w.mu.Unlock()
	}
	x.w.touched("upload", hidden)
	return info, err
}

func (x *watcher) Stat(ctx context.Context, p string) (fs.Info, error) {
	info, err := x.Driver.Stat(ctx, p)
	x.w.touched("stat", p)
	return info, err
}

func (w *world) touched(op, p string) {
	w.mu.Lock()
	meddle, temp := w.meddle, w.temps[p]
	w.mu.Unlock()
	if meddle != nil && temp {
		meddle(op, p)
	}
}

// saw notes a file that was just published, and lets the consumer have it.
func (w *world) saw(p string) {
	// Not as a client sees it: for those the target may be down by now.
	files := w.store.Files()
	i := slices.IndexFunc(files, func(f memfs.File) bool { return f.Path == p })
	if i < 0 {
		w.t.Errorf("%s was published and isn't there", p)
		return
	}
	w.mu.Lock()
	w.public = append(w.public, publication{path: p, id: files[i].ID, content: string(files[i].Content)})
	i = len(w.public) - 1
	consume := w.consume
	w.mu.Unlock()
	if consume != nil && consume(p) {
		w.mu.Lock()
		w.public[i].gone = true
		w.mu.Unlock()
	}
}

// finished are the files that were published so far, dead letters not among
// them.
func (w *world) finished() (paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.public {
		if !strings.Contains(p.path, "/_") {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// deadLetters are all published dead letters' lines.
func (w *world) deadLetters() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.public {
		if strings.Contains(p.path, "/"+sink.LettersDir+"/") {
			lines = append(lines, strings.Split(strings.TrimSuffix(p.content, "\n"), "\n")...)
		}
	}
	return lines
}

// records counts what was published by id, and names what isn't as it should
// be.
func (w *world) records() (records map[string]int, faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	records = map[string]int{}
	for _, p := range w.public {
		if p.content == "" || p.content[len(p.content)-1] != '\n' {
			faults = append(faults, "published and not whole: "+p.path)
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(p.content, "\n"), "\n") {
			id, err := idOf(line)
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v: %s", p.path, err, line))
				continue
			}
			if !strings.HasPrefix(id, "pad") {
				records[id]++
			}
		}
	}
	return records, faults
}

// unchanged names published files that changed, names that were used twice, and
// files that no one published.
func (w *world) unchanged() (faults []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := map[fs.FileID]memfs.File{}
	for _, f := range w.store.Files() {
		now[f.ID] = f
		if strings.Contains(f.Path, ".inprogress.") && !strings.Contains(string(f.Content), "stranger") {
			faults = append(faults, "a temp is left: "+f.Path)
		}
	}
	names, ids := map[string]bool{}, map[fs.FileID]bool{}
	for _, p := range w.public {
		f, there := now[p.id]
		switch {
		case names[p.path]:
			faults = append(faults, "a name was used twice: "+p.path)
		case ids[p.id]:
			faults = append(faults, "a file was published twice: "+p.path)
		case !there && !p.gone:
			faults = append(faults, "published and gone: "+p.path)
		case there && string(f.Content) != p.content:
			faults = append(faults, "published and changed: "+p.path)
		case there && !p.gone && f.Path != p.path:
			faults = append(faults, "published and moved: "+p.path)
		}
		names[p.path], ids[p.id] = true, true
	}
	for id, f := range now {
		hidden := strings.HasPrefix(path.Base(f.Path), ".")
		if !hidden && !ids[id] && !strings.Contains(string(f.Content), "stranger") {
			faults = append(faults, "nobody published "+f.Path)
		}
	}
	return faults
}

// check compares what was owed with what was published.
func (w *world) check() []string {
	records, faults := w.records()
	faults = append(faults, w.unchanged()...)
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

func (w *world) mustBeRight() {
	w.t.Helper()
	for _, f := range w.check() {
		w.t.Error(f)
	}
}
