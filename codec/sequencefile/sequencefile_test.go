package sequencefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

var arrival = time.UnixMilli(1767225600123)

func jsonLines() codec.BlockEncoder { return json.NewEncoder(json.Options{}) }

func textLines() codec.BlockEncoder {
	return text.New(text.Options{}).(codec.BlockFormat).NewBlockEncoder()
}

func format(t testing.TB, o sequencefile.Options) codec.BlockFormat {
	t.Helper()
	if o.NewLines == nil {
		o.NewLines = jsonLines
	}
	f, err := sequencefile.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var meta = codec.Meta{WriterID: "edge-7", Part: 42, Created: time.Unix(1767225600, 7)}

// write makes a file of the shares, every other one by Write.
func write(t interface{ Fatal(...any) }, f codec.BlockFormat, m codec.Meta, shares ...*event.Batch) []byte {
	var out bytes.Buffer
	w, err := f.NewWriter(&out, m)
	if err != nil {
		t.Fatal(err)
	}
	enc := f.NewBlockEncoder()
	sent := 0
	for i, b := range shares {
		var rejects []codec.Reject
		if i%2 == 1 {
			rejects, err = w.Write(b)
		} else {
			var block []byte
			block, rejects = enc.Encode(nil, b)
			err = w.(codec.BlockWriter).WriteBlock(block, len(b.Events)-len(rejects))
		}
		sent += len(b.Events) - len(rejects)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if counted := w.(codec.Counter).Records(); counted != int64(sent) {
		t.Fatal("the file counts ", counted, " records of ", sent)
	}
	if w.Size() != int64(out.Len()) {
		t.Fatal("size ", w.Size(), " of ", out.Len(), " bytes")
	}
	return out.Bytes()
}

func batch(bodies ...Map) *event.Batch {
	b := &event.Batch{Arrival: arrival}
	for i, body := range bodies {
		b.Events = append(b.Events, &event.Event{Time: At(100, uint32(i)*1e6), Body: Pack(body)})
	}
	return b
}

// variants are every kind of file.
func variants() (all []sequencefile.Options) {
	for _, c := range sequencefile.Compressions() {
		for _, typ := range []sequencefile.Type{sequencefile.Record, sequencefile.Block} {
			for _, b := range []bool{false, true} {
				all = append(all, sequencefile.Options{Compression: c, Type: typ, Bytes: b})
			}
		}
	}
	return all
}

func name(o sequencefile.Options) string {
	return fmt.Sprintf("%s %s bytes=%v", o.Compression, o.Type, o.Bytes)
}

func TestRecordsComeBack(t *testing.T) {
	long := strings.Repeat("长", 20_000)
	for _, o := range variants() {
		t.Run(name(o), func(t *testing.T) {
			f := format(t, o)
			b := write(t, f, meta,
				batch(Map{"a", 1}, Map{"b", "x\ny"}), batch(Map{"c", "订单🙂"}), batch(), batch(Map{"d", long}, Map{}))
			got, err := read(b)
			if err != nil {
				t.Fatal(err)
			}
			want := []record{
				{100000, `{"a":1}`}, {100001, `{"b":"x\ny"}`}, {100000, `{"c":"订单🙂"}`},
				{100000, `{"d":"` + long + `"}`}, {100001, `{}`},
			}
			if !slices.Equal(got.records, want) {
				t.Errorf("%d records came back as %d", len(want), len(got.records))
			}
			class := "org.apache.hadoop.io.Text"
			if o.Bytes {
				class = "org.apache.hadoop.io.BytesWritable"
			}
			block := o.Type == sequencefile.Block && o.Compression != compress.None
			if got.keyClass != "org.apache.hadoop.io.LongWritable" || got.valueClass != class || got.block != block {
				t.Errorf("the header says %+v", got)
			}
			metadata := map[string]string{"out_hdfs.writer_id": "edge-7", "out_hdfs.part": "42", "out_hdfs.created": "2026-01-01T00:00:00.000000007Z"}
			if !maps.Equal(got.metadata, metadata) {
				t.Errorf("the metadata are %v", got.metadata)
			}
			if f.Extension() != ".seq" {
				t.Errorf("extension %s", f.Extension())
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, tc := range []struct {
		name string
		time event.Time
		want int64
	}{
		{"milliseconds", At(1, 999999999), 1999},
		{"before 1970", At(-1, 1e6), -999},
		{"the epoch", At(0, 0), 0},
		{"unset is the arrival", event.Time{}, 1767225600123},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &event.Batch{Arrival: arrival, Events: []*event.Event{{Time: tc.time, Body: Pack(Map{})}}}
			got, err := read(write(t, format(t, sequencefile.Options{Compression: "none", Type: sequencefile.Block}), meta, b))
			if err != nil || len(got.records) != 1 || got.records[0].key != tc.want {
				t.Errorf("got %v, error %v", got.records, err)
			}
		})
	}
}

func TestValuesOfText(t *testing.T) {
	f := format(t, sequencefile.Options{NewLines: textLines, Compression: "none", Type: sequencefile.Block, Bytes: true})
	got, err := read(write(t, f, meta, batch(Map{"log", "a\nb\n"}, Map{"log", ""}, Map{"log", "\xff\n\n"})))
	want := []record{{100000, "a\nb"}, {100001, ""}, {100002, "\xff\n"}}
	if err != nil || !slices.Equal(got.records, want) {
		t.Errorf("got %v, error %v", got.records, err)
	}
}

// Readers that begin in the middle of a file look for a sync marker.
func TestSyncMarkers(t *testing.T) {
	big := strings.Repeat("x", 10_000)
	var bodies []Map
	for i := range 200 {
		bodies = append(bodies, Map{"i", i, "log", big})
	}
	for _, o := range variants() {
		if o.Compression == compress.Bzip2 {
			continue // minutes, under the race detector
		}
		t.Run(name(o), func(t *testing.T) {
			got, err := read(write(t, format(t, o), meta, batch(bodies...), batch(bodies...), batch(bodies[:5]...)))
			if err != nil || len(got.records) != 405 {
				t.Fatalf("%d records, error %v", len(got.records), err)
			}
			switch {
			case got.block && len(got.syncs) < 4:
				t.Errorf("4 MB lie in %d blocks", len(got.syncs))
			case o.Compression == compress.None && len(got.syncs) < 30:
				t.Errorf("4 MB have %d markers", len(got.syncs))
			}
		})
	}
}

func TestEachFileHasItsOwnMarker(t *testing.T) {
	f := format(t, sequencefile.Options{Compression: "none", Type: sequencefile.Block})
	seen := map[string]bool{}
	for _, m := range []codec.Meta{meta,
		{WriterID: "edge-8", Part: 42, Created: meta.Created},
		{WriterID: "edge-7", Part: 43, Created: meta.Created},
		{WriterID: "edge-7", Part: 42, Created: meta.Created.Add(1)},
	} {
		r := reader{b: write(t, f, m, batch(Map{}))}
		r.header()
		seen[string(r.sync)] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 files have %d markers", len(seen))
	}
	if !bytes.Equal(write(t, f, meta, batch(Map{"a", 1})), write(t, f, meta, batch(Map{"a", 1}))) {
		t.Error("the same part became two files")
	}
}

func TestOptionsThatCantBe(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    sequencefile.Options
		want error
	}{
		{"an unknown compression", sequencefile.Options{Compression: "rar", Type: sequencefile.Block}, sequencefile.ErrCompression},
		{"no compression named", sequencefile.Options{Type: sequencefile.Block}, sequencefile.ErrCompression},
		{"an unknown type", sequencefile.Options{Compression: "none", Type: "file"}, sequencefile.ErrType},
		{"no such level", sequencefile.Options{Compression: "gzip", Type: sequencefile.Block, Level: 10}, compress.ErrLevel},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f, err := sequencefile.New(tc.o); !errors.Is(err, tc.want) {
				t.Errorf("got %v, error %v", f, err)
			}
		})
	}
}

func TestAnyShares(t *testing.T) {
	kinds := slices.DeleteFunc(variants(), func(o sequencefile.Options) bool { return o.Compression == compress.Bzip2 })
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(kinds).Draw(t, "kind")
		o.NewLines = jsonLines
		f, err := sequencefile.New(o)
		if err != nil {
			t.Fatal(err)
		}
		var shares []*event.Batch
		var want []record
		for range rapid.IntRange(0, 5).Draw(t, "shares") {
			b := &event.Batch{Arrival: arrival}
			size := rapid.SampledFrom([]int{0, 10, 5000, 70_000}).Draw(t, "size")
			for i := range rapid.IntRange(0, 8).Draw(t, "events") {
				body := Map{"i", i, "log", strings.Repeat("x", size)}
				b.Events = append(b.Events, &event.Event{Time: At(int64(i), 0), Body: Pack(body)})
				want = append(want, record{int64(i) * 1000, fmt.Sprintf(`{"i":%d,"log":"%s"}`, i, strings.Repeat("x", size))})
			}
			shares = append(shares, b)
		}
		out := write(t, f, meta, shares...)
		if len(want) == 0 {
			if len(out) > 0 {
				t.Fatalf("no record became %d bytes", len(out))
			}
			return
		}
		got, err := read(out)
		if err != nil || !slices.Equal(got.records, want) {
			t.Fatalf("%d records came back as %d, error %v", len(want), len(got.records), err)
		}
	})
}

