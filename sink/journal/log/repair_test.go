package log

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

// TestADamagedHeaderIsMadeOut: one byte of a frame's header, whichever and however it
// changes, costs nothing, where the frame is found and where it is read.
func TestADamagedHeaderIsMadeOut(t *testing.T) {
	d := crashdisk.New()
	l, _ := begun(t, d)
	entries := []*Entry{{Kind: note, Parts: [][]byte{[]byte("one frame")}}, {Kind: note + 40, Parts: [][]byte{[]byte("another \x00\x00")}}, {Kind: note}}
	for _, e := range entries {
		if err := l.Append([]*Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	name := SegmentName(l.Current())
	for i, e := range entries[:2] {
		for at := range int64(FrameHeaderSize) {
			for _, by := range []byte{1, 0x80, 0xff} {
				change := func(b []byte) []byte { b[e.At.Offset+at] ^= by; return b }
				if err := d.Damage(name, change); err != nil {
					t.Fatal(err)
				}
				var got []Frame
				r, err := l.Replay(e.At.Segment, 0, func(f Frame) {
					f.Payload = append([]byte(nil), f.Payload...)
					got = append(got, f)
				})
				if err != nil || len(r.Bad) > 0 || len(r.Repaired) != 1 || r.Repaired[0] != e.At.Offset || len(got) != 4 {
					t.Fatalf("byte %d: %v, %+v, %d frames", at, err, r, len(got))
				}
				if f := got[i+1]; f.Kind != e.Kind || string(f.Payload) != string(e.Parts[0]) || f.At != e.At {
					t.Errorf("byte %d: %+v", at, f)
				}
				if b, err := l.Read(e.At, nil); err != nil || string(b) != string(e.Parts[0]) {
					t.Errorf("byte %d: read %q, %v", at, b, err)
				}
				if err := d.Damage(name, change); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestNothingIsMadeUp: what is made out of damaged bytes is the header that was there,
// or nothing.
func TestNothingIsMadeUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := Place{Salt: rapid.Uint64().Draw(rt, "salt"), Segment: 3, Offset: 4096}
		payload := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(rt, "payload")
		kind := Kind(rapid.IntRange(1, 40).Draw(rt, "kind"))
		var h [FrameHeaderSize]byte
		PutFrameHeader(&h, at, int64(rapid.IntRange(0, 4096).Draw(rt, "synced")), kind, [][]byte{payload})
		was, _ := getFrameHeader(&h, at, FrameSize(len(payload)))
		damaged, content := h, append([]byte(nil), payload...)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			if i := rapid.IntRange(0, FrameHeaderSize+len(content)-1).Draw(rt, "at"); i < FrameHeaderSize {
				damaged[i] ^= rapid.Byte().Draw(rt, "by")
			} else {
				content[i-FrameHeaderSize] ^= rapid.Byte().Draw(rt, "by")
			}
		}
		f, ok := repairHeader(damaged, at, content)
		if ok && (f != was || string(content) != string(payload)) {
			rt.Fatalf("it is %+v and was %+v", f, was)
		}
		if noise := rapid.SliceOfN(rapid.Byte(), FrameHeaderSize, FrameHeaderSize).Draw(rt, "noise"); string(noise) != string(h[:]) {
			if f, ok := repairHeader([FrameHeaderSize]byte(noise), at, payload); ok {
				rt.Fatalf("of noise it makes %+v", f)
			}
		}
	})
}
