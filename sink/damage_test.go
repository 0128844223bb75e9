package sink_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// worn is a state directory that a killed process left: some parts are published,
// some are pending, as the newest snapshot or a frame behind it tells, and some are
// in progress; the chunks of those lie in three segments.
type worn struct {
	*sinktest.World
	t      *testing.T
	older  map[string][]byte // files as they were before the last parts were rolled
	hit    []string          // records whose own bytes were hit
	untold bool              // nothing that is left tells of what was hit
}

// The records, by what became of them. The target refuses all buckets but "up".
const (
	published       = "k00" // in the oldest segment's time
	publishedNewest = "k08" // all of its frames are in the newest segment
	pending         = "k02 k03 k04"
	pendingNewest   = "k07"
	inProgress      = "k01 k05 k06 k09" // of the oldest segment, twice, the one before the newest, and the newest
)

func ids() (out []string) {
	for i := range 10 {
		out = append(out, fmt.Sprintf("k%02d", i))
	}
	return out
}

func newWornSink(t *testing.T) *worn {
	w := &worn{World: sinktest.NewWorld(t), t: t, older: map[string][]byte{}}
	w.Change = func(c *sink.Config) {
		c.Policy = rolling.Default{Size: 300, Interval: 2 * time.Hour}
		c.MaxOpenBuckets, c.ExitTimeout = 16, time.Second
	}
	for _, b := range []string{"b0", "b1", "b2"} {
		w.Store.Refuse("/logs/"+b, errors.New("refused"))
	}
	large := func(s *sink.Sink, id, bucket string) {
		var c sinktest.Chunk
		c.AddPadded(id, bucket, 400)
		w.Must(s, c)
		time.Sleep(10 * time.Second)
	}
	s := w.Open()
	large(s, "k00", "up")
	// The chunk is large enough that its segment isn't emptied by copying.
	c := sinktest.One("k01", "b1")
	c.AddPadded("pad0", "up", 2200)
	w.Must(s, c)
	for _, id := range strings.Fields(pending) {
		large(s, id, "b0")
	}
	w.Must(s, sinktest.One("k05", "b2"))
	s = w.killed(s)
	w.Must(s, sinktest.One("k06", "b2"))
	time.Sleep(time.Second)
	s = w.killed(s)
	time.Sleep(time.Minute)
	large(s, "k07", "b0")
	for _, name := range w.Disk.Names() {
		w.older[name] = w.Disk.Content(name)
	}
	large(s, "k08", "up")
	w.Must(s, sinktest.One("k09", "b1"))
	time.Sleep(time.Minute)
	w.kill(s)
	return w
}

// kill leaves what a killed process leaves.
func (w *worn) kill(s *sink.Sink) {
	disk := w.Disk.Crash(crashdisk.All, 1)
	_ = s.Close()
	w.Disk = disk
}

func (w *worn) killed(s *sink.Sink) *sink.Sink {
	w.kill(s)
	return w.Open()
}

func (w *worn) segments() (names []string) {
	for _, n := range w.Disk.Names() {
		if isSegment(n) {
			names = append(names, n)
		}
	}
	return names
}

// newest is the name of a segment, counted from the newest.
func (w *worn) newest(back int) string {
	names := w.segments()
	return names[len(names)-1-back]
}

// staged is the staged file that holds a record.
func (w *worn) staged(id string) string {
	for _, n := range w.Disk.Names() {
		if strings.HasPrefix(n, "staged/") && bytes.Contains(w.Disk.Content(n), []byte(id)) {
			return n
		}
	}
	w.t.Fatalf("no staged file has %s", id)
	return ""
}

// progress is the staged file of a part that was in progress when the process died:
// what it held in memory isn't in it.
func (w *worn) progress() string {
	for _, n := range w.Disk.Names() {
		if strings.HasPrefix(n, "staged/") && len(w.Disk.Content(n)) == 0 {
			w.put(n, []byte(`{"id":"k09","b":"b1","pad":"........`))
			return n
		}
	}
	w.t.Fatal("no part is in progress")
	return ""
}

