package parquet_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// formatOf is the format with a schema, which is learned if given is empty.
func formatOf(tb testing.TB, o parquet.Options, given string, strict bool) codec.Format {
	tb.Helper()
	so := schema.Options{DateKey: "date", TagKey: "tag", Strict: strict}
	if given != "" {
		so.Path = filepath.Join(tb.TempDir(), "given.avsc")
		if err := os.WriteFile(so.Path, []byte(given), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := schema.Open(so)
	if err != nil {
		tb.Fatal(err)
	}
	o.Schemas = s
	f, err := parquet.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func learning(tb testing.TB) codec.Format { return formatOf(tb, parquet.Options{}, "", false) }

func batch(chunk []byte) *event.Batch {
	events, _ := Read(chunk)
	return &event.Batch{Tag: "app.log", Arrival: time.Unix(1767225600, 0), Events: events}
}

// TestChunks: usual chunks come back whole under a learned schema, with each
// compression.
func TestChunks(t *testing.T) {
	chunks := map[string][]byte{"kubernetes": Kubernetes(3000), "plain": Plain(5000), "otlp": OTLP(3, 50), "one": Plain(1)}
	for name, chunk := range chunks {
		for _, compression := range parquet.Compressions() {
			t.Run(name+"/"+compression, func(t *testing.T) {
				f := newFile(t, formatOf(t, parquet.Options{Compression: compression}, "", false))
				b := batch(chunk)
				if r := f.write(b); len(r) > 0 {
					t.Fatalf("rejected: %s", r[0].Reason)
				}
				sameRecords(t, f.close(), b.Events, b.Tag)
			})
		}
	}
}

// TestHostileChunks: whatever is an event comes back, in a column or in _extra.
func TestHostileChunks(t *testing.T) {
	for _, h := range HostileChunks() {
		t.Run(h.Name, func(t *testing.T) { chunkComesBack(t, h.Chunk) })
	}
}

func chunkComesBack(t *testing.T, chunk []byte) {
	t.Helper()
	f := newFile(t, learning(t))
	b := batch(chunk)
	var sound []*event.Event
	for _, e := range b.Events {
		if e.Malformed == "" {
			sound = append(sound, e)
		}
	}
	if r := f.write(b); len(r) != len(b.Events)-len(sound) {
		t.Fatalf("%d of %d events rejected: %v", len(r), len(b.Events), r)
	}
	sameRecords(t, f.close(), sound, b.Tag)
}

// TestEvolution: of 1,000 chunks whose fields come, go and change their type,
// every field of every record is in a column or in _extra, and the schema never
// ends a part: there are as many as are rolled. Row groups are small, so that
// there are many.
func TestEvolution(t *testing.T) {
	format := formatOf(t, parquet.Options{Memory: 1, RowGroup: 1 << 10}, "", false)
	r := rand.New(rand.NewPCG(1, 2))
	const chunks, perPart = 1000, 50
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
		c := sameRecords(t, f.close(), all, "app.log")
		if c.groups < 2 {
			t.Errorf("part %d has %d row groups", part, c.groups)
		}
	}
}

// TestAnyRecord: whatever msgpack holds comes back.
func TestAnyRecord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		format := learning(t)
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

func TestMetadata(t *testing.T) {
	f := newFile(t, learning(t))
	f.write(batch(Plain(3)))
	c, err := read(f.close())
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"out_hdfs.writer_id": "host-1", "out_hdfs.part": "7", "out_hdfs.created": "2026-01-01T00:00:00Z",
	} {
		if c.keyValues[key] != want {
			t.Errorf("%s is %q, want %q", key, c.keyValues[key], want)
		}
	}
	if len(c.keyValues["out_hdfs.schema_id"]) != 16 {
		t.Errorf("the schema's id is %q", c.keyValues["out_hdfs.schema_id"])
	}
}

// TestNoRecords: a file without records is still one that readers open.
func TestNoRecords(t *testing.T) {
	c, err := read(newFile(t, learning(t)).close())
	if err != nil || len(c.rows) != 0 || len(c.columns) != 3 {
		t.Fatalf("%d rows of %q, %v", len(c.rows), c.columns, err)
	}
}

func TestUnknownCompression(t *testing.T) {
	_, err := parquet.New(parquet.Options{Compression: "bzip2"})
	if !errors.Is(err, parquet.ErrCompression) || !strings.Contains(err.Error(), "zstd") {
		t.Fatalf("got %v", err)
	}
}

// failing is a disk that is full after some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFirstErrorIsFinal at every byte that the file can fail at.
func TestFirstErrorIsFinal(t *testing.T) {
	format := formatOf(t, parquet.Options{RowGroup: 4 << 10}, "", false)
	whole := newFile(t, format)
	whole.write(batch(Kubernetes(600)))
	size := len(whole.close())
	for left := 0; left < size; left += 997 {
		w, err := format.NewWriter(&failing{left}, codec.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(batch(Kubernetes(600)))
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("after %d bytes: %v", left, err)
		}
		if again := w.Close(); !errors.Is(again, errFull) {
			t.Fatalf("after %d bytes the second error is %v", left, again)
		}
	}
}

// TestUnsoundEvents: events that no Reader checked are rejected, not followed.
func TestUnsoundEvents(t *testing.T) {
	rows := map[string][]byte{
		"cut map":    {0x82, 0xa1, 'a', 1},
		"no map":     {0x93, 1, 2, 3},
		"nothing":    {},
		"cut string": {0x81, 0xa1, 'a', 0xd9, 200, 'x'},
	}
	for name, body := range rows {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, learning(t))
			b := batch(Plain(2))
			b.Events = append(b.Events, &event.Event{Body: body, Raw: body})
			if r := f.write(b); len(r) != 1 || r[0].Event != b.Events[2] {
				t.Fatalf("rejects: %v", r)
			}
			sameRecords(t, f.close(), b.Events[:2], b.Tag)
		})
	}
}
