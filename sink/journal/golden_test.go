package journal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// goldenFrames has a frame of every kind, with every field set.
func goldenFrames() []Frame {
	at := func(sec int64) time.Time { return time.Unix(1_700_000_000+sec, 123_456_789) }
	return []Frame{
		Decoding{[]uint64{1, 300}},
		Rolled{
			Part: Part{
				Number: 7, Staged: "staged/7", Length: 1 << 20, CRC: 0xdeadbeef, Records: 12,
				First: at(0), Rolled: at(60), Target: "hdfs://ns", Base: "/logs", Bucket: "dt=2026-01-02",
				Prefix: "part-w", Suffix: ".json.gz", FileMode: 0o640, DirMode: 0o750, Replication: 2, BlockSize: 1 << 27,
				Attempts: []Attempt{{Temp: "/logs/.t", State: AttemptUploaded, ID: "16385", Length: 5, ModTime: at(61)}},
				Finals:   []string{"/logs/part-w-7.json.gz"}, Held: "why",
			},
			Shares: []Share{share(1, 10, 2, 5), share(300, 1, 0, 1)},
		},
		Attempted{7, "/logs/.t"},
		Uploaded{7, Attempt{Temp: "/logs/.t", ID: "16385", Length: 5, ModTime: at(61)}},
		Renaming{7, "/logs/part-w-7.json.gz", 9},
		Finished{7, "/logs/part-w-7.json.gz", "/logs/.t"},
		Abandoned{"hdfs://ns", 7, "/logs/.t"},
		Void{300},
		goldenSeen(),
		Held{7, "nobody knows"},
		Resolved{Part: 7, Seq: 300, How: AcceptDone},
		Lost{300},
		&directoryFrame{originDir{"/s/in", disk.Identity{Inode: 7, Birth: at(0)}}},
	}
}

func goldenSeen() *seenFrame {
	return &seenFrame{seq: 301, since: time.Hour, keys: []originKey{{1, 2, 3}, {4, 5, 6}}}
}

// readGolden reads the bytes of frames, by kind.
func readGolden(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]string{}
	for line := range strings.Lines(string(text)) {
		kind, b, _ := strings.Cut(strings.TrimSpace(line), " ")
		golden[kind] = b
	}
	return golden
}

// TestGoldenSnapshot1: a snapshot of log.Version 1 is the state that it was,
// apart from what lies in frames of its own.
func TestGoldenSnapshot1(t *testing.T) {
	payload, err := hex.DecodeString(readGolden(t, "testdata/v1/frames.txt")["snapshot"])
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeSnapshot(payload)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.seen) != 1 || s.seen[0] != (log.Location{Segment: 1, Offset: 5000, Length: 40}) {
		t.Errorf("frames of identities %v", s.seen)
	}
	goldenSeen().apply(s, s.seen[0])
	was := goldenState()
	was.dirs, was.ledger = s.dirs, s.ledger // which aren't in it
	for seq, c := range was.chunks {
		c.records = s.chunks[seq].records
	}
	if got, want := s.encodeSnapshot(nil), was.encodeSnapshot(nil); !bytes.Equal(got, want) {
		t.Errorf("it is\n%x\nand not\n%x", got, want)
	}
}