func (w *worn) damage(name string, change func([]byte) []byte) {
	w.t.Helper()
	if err := w.Disk.Damage(name, change); err != nil {
		w.t.Fatal(err)
	}
}

// put writes a file, over one that is there.
func (w *worn) put(name string, content []byte) {
	w.t.Helper()
	if !slices.Contains(w.Disk.Names(), name) {
		f, err := w.Disk.Create(name)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.damage(name, func([]byte) []byte { return slices.Clone(content) })
}

// frame is where a frame lies in a segment.
type frame struct {
	kind     journal.Kind
	from, to int
}

// frames are a segment's.
func frames(b []byte) (out []frame) {
	for at := log.HeaderSize; at+log.FrameHeaderSize < len(b) && b[at+4] != 0; {
		to := at + int(log.FrameSize(int(binary.LittleEndian.Uint32(b[at:]))))
		if to > len(b) {
			break
		}
		out = append(out, frame{journal.Kind(b[at+4]), at, to})
		at = to
	}
	return out
}

// hits notes the records that have bytes of their own in a range of a file: in a
// chunk's frame, or in a staged file's content.
func (w *worn) hits(name string, from, to int) {
	b := w.Disk.Content(name)
	note := func(b []byte) {
		for _, id := range ids() {
			if bytes.Contains(b, []byte(id)) && !slices.Contains(w.hit, id) {
				w.hit = append(w.hit, id)
			}
		}
	}
	if !isSegment(name) {
		if !bytes.Contains(b, []byte("\n")) {
			return // its records are in the journal
		}
		if end := bytes.IndexByte(b, '\n') + 1; from < end {
			note(b[:end])
		}
		return
	}
	for _, f := range frames(b) {
		if f.kind == journal.KindChunk && f.from < to && from < f.to {
			note(b[f.from:f.to])
		}
	}
}

// survives starts the sink, with the target back, and compares: no record was
// published twice, and none is lost but those whose own bytes were hit. What is held
// is there for an operator; it answers how many parts and chunks those are.
func (w *worn) survives() (held int) {
	w.t.Helper()
	for _, b := range []string{"b0", "b1", "b2"} {
		w.Store.Allow("/logs/" + b)
	}
	w.Change = func(c *sink.Config) { c.MaxOpenBuckets, c.Policy = 16, sinktest.BySize(300) }
	s := w.Open()
	time.Sleep(10 * time.Minute)
	s = restart(w.World, s) // and nothing is found or removed later
	time.Sleep(time.Minute)
	records, faults := w.Records()
	for id, n := range records {
		if n > 1 {
			w.t.Errorf("%s was published %d times", id, n)
		}
	}
	// An operator has everything published that is held and isn't there.
	st := w.Status(s)
	held = len(st.HeldChunks)
	for _, p := range st.Parts {
		if p.State == "held" {
			held++
			if err := s.Resolve(journal.Resolved{Part: p.Number, How: journal.PublishAgain}); err != nil {
				w.t.Error(err)
			}
		}
	}
	for _, seq := range st.HeldChunks {
		if err := s.Resolve(journal.Resolved{Seq: seq, How: journal.DecodeAgain}); err != nil {
			w.t.Error(err)
		}
	}
	time.Sleep(10 * time.Minute)
	records, more := w.Records()
	for _, f := range append(faults, more...) {
		w.t.Error(f)
	}
	kept := w.kept()
	for _, id := range ids() {
		switch {
		case records[id] > 0:
		case !slices.Contains(w.hit, id):
			w.t.Errorf("%s is lost; aside: %v", id, kept)
		case !w.untold && w.Log.Count("damage") == 0 && w.Log.Count("a part is held") == 0:
			w.t.Errorf("%s is lost and nobody was told", id)
		}
	}
	w.Close(s)
	for _, f := range w.Unchanged() {
		w.t.Error(f)
	}
	return held
}

// kept are the files that lie aside.
func (w *worn) kept() (names []string) {
	for _, n := range w.Disk.Names() {
		if strings.HasPrefix(n, "aside/") || strings.HasPrefix(n, log.DamagedDir+"/") {
			names = append(names, n)
		}
	}
	return names
}

// hitFrames damages the payloads of frames of the newest segment: of the kinds, and
// of the part that holds the record.
func (w *worn) hitFrames(id string, kinds ...journal.Kind) {
	w.t.Helper()
	name := w.newest(0)
	b := w.Disk.Content(name)
	number, rolled := uint64(0), uint64(0)
	for _, f := range frames(b) { // k07's is the first part that was rolled there, and k08's the second
		if f.kind == journal.KindRolled {
			if rolled++; id == "k07" && rolled == 1 || id == "k08" && rolled == 2 {
				number, _ = binary.Uvarint(b[f.from+log.FrameHeaderSize:])
			}
		}
	}
	hit := map[journal.Kind]bool{}
	for _, f := range frames(b) {
		n, _ := binary.Uvarint(b[f.from+log.FrameHeaderSize:])
		if slices.Contains(kinds, f.kind) && n == number {
			hit[f.kind] = true
			w.damage(name, func(b []byte) []byte { clear(b[f.from+log.FrameHeaderSize+1 : f.to]); return b })
		}
	}
	if len(hit) != len(kinds) {
		w.t.Fatalf("part %d has frames of %v", number, hit)
	}
}

// TestTheWornStateIsWhole: the tests below begin with what they say.
func TestTheWornStateIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWornSink(t)
		if n := len(w.segments()); n != 3 {
			t.Errorf("%d segments", n)
		}
		kinds := map[journal.Kind]int{}
		for _, f := range frames(w.Disk.Content(w.newest(0))) {
			kinds[f.kind]++
		}
		for _, k := range []journal.Kind{
			journal.KindSnapshot, journal.KindChunk, journal.KindDecoding, journal.KindRolled, journal.KindAttempt,
			journal.KindUploaded, journal.KindRenaming, journal.KindFinished,
		} {
			if kinds[k] == 0 {
				t.Errorf("no %v frame in the newest segment", k)
			}
		}
		records, _ := w.Records()
		if len(records) != 2 || records[published] != 1 || records[publishedNewest] != 1 {
			t.Errorf("published %v", records)
		}
		for _, id := range strings.Fields(strings.Join([]string{pending, pendingNewest}, " ")) {
			if !bytes.Contains(w.Disk.Content(w.staged(id)), []byte("\n")) {
				t.Errorf("%s isn't staged", id)
			}
		}
		for _, id := range strings.Fields(inProgress) {
			if !slices.ContainsFunc(w.segments(), func(n string) bool { return bytes.Contains(w.Disk.Content(n), []byte(id)) }) {
				t.Errorf("%s isn't in the journal", id)
			}
		}
		w.survives()
		if n := w.Log.Count("damage"); n > 0 {
			t.Errorf("%d lines of damage", n)
		}
	})
}

