package codectest

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
	h.begin(t, f).learn(shares)
	whole := func() *file {
		x := h.begin(t, f)
		x.add(shares[0], byWrite)
		x.add(shares[1], h.ways()[min(1, len(h.ways())-1)])
		x.add(shares[2], byWrite)
		x.check()
		return x
	}
	places := rooms(whole().writes(), h.Slow)
	for name, tc := range map[string]struct{ err, want error }{
		"an error":                  {errDisk, errDisk},
		"a short write without one": {nil, io.ErrShortWrite},
	} {
		for _, room := range places {
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
	whole() // the next file
}

// rooms are where to fail: where the io.Writer was called, a byte behind that, at
// some of the first bytes, and at the last.
func rooms(calls []int, slow bool) (all []int) {
	most := 48
	if slow {
		most = 12
	}
	step := max(1, len(calls)/most)
	for i := 0; i < len(calls)-1; i += step {
		all = append(all, calls[i], calls[i]+1)
	}
	end := calls[len(calls)-1]
	for room := 2; room < end && room < most/2; room++ {
		all = append(all, room)
	}
	return slices.Compact(slices.Sorted(slices.Values(append(all, end-1))))
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
