package avro_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// formatOf is the format with a schema, which is learned if given is empty.
func formatOf(tb testing.TB, compression, given string, strict bool) codec.BlockFormat {
	tb.Helper()
	o := schema.Options{DateKey: "date", TagKey: "tag", Strict: strict}
	if given != "" {
		o.Path = filepath.Join(tb.TempDir(), "given.avsc")
		if err := os.WriteFile(o.Path, []byte(given), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := schema.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := avro.New(avro.Options{Compression: compression, Schemas: s})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// file writes one file as the sink does: blocks are encoded ahead, and what
// comes under another schema is written from its events.
type file struct {
	tb     testing.TB
	format codec.BlockFormat
	enc    codec.BlockEncoder
	out    bytes.Buffer
	w      codec.BlockWriter
	sent   int64
	again  int // batches that were encoded twice
}

func newFile(tb testing.TB, f codec.BlockFormat) *file {
	tb.Helper()
	x := &file{tb: tb, format: f, enc: f.NewBlockEncoder()}
	w, err := f.NewWriter(&x.out, codec.Meta{WriterID: "host-1", Part: 7, Created: time.Unix(1767225600, 0)})
	if err != nil {
		tb.Fatal(err)
	}
	x.w = w.(codec.BlockWriter)
	return x
}

// write adds the batch and returns what was rejected.
func (x *file) write(b *event.Batch) []codec.Reject {
	x.tb.Helper()
	block, rejects := x.enc.Encode(nil, b)
	n := len(b.Events) - len(rejects)
	err := x.w.WriteBlock(block, n)
	if errors.Is(err, codec.ErrOtherSchema) {
		x.again++
		rejected := map[*event.Event]bool{}
		for _, r := range rejects {
			rejected[r.Event] = true
		}
		left := *b
		left.Events = nil
		for _, e := range b.Events {
			if !rejected[e] {
				left.Events = append(left.Events, e)
			}
		}
		var more []codec.Reject
		more, err = x.w.Write(&left)
		if len(more) > 0 {
			x.tb.Fatalf("an event was rejected under another schema only: %s", more[0].Reason)
		}
	}
	if err != nil {
		x.tb.Fatal(err)
	}
	x.sent += int64(n)
	return rejects
}

func (x *file) close() []byte {
	x.tb.Helper()
	if err := x.w.Close(); err != nil {
		x.tb.Fatal(err)
	}
	if got := x.w.(codec.Counter).Records(); got != x.sent {
		x.tb.Fatalf("the file counts %d records, %d were written", got, x.sent)
	}
	if got := x.w.Size(); got != int64(x.out.Len()) {
		x.tb.Fatalf("Size is %d, the file has %d bytes", got, x.out.Len())
	}
	return x.out.Bytes()
}

// read returns the rows of a file, read by goavro.
func read(file []byte) (text []byte, rows []schematest.Row, err error) {
	r, err := goavro.NewOCFReader(bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	text = r.MetaData()["avro.schema"]
	var of any
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, nil, err
	}
	for r.Scan() {
		v, err := r.Read()
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, unwrap(of, v).(schematest.Row))
	}
	return text, rows, r.Err()
}

// unwrap takes goavro's {"long": 5} for the 5 in a union.
func unwrap(t, v any) any {
	switch t := t.(type) {
	case []any:
		m, ok := v.(map[string]any)
		if !ok || len(m) != 1 {
			return v
		}
		for name, x := range m {
			for _, b := range t {
				if one := schematest.NotNull(t); one != nil && !isUnion(one) {
					return unwrap(one, x)
				}
				if b == name || named(b) == name {
					return unwrap(b, x)
				}
			}
			return x
		}
	case map[string]any:
		switch t["type"] {
		case "record":
			for _, f := range t["fields"].([]any) {
				f := f.(map[string]any)
				m := v.(map[string]any)
				m[f["name"].(string)] = unwrap(f["type"], m[f["name"].(string)])
			}
		case "array":
			for i, x := range v.([]any) {
				v.([]any)[i] = unwrap(t["items"], x)
			}
		case "map":
			for k, x := range v.(map[string]any) {
				v.(map[string]any)[k] = unwrap(t["values"], x)
			}
		}
	}
	return v
}

func isUnion(t any) bool {
	_, ok := t.([]any)
	return ok
}

func named(t any) string {
	m, _ := t.(map[string]any)
	if n, ok := m["name"].(string); ok {
		return n
	}
	n, _ := m["type"].(string)
	return n
}

// sameRecords demands that a file of a learned schema holds the events, in
// their order.
func sameRecords(tb testing.TB, file []byte, events []*event.Event, tag string) {
	tb.Helper()
	text, rows, err := read(file)
	if err != nil {
		tb.Fatalf("goavro can't read the file: %v", err)
	}
	fields, err := schematest.Root(text)
	if err != nil {
		tb.Fatal(err)
	}
	if len(rows) != len(events) {
		tb.Fatalf("%d rows of %d events", len(rows), len(events))
	}
	for i, e := range events {
		want, err := schematest.Record(e.Body)
		if err != nil {
			tb.Fatal(err)
		}
		got, err := schematest.Restore(fields, rows[i], false)
		if err != nil {
			tb.Fatal(err)
		}
		if d := schematest.Differs(want, got); d != "" {
			tb.Fatalf("record %d: %s\nschema: %s", i, d, text)
		}
		date, _ := rows[i]["date"].(time.Time)
		if e.Time.Set != !date.IsZero() || e.Time.Set && date.UnixMicro() != schematest.Micros(e.Time) {
			tb.Fatalf("record %d of %v has the date %v", i, e.Time, rows[i]["date"])
		}
		if rows[i]["tag"] != tag {
			tb.Fatalf("record %d has the tag %v", i, rows[i]["tag"])
		}
	}
}

func batch(chunk []byte) *event.Batch {
	events, _ := Read(chunk)
	return &event.Batch{Tag: "app.log", Arrival: time.Unix(1767225600, 0), Events: events}
}

// TestChunks: usual chunks come back whole under a learned schema, with each
// compression that the oracle reads.
func TestChunks(t *testing.T) {
	chunks := map[string][]byte{"kubernetes": Kubernetes(3000), "plain": Plain(5000), "otlp": OTLP(3, 50), "one": Plain(1)}
	for name, chunk := range chunks {
		for _, compression := range []string{compress.None, compress.Snappy, compress.Deflate} {
			t.Run(name+"/"+compression, func(t *testing.T) {
				f := newFile(t, formatOf(t, compression, "", false))
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
		t.Run(h.Name, func(t *testing.T) {
			f := newFile(t, formatOf(t, compress.Snappy, "", false))
			b := batch(h.Chunk)
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
		})
	}
}

func TestHeader(t *testing.T) {
	f := newFile(t, formatOf(t, "", "", false))
	f.write(batch(Plain(3)))
	r, err := goavro.NewOCFReader(bytes.NewReader(f.close()))
	if err != nil {
		t.Fatal(err)
	}
	m := r.MetaData()
	for key, want := range map[string]string{
		"avro.codec": "snappy", "out_hdfs.writer_id": "host-1", "out_hdfs.part": "7", "out_hdfs.created": "2026-01-01T00:00:00Z",
	} {
		if string(m[key]) != want {
			t.Errorf("%s is %q, want %q", key, m[key], want)
		}
	}
	if len(m["out_hdfs.schema_id"]) != 16 {
		t.Errorf("the schema's id is %q", m["out_hdfs.schema_id"])
	}
}

// TestUnknownCompression names the choices.
func TestUnknownCompression(t *testing.T) {
	_, err := avro.New(avro.Options{Compression: "gzip"})
	if !errors.Is(err, avro.ErrCompression) || !strings.Contains(err.Error(), "deflate") {
		t.Fatalf("got %v", err)
	}
}

// TestForeignBlocks: what no encoder made, or what was cut, is refused before
// anything is written.
func TestForeignBlocks(t *testing.T) {
	format := formatOf(t, "", "", false)
	good, _ := format.NewBlockEncoder().Encode(nil, batch(Plain(50)))
	rows := map[string]struct {
		block   []byte
		records int
	}{
		"text":        {[]byte("no block"), 1},
		"cut":         {good[:len(good)-1], 50},
		"wrong count": {good, 49},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w, _ := format.NewWriter(&out, codec.Meta{})
			if err := w.(codec.BlockWriter).WriteBlock(row.block, row.records); err == nil || errors.Is(err, codec.ErrOtherSchema) {
				t.Errorf("got %v", err)
			}
			if out.Len() > 0 {
				t.Errorf("%d bytes were written", out.Len())
			}
		})
	}
}

// TestSmallShares: shares too small for a block of their own are gathered, in
// order with large ones.
func TestSmallShares(t *testing.T) {
	f := newFile(t, formatOf(t, compress.Snappy, "", false))
	var all []*event.Event
	for i := range 300 {
		n := 2
		if i%100 == 50 {
			n = 2000
		}
		b := batch(Plain(n))
		f.write(b)
		all = append(all, b.Events...)
	}
	if most := int64(512 << 10); f.w.Buffered() > most {
		t.Errorf("the file holds %d bytes", f.w.Buffered())
	}
	data := f.close()
	sameRecords(t, data, all, "app.log")
	if n := len(splitOf(t, data).blocks); n < 3 || n > 20 {
		t.Errorf("%d blocks", n)
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
			f := newFile(t, formatOf(t, "", "", false))
			good := batch(Plain(2))
			good.Events = append(good.Events, &event.Event{Body: body, Raw: body})
			if r := f.write(good); len(r) != 1 || r[0].Event != good.Events[2] {
				t.Fatalf("rejects: %v", r)
			}
			sameRecords(t, f.close(), good.Events[:2], good.Tag)
		})
	}
}

// TestLargeBatches: a batch of more than a block becomes several, of which the
// last isn't a small one.
func TestLargeBatches(t *testing.T) {
	const block, small = 256 << 10, 32 << 10
	for n := 240; n < 560; n += 20 {
		var chunk []byte
		for i := range n {
			chunk = Append(chunk, Event(At(1767225600, 0), Map{}, Map{"log", strings.Repeat("x", 1000), "id", i}))
		}
		for _, ahead := range []bool{false, true} {
			f := newFile(t, formatOf(t, compress.None, "", false))
			b := batch(chunk)
			if ahead {
				f.write(b)
			} else {
				if _, err := f.w.Write(b); err != nil {
					t.Fatal(err)
				}
				f.sent += int64(n)
			}
			data := f.close()
			sameRecords(t, data, b.Events, b.Tag)
			blocks := splitOf(t, data).blocks
			for i, b := range blocks {
				if len(b.data) < small || len(b.data) > block+small+2000 {
					t.Errorf("of %d records, block %d of %d has %d bytes", n, i, len(blocks), len(b.data))
				}
			}
		}
	}
}