// change is what happens to a file's bytes in a range.
var changes = map[string]func(b []byte){
	"a flipped bit": func(b []byte) { b[len(b)/2] ^= 4 },
	"a torn write":  func(b []byte) { clear(b[len(b)/2:]) },
	"zeros":         func(b []byte) { clear(b) },
	"other bytes": func(b []byte) {
		for i := range b {
			b[i] ^= 0xa5
		}
	},
}

// TestDamageTable damages each kind of thing that a state directory holds, in each
// way. docs/testing.md has it as a table.
func TestDamageTable(t *testing.T) {
	// Where the bytes are that are hit.
	places := map[string]func(w *worn) (name string, from, to int){
		"the newest header":        func(w *worn) (string, int, int) { return w.newest(0), 0, log.HeaderSize },
		"the copy of it":           func(w *worn) (string, int, int) { return w.newest(0), 8<<10 - log.HeaderSize, 8 << 10 },
		"the header before it":     func(w *worn) (string, int, int) { return w.newest(1), 0, log.HeaderSize },
		"the copy of that":         func(w *worn) (string, int, int) { return w.newest(1), 8<<10 - log.HeaderSize, 8 << 10 },
		"all of an older segment":  func(w *worn) (string, int, int) { return w.newest(2), 0, 8 << 10 },
		"all of the one before":    func(w *worn) (string, int, int) { return w.newest(1), 0, 8 << 10 },
		"the newest's first page":  func(w *worn) (string, int, int) { return w.newest(0), 0, 4 << 10 },
		"a pending part's content": func(w *worn) (string, int, int) { return w.staged("k03"), 0, 200 },
		"a pending part's end": func(w *worn) (string, int, int) {
			n := len(w.Disk.Content(w.staged("k07")))
			return w.staged("k07"), n - 60, n
		},
		"a file in progress": func(w *worn) (string, int, int) { return w.progress(), 0, 36 },
	}
	for _, k := range []journal.Kind{
		journal.KindSnapshot, journal.KindChunk, journal.KindDecoding, journal.KindRolled, journal.KindAttempt,
		journal.KindUploaded, journal.KindRenaming, journal.KindFinished,
	} {
		for back, which := range []string{"the newest segment", "the segment before"} {
			for part, what := range []string{"a header", "a payload", "all"} {
				places[fmt.Sprintf("%s of a %v frame of %s", what, k, which)] = func(w *worn) (string, int, int) {
					name := w.newest(back)
					all := frames(w.Disk.Content(name))
					i := slices.IndexFunc(all, func(f frame) bool { return f.kind == k })
					if i < 0 {
						return name, 0, 0
					}
					switch f := all[i]; part {
					case 0:
						return name, f.from, f.from + log.FrameHeaderSize
					case 1:
						return name, f.from + log.FrameHeaderSize, f.to
					default:
						return name, f.from, f.to
					}
				}
			}
		}
	}
	for where, place := range places {
		for how, change := range changes {
			t.Run(where+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWornSink(t)
					name, from, to := place(w)
					if from == to {
						return // that segment has no such frame
					}
					w.hits(name, from, to)
					w.damage(name, func(b []byte) []byte { change(b[from:to]); return b })
					held := w.survives()
					if how == "a flipped bit" && held > 0 && !strings.Contains(where, "content") {
						t.Errorf("%d parts and chunks are held", held)
					}
				})
			})
		}
	}
}

