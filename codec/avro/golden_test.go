package avro_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// TestGolden: odd records are encoded as they always were, byte for byte, under
// the same schemas, and rejected for the same reasons.
func TestGolden(t *testing.T) {
	var all schematest.Golden
	for _, s := range append(schematest.Odd(), schematest.OddUnions()...) {
		format := formatOf(t, compress.None, s.Given, s.Strict)
		var out, reasons bytes.Buffer
		var f *file
		end := func() {
			c := split(t, f.close())
			out.Write(c.metadata["avro.schema"])
			for _, b := range c.blocks {
				out.Write(b.data)
			}
		}
		for i, chunk := range s.Chunks {
			if i%20 == 0 { // a part that begins widens a learned schema
				if f != nil {
					end()
				}
				f = newFile(t, format)
			}
			for _, r := range f.write(batch(chunk)) {
				fmt.Fprintf(&reasons, "%d.%d %s\n", i, r.Event.Ordinal, r.Reason)
			}
		}
		end()
		all.Add(s.Name, out.Bytes(), reasons.Bytes())
	}
	all.Compare(t, "testdata/odd.golden")
}
