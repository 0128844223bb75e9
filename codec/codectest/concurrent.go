package codectest

import (
	"bytes"
	"sync"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
)

// manyEncoders: blocks that are encoded side by side are the same as if one
// encoder had made them one after the other.
func manyEncoders(t *testing.T, h Harness) {
	if !h.Blocks {
		return
	}
	f := h.New().(codec.BlockFormat)
	const encoders, each = 4, 6
	shares := make([]share, encoders*each)
	for i := range shares {
		n := 20
		if i%5 == 2 && !h.Slow {
			n = 900
		}
		shares[i] = records(i*1000, n, 0)
	}
	h.begin(t, f).learn(shares)
	first := h.begin(t, f)
	for _, s := range shares {
		first.add(s, byBlock)
	}
	alone := h.SameBut(first.check())
	blocks := make([][]byte, len(shares))
	var wg sync.WaitGroup
	for e := range encoders {
		wg.Go(func() {
			enc := f.NewBlockEncoder()
			for i := e; i < len(shares); i += encoders {
				blocks[i], _ = enc.Encode(nil, shares[i].batch)
			}
		})
	}
	wg.Wait()
	x := h.begin(t, f)
	for i, s := range shares {
		x.block, x.records, x.joined = blocks[i], len(s.keys), []share{s}
		x.flush()
		x.keys = append(x.keys, s.keys...)
	}
	if !bytes.Equal(h.SameBut(x.check()), alone) {
		t.Error("the file differs from that of one encoder")
	}
}

// manyFiles are written side by side by one format.
func manyFiles(t *testing.T, h Harness) {
	f := h.New()
	files := make([]*file, 4)
	var wg sync.WaitGroup
	for i := range files {
		wg.Go(func() {
			for range 3 {
				x := h.begin(t, f)
				files[i] = x
				for k := range 10 {
					x.add(records(k*100, 1+k*i*7, 0), h.ways()[k%len(h.ways())])
				}
				x.close()
			}
		})
	}
	wg.Wait()
	for _, x := range files {
		if got := x.read(x.out.Bytes()); len(got) != len(x.keys) || differ(got, x.keys) < len(got) {
			t.Errorf("%d records became %d; they differ at %d", len(x.keys), len(got), differ(got, x.keys))
		}
	}
}