// TestGoldenFrames: the bytes of log.Version 2 never change, nor what they took
// over from log.Version 1.
func TestGoldenFrames(t *testing.T) {
	golden := readGolden(t, "testdata/v2/frames.txt")
	for kind, b := range readGolden(t, "testdata/v1/frames.txt") {
		if golden[kind] != b && kind != "snapshot" && kind != "headers" {
			t.Errorf("%s was\n%s\nand is\n%s", kind, b, golden[kind])
		}
	}
	check := func(what fmt.Stringer, payload []byte) {
		if got := hex.EncodeToString(payload); got != golden[what.String()] {
			t.Errorf("%v %s\nwas %s", what, got, golden[what.String()])
		}
		delete(golden, what.String())
	}
	for _, f := range goldenFrames() {
		check(f.kind(), f.encode(nil))
		again, err := decodeFrame(f.kind(), f.encode(nil))
		if err != nil || !bytes.Equal(again.encode(nil), f.encode(nil)) {
			t.Errorf("%v isn't decoded to itself: %v", f.kind(), err)
		}
	}
	c := &chunkFrame{seq: 300, arrival: arrival, origin: Origin{Dir: "/s/in", Name: "1-2.flb", Length: 4, CRC: 5}, tag: "app.log", dataLen: 4}
	payload := append(c.encode(nil), "data"...)
	check(KindChunk, payload)
	decoded, body, err := decodeChunk(payload)
	if err != nil || string(body) != "data" || decoded.origin != c.origin || decoded.tag != c.tag || !decoded.arrival.Equal(c.arrival) {
		t.Errorf("%+v %q: %v", decoded, body, err)
	}
	check(KindSnapshot, goldenState().encodeSnapshot(nil))
	var head [log.FrameHeaderSize]byte
	log.PutFrameHeader(&head, log.Place{Salt: 1, Segment: 2, Offset: 64}, 64, log.Kind(KindVoid), [][]byte{{1}, {2}})
	check(headers{}, append(log.Header{Version: 2, Segment: 2, State: [16]byte{3}, Created: 4, Salt: 5}.Encode(), head[:]...))
	if len(golden) > 0 {
		t.Errorf("without a test: %v", golden)
	}
}

// headers names a segment's header and a frame's in the golden file.
type headers struct{}

func (headers) String() string { return "headers" }

// goldenState has something of everything that a state holds.
func goldenState() *state {
	s := newState()
	s.id, s.writerID, s.dirInode, s.dirBirth = [16]byte{9, 8, 7}, "w", 77, arrival
	s.running = 90 * time.Minute
	for i, seq := range []uint64{1, 300} {
		f := &chunkFrame{seq: seq, arrival: arrival, origin: Origin{Dir: "/s/in", Name: fmt.Sprint(seq), Length: 4, CRC: 5}}
		f.apply(s, log.Location{Segment: 1, Offset: 64 + int64(i)*1000, Length: 900})
	}
	s.chunks[300].asLetter, s.chunks[1].deaths = true, 2
	frames := goldenFrames()
	for _, i := range []int{0, 1, 2, 8} {
		frames[i].apply(s, log.Location{Segment: 1, Offset: 5000, Length: 40})
	}
	Rolled{Part: Part{Number: 8, Target: "hdfs://ns", Records: 3, Length: 4, Attempts: []Attempt{{Temp: "old"}}}}.apply(s, log.Location{})
	Finished{8, "f", "t"}.apply(s, log.Location{})
	(&directoryFrame{originDir{"/s/other", disk.Identity{Inode: 7, Birth: arrival}}}).apply(s, log.Location{})
	s.older = map[uint64]older{1: {upTo: 8128, salt: 1 << 60}}
	return s
}

// TestGoldenJournal: a journal that log.Version 1 wrote is read for good.
func TestGoldenJournal(t *testing.T) {
	d := crashdisk.New()
	if err := d.Mkdir(Dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/v1/journal/*")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Create(Dir + "/" + filepath.Base(name))
		if err == nil {
			_, err = f.WriteAt(b, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	want, err := os.ReadFile("testdata/v1/state.txt")
	if err != nil {
		t.Fatal(err)
	}
	o := options(d)
	o.SegmentSize = 4 << 10
	j, r := open(t, o)
	if got := describe(j) + "\n"; got != string(want) || len(r.Damage) > 0 {
		t.Errorf("read\n%s\nand not\n%s\ndamage %v", got, want, r.Damage)
	}
	if j.WriterID() != "w" || j.NextNumber() != 14 {
		t.Errorf("writer %q, next part %d", j.WriterID(), j.NextNumber())
	}
}
