package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// FuzzFrame decodes any payload as any kind: it never panics, and what is
// decoded encodes to the same bytes.
func FuzzFrame(f *testing.F) {
	for _, frame := range goldenFrames() {
		f.Add(uint8(frame.kind()), frame.encode(nil))
	}
	c := &chunkFrame{seq: 1, arrival: arrival, origin: file("n", "data"), tag: "t", dataLen: 4}
	f.Add(uint8(KindChunk), append(c.encode(nil), "data"...))
	f.Add(uint8(KindSnapshot), []byte{1})
	f.Add(uint8(0), []byte{})
	f.Fuzz(func(t *testing.T, kind uint8, payload []byte) {
		frame, err := decodeFrame(Kind(kind), payload)
		if err != nil {
			if frame != nil {
				t.Error("a frame and an error")
			}
			return
		}
		again := frame.encode(nil)
		if c, ok := frame.(*chunkFrame); ok {
			again = append(again, payload[len(payload)-c.dataLen:]...)
		}
		if !bytes.Equal(again, payload) {
			t.Errorf("%v %x\nis encoded as %x", Kind(kind), payload, again)
		}
		s := newState()
		frame.apply(s, log.Location{Segment: 1, Offset: log.HeaderSize, Length: uint32(len(payload))})
		s.encodeSnapshot(nil)
	})
}

// FuzzSnapshot decodes anything as a snapshot: it never panics, takes memory in
// proportion, and what is decoded is a state that survives its own encoding.
func FuzzSnapshot(f *testing.F) {
	f.Add(newState().encodeSnapshot(nil))
	f.Add(goldenState().encodeSnapshot(nil))
	s := newState()
	bigState(s, 20)
	f.Add(s.encodeSnapshot(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		before := allocated()
		s, err := decodeSnapshot(payload)
		if got, limit := allocated()-before, uint64(256*len(payload)+1<<16); got > limit {
			t.Errorf("%d bytes are allocated for %d", got, len(payload))
		}
		if err != nil {
			return
		}
		b := s.encodeSnapshot(nil)
		again, err := decodeSnapshot(b)
		if err != nil {
			t.Fatalf("%v of what was encoded", err)
		}
		if !bytes.Equal(again.encodeSnapshot(nil), b) {
			t.Error("it is another state")
		}
	})
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// FuzzReplay opens a directory whose only segment is anything: with its
// checksums as they are, and with checksums made right. Open never panics, is
// deterministic, and takes memory in proportion.
func FuzzReplay(f *testing.F) {
	d := crashdisk.New()
	j, _, err := Open(options(d))
	if err != nil {
		f.Fatal(err)
	}
	newRun(j).script()
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	for _, name := range segmentsOf(d) {
		f.Add(d.Content(name), true)
		f.Add(d.Content(name), false)
		f.Add(d.Content(name)[:3000], true)
	}
	f.Add(bytes.Repeat([]byte{0}, 300), true)
	f.Add([]byte(strings.Repeat(log.Magic, 100)), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, segment []byte, repair bool) {
		if len(segment) > 1<<18 {
			return
		}
		if repair {
			segment = repaired(segment)
		}
		first := replay(t, segment)
		if again := replay(t, segment); again != first {
			t.Errorf("once it is\n%s\nand once\n%s", first, again)
		}
	})
}

// replay opens what a segment's file holds and describes it.
func replay(t *testing.T, segment []byte) string {
	d := crashdisk.New()
	if err := d.Mkdir(Dir); err != nil {
		t.Fatal(err)
	}
	file, err := d.Create(log.SegmentName(1))
	if err == nil {
		_, err = file.WriteAt(segment, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	o := options(d)
	o.Adopt = true
	o.WriterID = "w"
	before := allocated()
	look, r, err := Inspect(o)
	if err != nil {
		return err.Error()
	}
	// Two windows of the scanner, and of each byte some hundred.
	if got, limit := allocated()-before, uint64(300*len(segment)+8<<20); got > limit {
		t.Errorf("%d bytes are allocated for %d", got, len(segment))
	}
	inspected := describe(look) + strings.Join(r.Damage, "\n")
	j, r, err := Open(o)
	if err != nil {
		t.Fatalf("inspected, and not opened: %v", err)
	}
	opened := describe(j) + strings.Join(r.Damage, "\n")
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if d.Handles() != 0 {
		t.Errorf("%d files are open", d.Handles())
	}
	next, r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Damage) > 0 {
		t.Errorf("damage is told of twice: %v", r.Damage)
	}
	_ = next.Close()
	return inspected + opened
}

// repaired makes a segment's checksums right: of both headers, and of each
// frame from the first on.
func repaired(segment []byte) []byte {
	b := bytes.Clone(segment)
	if len(b) < 2*log.HeaderSize+log.FrameHeaderSize {
		return b
	}
	h := log.Header{Version: log.Version, Segment: 1, Salt: 7}
	copy(b, h.Encode())
	copy(b[len(b)-log.HeaderSize:], h.Encode())
	for at := log.HeaderSize; at+log.FrameHeaderSize <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n > len(b)-log.HeaderSize-at-log.FrameHeaderSize {
			return b
		}
		b[at+5], b[at+6], b[at+7] = 0, 0, 0
		if synced := binary.LittleEndian.Uint64(b[at+8:]); synced > uint64(at) {
			binary.LittleEndian.PutUint64(b[at+8:], synced%uint64(at))
		}
		seed := log.Place{Salt: h.Salt, Segment: h.Segment, Offset: int64(at)}.Seed()
		payload := b[at+log.FrameHeaderSize : at+log.FrameHeaderSize+n]
		binary.LittleEndian.PutUint32(b[at+16:], crc32.Update(seed, castagnoli, payload))
		binary.LittleEndian.PutUint32(b[at+20:], crc32.Update(seed, castagnoli, b[at:at+20]))
		at += int(log.FrameSize(n))
	}
	return b
}
