package crash

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// TestAHeldChunkIsPublishedAsItsLogLineSays: three processes in a row ended
// while they decoded a chunk. The next holds it, publishes all others, and
// names the command that ends that.
func TestAHeldChunkIsPublishedAsItsLogLineSays(t *testing.T) {
	const records, deaths = 3, 3
	dir := t.TempDir()
	o := options(host.Plugin(t), dir, 1)
	o.Linger, o.Rate = 0, 0
	var data []byte
	for id := 1; id <= records; id++ {
		data = eventtest.Append(data, eventtest.Event(eventtest.At(1_767_225_600, 0), eventtest.Map{}, eventtest.Map{"id", id}))
	}
	d, err := disk.NewOS(makeDir(t, o.Outputs[0].Set["state_dir"]))
	if err != nil {
		t.Fatal(err)
	}
	var seq uint64
	for life := range deaths {
		j, _, err := journal.Open(journal.Options{
			Disk: d, Log: slog.New(slog.DiscardHandler), Owner: "test", DefaultWriterID: func([16]byte) string { return "w" },
		})
		if err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			a, err := j.AppendChunk(t.Context(), "host.test", time.Now(), journal.Origin{}, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			seq = a.Seq
		}
		if err := j.Append(journal.Decoding{Seqs: []uint64{seq}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var ledger host.Ledger
	ledger.Add([]host.Event{
		{Event: "chunk", Chunk: "held", First: 1, Records: records},
		{Event: "answer", Chunk: "held", Output: "hdfs.0", Answer: host.OK},
	})
	if held := lastLife(t, host.Build(t), o, &ledger); held != 1 {
		t.Errorf("%d chunks were held", held)
	}
	files, err := localFiles(filepath.Join(dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, files, &ledger)
}
