package encode_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/basepath"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/encode"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// live is a journal in which each chunk is wanted whole.
type live struct{ data []byte }

func (l live) Chunk(uint64) (journal.Live, bool) { return journal.Live{}, true }
func (l live) Covered(uint64) journal.Coverage   { return journal.Coverage{} }
func (l live) Read(_ uint64, buf []byte) (journal.Payload, error) {
	return journal.Payload{Data: append(buf, l.data...)}, nil
}

// TestAJobAccountsForWhatItHolds: a job has taken what its chunk's size tells, then
// what its records and blocks turn out to be, and nothing when it is released.
func TestAJobAccountsForWhatItHolds(t *testing.T) {
	for _, row := range []struct {
		name    string
		records int
		body    string
		more    bool // than the chunk's size tells
	}{
		{"records of a few bytes", 20_000, "", true},
		{"large records", 20, strings.Repeat("x", 20_000), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var data []byte
			for range row.records {
				data = eventtest.Append(data, []any{[]any{eventtest.EventTime(1, 0), eventtest.Map{}}, eventtest.Map{"m", row.body}})
			}
			s := encode.New(encode.Config{
				NewAssigner: func() assigner.Assigner { return basepath.Assigner{} },
				Format:      partfile.Format{Format: json.New(json.Options{})},
				Workers:     1,
			}, live{data}, memory.New(0))
			workers := run.NewGroup(t.Context(), slog.New(slog.DiscardHandler))
			s.Start(workers)
			work := memory.NewWork(1 << 30)
			o := chunk.Owed{Seq: 1, Size: int64(len(data))}
			first := o.Memory()
			if !s.Submit(t.Context(), o, work.Enter(t.Context(), first)) {
				t.Fatal("not submitted")
			}
			j := <-s.Ordered()
			<-j.Done
			if j.Err != nil || j.Records != uint32(row.records) {
				t.Fatalf("%d records, %v", j.Records, j.Err)
			}
			held := int64(cap(j.Data) + cap(j.Blocks))
			if taken := work.Taken(); taken < held || (taken > first) != row.more {
				t.Errorf("it holds %d bytes, took %d at first and then %d", held, first, taken)
			}
			if j.Release(memory.New(0)); work.Taken() != 0 {
				t.Errorf("%d bytes are left", work.Taken())
			}
		})
	}
}