// TestDamagedFiles is the rest of the table: whole files that are gone, are there
// twice, lie in another's place, or are what they were before.
func TestDamagedFiles(t *testing.T) {
	all := func(w *worn, names ...string) {
		for _, n := range names {
			w.hits(n, 0, 1<<20)
		}
	}
	remove := func(w *worn, name string) {
		all(w, name)
		if err := w.Disk.Remove(name); err != nil {
			w.t.Fatal(err)
		}
	}
	swap := func(w *worn, a, b string) {
		all(w, a, b)
		was := w.Disk.Content(a)
		w.put(a, w.Disk.Content(b))
		w.put(b, was)
	}
	const ( // how many parts and chunks are held
		none, one, two = 0, 1, 2
		everything     = -1
	)
	for name, row := range map[string]struct {
		do   func(w *worn)
		held int
	}{
		"the newest segment is missing":        {func(w *worn) { remove(w, w.newest(0)) }, everything},
		"the one before it is missing":         {func(w *worn) { remove(w, w.newest(1)) }, none},
		"an older segment is missing":          {func(w *worn) { remove(w, w.newest(2)) }, none},
		"a pending part's file is missing":     {func(w *worn) { remove(w, w.staged("k03")) }, one},
		"a file in progress is missing":        {func(w *worn) { remove(w, w.progress()) }, none},
		"all segments are missing but one":     {func(w *worn) { remove(w, w.newest(0)); remove(w, w.newest(0)) }, everything},
		"the newest segment is there twice":    {func(w *worn) { w.put("journal/0000000000000044", w.Disk.Content(w.newest(0))) }, everything},
		"an older segment is there twice":      {func(w *worn) { w.put("journal/0000000000000044", w.Disk.Content(w.newest(2))) }, everything},
		"a segment lies there as a spare":      {func(w *worn) { w.put("journal/spare-77", w.Disk.Content(w.newest(0))) }, none},
		"two segments are swapped":             {func(w *worn) { swap(w, w.newest(0), w.newest(1)) }, everything},
		"two older segments are swapped":       {func(w *worn) { swap(w, w.newest(1), w.newest(2)) }, none},
		"a pending part's file is there twice": {func(w *worn) { w.put("staged/77", w.Disk.Content(w.staged("k03"))) }, none},
		"two pending parts' files are swapped": {func(w *worn) { swap(w, w.staged("k03"), w.staged("k04")) }, two},
		"one of each kind is swapped":          {func(w *worn) { swap(w, w.staged("k03"), w.progress()) }, one},
		"the newest segment is an older state of it": {func(w *worn) {
			w.untold = true
			name := w.newest(0)
			was := frames(w.older[name])
			w.hits(name, was[len(was)-1].to, 1<<20)
			w.put(name, w.older[name])
		}, none},
		"a part's file is an older state of it": {func(w *worn) {
			name := w.staged("k03")
			all(w, name)
			w.damage(name, func(b []byte) []byte { return b[:50] })
		}, one},
		"a segment of another state": {func(w *worn) { w.put("journal/0000000000000044", foreign(w.t).newest()) }, everything},
		"a staged file of another state": {func(w *worn) {
			other := foreign(w.t)
			w.put("staged/77", other.content)
		}, none},
		"a staged file of another state under its own number": {func(w *worn) {
			other := foreign(w.t)
			w.put(other.name+"0", other.content)
		}, none},
		"an empty segment":     {func(w *worn) { w.put("journal/0000000000000044", nil) }, everything},
		"an empty staged file": {func(w *worn) { w.put("staged/77", nil) }, none},
		"a snapshot and a pending part's end": {func(w *worn) {
			w.damage(w.newest(0), func(b []byte) []byte { b[log.HeaderSize+log.FrameHeaderSize+50] ^= 1; return b })
			w.damage(w.staged("k03"), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
		}, none},
		"the rolled frame of a pending part and its content": {func(w *worn) {
			w.hitFrames("k07", journal.KindRolled)
			name := w.staged("k07")
			all(w, name)
			w.damage(name, func(b []byte) []byte { b[10] ^= 1; return b })
		}, none},
		"the rolled frame of a pending part, and a file of another state": {func(w *worn) {
			w.hitFrames("k07", journal.KindRolled)
			w.put("staged/1", foreign(w.t).content)
		}, none},
		"the rolled frame of a pending part, and its file is there twice": {func(w *worn) {
			w.hitFrames("k07", journal.KindRolled)
			w.put("staged/77", w.Disk.Content(w.staged("k07")))
		}, none},
		"the rolled frame of a part that was published": {func(w *worn) { w.hitFrames("k08", journal.KindRolled) }, everything},
		"the rename and the end of a part that was published": {func(w *worn) {
			w.hitFrames("k08", journal.KindRenaming, journal.KindFinished)
		}, none},
		"all steps of a part that was published": {func(w *worn) {
			w.hitFrames("k08", journal.KindAttempt, journal.KindUploaded, journal.KindRenaming, journal.KindFinished)
		}, everything},
		"all frames of a part that was published": {func(w *worn) {
			w.hitFrames("k08", journal.KindRolled, journal.KindAttempt, journal.KindUploaded, journal.KindRenaming, journal.KindFinished)
		}, everything},
		"both headers of the newest segment": {func(w *worn) {
			name := w.newest(0)
			all(w, name)
			w.damage(name, func(b []byte) []byte { b[5] ^= 1; b[len(b)-10] ^= 1; return b })
		}, everything},
		"both newest snapshots": {func(w *worn) {
			for back := range 2 {
				w.damage(w.newest(back), func(b []byte) []byte { b[log.HeaderSize+log.FrameHeaderSize+50] ^= 1; return b })
			}
		}, none},
		"all snapshots": {func(w *worn) {
			for back := range 3 {
				w.damage(w.newest(back), func(b []byte) []byte { b[log.HeaderSize+log.FrameHeaderSize+5] ^= 1; return b })
			}
		}, everything},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWornSink(t)
				row.do(w)
				held := w.survives()
				if row.held >= 0 && held != row.held || row.held < 0 && held < 4 {
					t.Errorf("%d parts and chunks are held", held)
				}
			})
		})
	}
}

