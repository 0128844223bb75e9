package avro_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// TestGolden: odd records are encoded as they always were, byte for byte, and
// rejected for the same reasons.
func TestGolden(t *testing.T) {
	var all schematest.Golden
	for _, s := range append(schematest.Odd(), schematest.OddUnions()...) {
		format := formatOf(t, avro.None, s.Given, s.Strict)
		enc := format.NewBlockEncoder()
		var out, reasons bytes.Buffer
		for i, chunk := range s.Chunks {
			if i%20 == 0 { // a part that begins widens a learned schema
				w, err := format.NewWriter(io.Discard, codec.Meta{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(batch(chunk)); err != nil {
					t.Fatal(err)
				}
			}
			block, rejects := enc.Encode(nil, batch(chunk))
			out.Write(block)
			for _, r := range rejects {
				fmt.Fprintf(&reasons, "%d.%d %s\n", i, r.Event.Ordinal, r.Reason)
			}
		}
		all.Add(s.Name, out.Bytes(), reasons.Bytes())
	}
	all.Compare(t, "testdata/odd.golden")
}
