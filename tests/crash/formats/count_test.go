package formats

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// forgetful is a format with a bug: of some files it loses a record, and says
// nothing.
type forgetful struct {
	codec.Format
	left atomic.Int64 // files that still lose one
	lost atomic.Int64 // records
}

func (f *forgetful) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	inner, err := f.Format.NewWriter(w, m)
	if err != nil {
		return nil, err
	}
	return &forgetting{Writer: inner, Counter: inner.(codec.Counter), format: f, loses: f.left.Add(-1) >= 0}, nil
}

type forgetting struct {
	codec.Writer
	codec.Counter
	format *forgetful
	loses  bool
}

func (w *forgetting) Write(b *event.Batch) ([]codec.Reject, error) {
	if !w.loses || len(b.Events) < 2 {
		return w.Writer.Write(b)
	}
	w.loses = false
	w.format.lost.Add(1)
	less := *b
	less.Events = b.Events[:len(b.Events)-1]
	return w.Writer.Write(&less)
}

// TestAFileThatLostARecordIsNotPublished: footers and blocks tell how many
// records a file holds, and that is compared before its commit. The file is
// built anew.
func TestAFileThatLostARecordIsNotPublished(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			inner := newFormat(t, k)
			probe, err := inner.NewWriter(io.Discard, codec.Meta{})
			if err != nil {
				t.Fatal(err)
			}
			if _, counts := probe.(codec.Counter); !counts {
				if k.name != "json.gz" {
					t.Error("its files don't count their records")
				}
				return // rows have no count
			}
			synctest.Test(t, func(t *testing.T) {
				f := &forgetful{Format: inner}
				f.left.Store(2)
				w := newWorld(t)
				s, err := w.open(f)
				if err != nil {
					t.Fatal(err)
				}
				for i := range chunks {
					w.deliver(s, i, 1)
				}
				time.Sleep(10 * time.Minute)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				for _, fault := range w.check() {
					t.Error(fault)
				}
				if f.lost.Load() != 2 {
					t.Errorf("%d files lost a record instead of 2", f.lost.Load())
				}
			})
		})
	}
}
