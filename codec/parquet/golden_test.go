package parquet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// TestGolden: odd records become the same cells as always, and are rejected for
// the same reasons.
func TestGolden(t *testing.T) {
	var all schematest.Golden
	for _, s := range schematest.Odd() {
		for _, variant := range []bool{false, true} {
			if variant && s.Given != "" {
				continue
			}
			encoded, reasons := shred(t, s, variant)
			all.Add(fmt.Sprintf("%s variant=%v", s.Name, variant), encoded, reasons)
		}
	}
	all.Compare(t, "testdata/odd.golden")
}

// shred takes a stream apart, in parts of 20 chunks, and renders the cells.
func shred(t *testing.T, s schematest.Stream, variant bool) (encoded, reasons []byte) {
	t.Helper()
	schemas := open(t, s)
	var sh *shredder
	var out, why bytes.Buffer
	for i, chunk := range s.Chunks {
		events, _ := eventtest.Read(chunk)
		b := &event.Batch{Tag: "app.log", Events: events}
		if i%20 == 0 {
			tree, err := compile(schemas.Begin(b), variant)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			out.Write(tree.schema.Text)
			sh = newShredder(tree)
		}
		for _, e := range events {
			if reason := sh.add(e, b); reason != "" {
				fmt.Fprintf(&why, "%d.%d %s\n", i, e.Ordinal, reason)
			}
		}
		for j, c := range sh.cells {
			fmt.Fprintf(&out, "%d %q: %v %v %x %q\n", i, sh.tree.leaves[j].path, c.defs, c.reps, c.numbers, c.texts)
		}
		fmt.Fprintln(&out, sh.rows, sh.size)
		sh.reset()
		schemas.Learn(sh.learn())
	}
	return out.Bytes(), why.Bytes()
}

func open(t *testing.T, s schematest.Stream) *schema.Schemas {
	t.Helper()
	o := schema.Options{DateKey: "date", TagKey: "tag", MetadataKey: "meta", GroupKey: "group", Strict: s.Strict}
	if s.Given != "" {
		o.Path = filepath.Join(t.TempDir(), "given.avsc")
		if err := os.WriteFile(o.Path, []byte(s.Given), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	schemas, err := schema.Open(o)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return schemas
}
