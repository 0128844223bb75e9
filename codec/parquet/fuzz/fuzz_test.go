// Package fuzz fuzzes the Parquet encoder with a reader of its own, parquet-go:
// the tests beside the encoder read with arrow-go, which takes minutes to build
// with the coverage that fuzzing asks for.
package fuzz

import (
	"bytes"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

const tag = "app.log"

// write makes a file of the chunk's events under a learned schema, and answers
// which of them are in it.
func write(t *testing.T, chunk []byte) (file []byte, written []*event.Event) {
	t.Helper()
	s, err := schema.Open(schema.Options{DateKey: "date", TagKey: "tag"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.New(parquet.Options{Schemas: s})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := f.NewWriter(&out, codec.Meta{WriterID: "fuzz"})
	if err != nil {
		t.Fatal(err)
	}
	b := &event.Batch{Tag: tag}
	b.Events, _ = eventtest.Read(chunk)
	rejects, err := w.Write(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range b.Events {
		if e.Malformed == "" {
			written = append(written, e)
		}
	}
	if len(rejects) != len(b.Events)-len(written) {
		t.Fatalf("%d of %d events are rejected, %d are malformed: %v", len(rejects), len(b.Events), len(b.Events)-len(written), rejects)
	}
	if n := w.(codec.Counter).Records(); n != int64(len(written)) {
		t.Fatalf("the footer counts %d records of %d", n, len(written))
	}
	return out.Bytes(), written
}

// FuzzChunk: any bytes give a file that another reader reads, with the same
// records as far as they are any.
func FuzzChunk(f *testing.F) {
	for _, h := range eventtest.HostileChunks() {
		if len(h.Chunk) < 10_000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(eventtest.Kubernetes(3))
	f.Add(eventtest.OTLP(1, 2))
	f.Fuzz(comesBack)
}

// TestChunks: the reader reads usual and odd chunks.
func TestChunks(t *testing.T) {
	for name, chunk := range map[string][]byte{
		"kubernetes": eventtest.Kubernetes(1000), "plain": eventtest.Plain(1000), "otlp": eventtest.OTLP(3, 50),
		"lists": eventtest.Pack(
			eventtest.Event(eventtest.At(1, 0), eventtest.Map{}, eventtest.Map{"l", []any{[]any{1, nil}, []any{}, nil, []any{2}}, "m", []any{eventtest.Map{"x", []any{"a", "b"}}}}),
			eventtest.Event(eventtest.At(2, 0), eventtest.Map{}, eventtest.Map{"l", []any{}, "m", nil}),
			eventtest.Event(nil, eventtest.Map{}, eventtest.Map{"l", []any{[]any{3, 4, 5}}, "m", []any{eventtest.Map{}, eventtest.Map{"x", []any{nil, "c"}}}}),
		),
	} {
		t.Run(name, func(t *testing.T) { comesBack(t, chunk) })
	}
	for _, h := range eventtest.HostileChunks() {
		t.Run(h.Name, func(t *testing.T) { comesBack(t, h.Chunk) })
	}
}

// TestTheReaderSeesDamage: it isn't one that any file satisfies.
func TestTheReaderSeesDamage(t *testing.T) {
	file, events := write(t, eventtest.Kubernetes(50))
	if _, err := read(file[:len(file)-1]); err == nil {
		t.Error("a file that is cut short is read")
	}
	c, err := read(file)
	if err != nil || len(c.rows) != len(events) {
		t.Fatalf("%d rows, error %v", len(c.rows), err)
	}
	if _, err := read(append([]byte("PAR1"), file[8:]...)); err == nil {
		t.Error("a file whose pages are displaced is read")
	}
}

func comesBack(t *testing.T, chunk []byte) {
	var file []byte
	var events []*event.Event
	eventtest.Bounded(t, len(chunk), func() { file, events = write(t, chunk) })
	c, err := read(file)
	if err != nil {
		t.Fatalf("parquet-go can't read the file: %v", err)
	}
	if len(c.rows) != len(events) {
		t.Fatalf("%d rows of %d events", len(c.rows), len(events))
	}
	fields, err := schematest.Root([]byte(c.schema))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		want, err := schematest.Record(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schematest.Restore(fields, c.rows[i], true)
		if err != nil {
			t.Fatal(err)
		}
		if d := schematest.Differs(want, got); d != "" {
			t.Fatalf("record %d: %s\nschema: %s", i, d, c.schema)
		}
		date, _ := c.rows[i]["date"].(time.Time)
		if e.Time.Set != !date.IsZero() || e.Time.Set && date.UnixMicro() != schematest.Micros(e.Time) {
			t.Fatalf("record %d of %v has the date %v", i, e.Time, c.rows[i]["date"])
		}
		if c.rows[i]["tag"] != tag {
			t.Fatalf("record %d has the tag %v", i, c.rows[i]["tag"])
		}
	}
}