// TestDoubtfulChunksAreAnOperators: chunks of which damage hides what was published are
// held over starts, and end as an operator says.
func TestDoubtfulChunksAreAnOperators(t *testing.T) {
	for how, want := range map[journal.Resolution]int{journal.DecodeAgain: 4, journal.TakeForPublished: 0} {
		synctest.Test(t, func(t *testing.T) {
			w := newWornSink(t)
			for back := range 3 {
				w.damage(w.newest(back), func(b []byte) []byte { b[log.HeaderSize+log.FrameHeaderSize+5] ^= 1; return b })
			}
			s := restart(w.World, w.Open())
			doubtful := w.Status(s).DoubtfulChunks
			if len(doubtful) < 4 {
				t.Fatalf("doubtful are %v", doubtful)
			}
			for _, seq := range doubtful {
				if err := s.Resolve(journal.Resolved{Seq: seq, How: how}); err != nil {
					t.Error(err)
				}
			}
			s = restart(w.World, s)
			for _, p := range w.Status(s).Parts {
				if p.State == "held" {
					if err := s.Resolve(journal.Resolved{Part: p.Number, How: journal.AcceptDone}); err != nil {
						t.Error(err)
					}
				}
			}
			for _, b := range []string{"b0", "b1", "b2"} {
				w.Store.Allow("/logs/" + b)
			}
			time.Sleep(3 * time.Hour)
			if st := w.Status(s); len(st.HeldChunks)+st.UnfinishedChunks > 0 {
				t.Errorf("%+v", st)
			}
			w.Close(s)
			records, _ := w.Records()
			got := 0
			for _, id := range strings.Fields(inProgress) {
				got += records[id]
			}
			if got != want {
				t.Errorf("resolution %d: %d records are published: %v", how, got, records)
			}
		})
	}
}

