package avro_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// TestEvolution: of 1,000 chunks whose fields come, go and change their type,
// every field of every record is in a column or in _extra, and the schema never
// ends a part: there are as many as are rolled.
func TestEvolution(t *testing.T) {
	format := formatOf(t, compress.Snappy, "", false)
	r := rand.New(rand.NewPCG(1, 2))
	const chunks, perPart = 1000, 50
	again := 0
	for part := range chunks / perPart {
		f := newFile(t, format)
		var all []*event.Event
		for i := range perPart {
			b := batch(schematest.Evolving(r, part*perPart+i))
			if rejects := f.write(b); len(rejects) > 0 {
				t.Fatalf("rejected: %s", rejects[0].Reason)
			}
			all = append(all, b.Events...)
		}
		sameRecords(t, f.close(), all, "app.log")
		again += f.again
	}
	if again == 0 || again > chunks/perPart {
		t.Errorf("%d batches were encoded twice; only a part's first may be", again)
	}
}

// TestAnyRecord: whatever msgpack holds comes back.
func TestAnyRecord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := formatOf(t, compress.None, "", false)
		for range rapid.IntRange(1, 3).Draw(rt, "parts") {
			f := newFile(t, format)
			var all []*event.Event
			for range rapid.IntRange(1, 3).Draw(rt, "chunks") {
				var chunk []byte
				for range rapid.IntRange(1, 4).Draw(rt, "events") {
					chunk = Append(chunk, Event(At(1767225600, 0), Map{}, Maps(3).Draw(rt, "record")))
				}
				b := batch(chunk)
				f.write(b)
				all = append(all, b.Events...)
			}
			sameRecords(t, f.close(), all, "app.log")
		}
	})
}

// FuzzChunk: any bytes give a file that the oracle reads, with the same
// records as far as they are any.
func FuzzChunk(f *testing.F) {
	for _, h := range HostileChunks() {
		f.Add(h.Chunk)
	}
	f.Add(Kubernetes(3))
	f.Add(OTLP(1, 2))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		x := newFile(t, formatOf(t, compress.Deflate, "", false))
		b := batch(chunk)
		var sound []*event.Event
		for _, e := range b.Events {
			if e.Malformed == "" {
				sound = append(sound, e)
			}
		}
		var rejects []codec.Reject
		var written []byte
		Bounded(t, len(chunk), func() {
			rejects = x.write(b)
			written = x.close()
		})
		if len(rejects) != len(b.Events)-len(sound) {
			t.Fatalf("%d of %d events rejected", len(rejects), len(b.Events))
		}
		sameRecords(t, written, sound, b.Tag)
	})
}
