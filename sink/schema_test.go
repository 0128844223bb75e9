package sink_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// changing is a format whose schema changes: every other block is of a schema
// that the file doesn't have. It counts what it writes, as a footer does.
type changing struct{ codec.BlockFormat }

func (c changing) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	inner, err := c.BlockFormat.NewWriter(w, m)
	if err != nil {
		return nil, err
	}
	return &changed{BlockWriter: inner.(codec.BlockWriter)}, nil
}

type changed struct {
	codec.BlockWriter
	blocks  int
	records int64
}

func (c *changed) WriteBlock(block []byte, records int) error {
	if c.blocks++; c.blocks%2 == 1 {
		return fmt.Errorf("write %d records: %w", records, codec.ErrOtherSchema)
	}
	c.records += int64(records)
	return c.BlockWriter.WriteBlock(block, records)
}

func (c *changed) Write(b *event.Batch) ([]codec.Reject, error) {
	rejects, err := c.BlockWriter.Write(b)
	c.records += int64(len(b.Events) - len(rejects))
	return rejects, err
}

func (c *changed) Records() int64 { return c.records }

// TestBlocksOfAnotherSchema: their events are encoded again, once each, without
// those that were rejected ahead.
func TestBlocksOfAnotherSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.Format = changing{c.Format.(codec.BlockFormat)} }
		s := w.Open()
		for i := range 40 {
			w.Must(s, sinktest.ChunkOf(i))
		}
		for i, kind := range sinktest.ChunkKinds {
			w.Must(s, kind.Make(100+i))
		}
		w.Close(s)
		w.MustBeRight()
	})
}