// stranger is what another state directory holds.
type stranger struct {
	segment []byte
	name    string
	content []byte
}

func (s stranger) newest() []byte { return s.segment }

func foreign(t *testing.T) stranger {
	w := sinktest.NewWorld(t)
	w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
	w.Store.SetDown(errors.New("connection refused"))
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	time.Sleep(time.Minute)
	w.Close(s)
	out := stranger{name: "staged/1", content: w.Disk.Content("staged/1")}
	for _, n := range w.Disk.Names() {
		if path.Dir(n) == "journal" && isSegment(n) {
			out.segment = w.Disk.Content(n)
		}
	}
	return out
}

// TestDamageAtEveryByte changes each byte of the newest segment, and of the staged
// files, one at a time.
func TestDamageAtEveryByte(t *testing.T) {
	sizes := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		w := newWornSink(t)
		all := frames(w.Disk.Content(w.newest(0)))
		sizes[w.newest(0)] = all[len(all)-1].to
		for _, id := range []string{"k02", "k07"} {
			sizes[w.staged(id)] = len(w.Disk.Content(w.staged(id)))
		}
	})
	step := 1
	if testing.Short() {
		step = 17
	}
	for name, size := range sizes {
		for at := 0; at < size; at += step {
			ok := t.Run(fmt.Sprintf("%s at %d", path.Base(name), at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWornSink(t)
					w.hits(name, at, at+1)
					w.damage(name, func(b []byte) []byte { b[at] ^= 1 << (at % 8); return b })
					w.survives()
				})
			})
			if !ok {
				return
			}
		}
	}
}