func FuzzSequenceFile(f *testing.F) {
	for i, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk, uint8(i))
		}
	}
	f.Add(Kubernetes(3), uint8(3))
	kinds := variants()
	f.Fuzz(func(t *testing.T, chunk []byte, kind uint8) {
		o := kinds[int(kind)%len(kinds)]
		events, _ := Read(chunk)
		b := &event.Batch{Arrival: arrival, Events: events}
		plain, rejects := jsonLines().Encode(nil, b)
		var out []byte
		Bounded(t, len(chunk), func() { out = write(t, format(t, o), meta, b) })
		if len(events) == len(rejects) {
			return
		}
		got, err := read(out)
		if err != nil {
			t.Fatal(err)
		}
		var lines []byte
		for _, r := range got.records {
			lines = append(append(lines, r.value...), '\n')
		}
		if !bytes.Equal(lines, plain) {
			t.Errorf("%q came back as %q", plain, lines)
		}
	})
}

func TestSharesAllocateNothing(t *testing.T) {
	for _, o := range variants() {
		if o.Compression == compress.Bzip2 || o.Compression == compress.Snappy {
			continue // their encoders allocate
		}
		t.Run(name(o), func(t *testing.T) {
			events, _ := Read(Kubernetes(400))
			b := &event.Batch{Arrival: arrival, Events: events}
			enc := format(t, o).NewBlockEncoder()
			block := make([]byte, 0, 1<<21)
			block, _ = enc.Encode(block, b)
			if n := testing.AllocsPerRun(5, func() { block, _ = enc.Encode(block[:0], b) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkBlocks(b *testing.B) {
	chunk := Kubernetes(2000)
	events, _ := Read(chunk)
	batch := &event.Batch{Arrival: arrival, Events: events}
	for _, o := range []sequencefile.Options{
		{Compression: "none", Type: sequencefile.Block},
		{Compression: compress.Deflate, Type: sequencefile.Record},
		{Compression: compress.Deflate, Type: sequencefile.Block},
		{Compression: compress.Snappy, Type: sequencefile.Block},
		{Compression: compress.Zstd, Type: sequencefile.Block},
	} {
		b.Run(o.Compression+" "+string(o.Type), func(b *testing.B) {
			enc := format(b, o).NewBlockEncoder()
			var dst []byte
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = enc.Encode(dst[:0], batch)
			}
			b.ReportMetric(float64(len(dst))/float64(len(chunk)), "out/in")
		})
	}
}
