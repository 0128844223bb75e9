package codectest

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
)

var errDisk = errors.New("no disk")

// failing takes so many bytes, and then no more.
type failing struct {
	left   int
	err    error // nil says short without an error
	failed bool
	after  int // bytes that it was given after it had failed
}

func (f *failing) Write(b []byte) (int, error) {
	if f.failed {
		f.after += len(b)
		return 0, errors.New("it has failed before")
	}
	if len(b) > f.left {
		f.failed = true
		return f.left, f.err
	}
	f.left -= len(b)
	return len(b), nil
}

// firstErrorIsFinal: wherever the io.Writer fails or writes short, the error
// comes by Close, every later call has it too, nothing more is written, and the
// format's next file is sound.
func firstErrorIsFinal(t *testing.T, h Harness) {
	f := h.New()
	shares := []share{records(0, 3, 0), records(10, 300, 1000), records(1000, 3, 0)}
	if h.Slow {
		shares[1] = records(10, 100, 0)
	}
	whole := func() []byte {
		x := h.begin(t, f)
		for i, s := range shares {
			x.add(s, h.ways()[i%len(h.ways())])
		}
		return x.check()
	}
	h.begin(t, f).learn(shares)
	length := len(whole())
	for name, tc := range map[string]struct{ err, want error }{
		"an error":                  {errDisk, errDisk},
		"a short write without one": {nil, io.ErrShortWrite},
	} {
		for _, room := range rooms(length, h.Slow) {
			t.Run(fmt.Sprintf("%s behind byte %d", name, room), func(t *testing.T) {
				to := &failing{left: room, err: tc.err}
				w := h.writer(t, f, to)
				var first error
				for i, call := range []func() error{
					func() error { _, err := w.Write(shares[0].batch); return err },
					func() error { return h.writeBlock(f, w, shares[1]) },
					func() error { _, err := w.Write(shares[2].batch); return err },
					w.Close,
					func() error { _, err := w.Write(shares[0].batch); return err },
					func() error { return h.writeBlock(f, w, shares[0]) },
					w.Close,
				} {
					err := call()
					if first == nil && err == nil && (i < 3 || !to.failed) {
						continue // it may be told later, but by Close
					}
					if first = err; !errors.Is(err, tc.want) {
						t.Fatalf("call %d: %v", i, err)
					}
				}
				if !to.failed || to.after > 0 {
					t.Errorf("it failed: %v; %d bytes were written afterwards", to.failed, to.after)
				}
				if taken := int64(room); w.Size() < taken {
					t.Errorf("Size says %d of %d bytes that were written", w.Size(), taken)
				}
			})
		}
	}
	whole()
}

// rooms are places of a file of a length: each of the first, and some of all.
func rooms(length int, slow bool) (all []int) {
	first, some := 24, 16
	if slow {
		first, some = 3, 3
	}
	for room := 0; room < min(first, length); room++ {
		all = append(all, room)
	}
	for i := range some {
		if room := length * i / some; room >= first {
			all = append(all, room)
		}
	}
	return append(all, length-1)
}

// writeBlock writes a share as a block, if the format has them.
func (h *Harness) writeBlock(f codec.Format, w codec.Writer, s share) error {
	if !h.Blocks {
		_, err := w.Write(s.batch)
		return err
	}
	block, _ := f.(codec.BlockFormat).NewBlockEncoder().Encode(nil, s.batch)
	err := w.(codec.BlockWriter).WriteBlock(block, len(s.keys))
	if errors.Is(err, codec.ErrOtherSchema) {
		_, err = w.Write(s.batch)
	}
	return err
}
