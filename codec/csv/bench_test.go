package csv_test

import (
	stdcsv "encoding/csv"
	"io"
	"strconv"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/csv"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// BenchmarkRows writes eight columns of a Kubernetes record; encoding/csv
// writes the same fields once they are texts. MB/s are of msgpack.
func BenchmarkRows(b *testing.B) {
	chunk := Kubernetes(1000)
	events, _ := Read(chunk)
	all, _ := columns.Parse("log,stream,level,id,latency,ok,$kubernetes['pod_name'],$kubernetes['labels']['app']")
	o := csv.Options{Columns: all}
	b.Run("csv", func(b *testing.B) {
		enc := format(b, o).NewBlockEncoder()
		batch := &event.Batch{Events: events}
		var dst []byte
		b.SetBytes(int64(len(chunk)))
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = enc.Encode(dst[:0], batch)
		}
	})
	b.Run("encoding/csv", func(b *testing.B) {
		w := stdcsv.NewWriter(io.Discard)
		row := make([]string, len(all))
		b.SetBytes(int64(len(chunk)))
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range events {
				v, _, _, err := Decode(e.Body)
				if err != nil {
					b.Fatal(err)
				}
				fill(row, v.(Map))
				if err := w.Write(row); err != nil {
					b.Fatal(err)
				}
			}
			w.Flush()
		}
	})
}

// fill is what one would write with a decoded record.
func fill(row []string, record Map) {
	clear(row)
	for i := 0; i < len(record); i += 2 {
		switch record[i] {
		case "log":
			row[0] = record[i+1].(string)
		case "stream":
			row[1] = record[i+1].(string)
		case "level":
			row[2] = record[i+1].(string)
		case "id":
			row[3] = strconv.FormatInt(record[i+1].(int64), 10)
		case "latency":
			row[4] = strconv.FormatFloat(record[i+1].(float64), 'g', -1, 64)
		case "ok":
			row[5] = strconv.FormatBool(record[i+1].(bool))
		case "kubernetes":
			nested := record[i+1].(Map)
			for k := 0; k < len(nested); k += 2 {
				switch nested[k] {
				case "pod_name":
					row[6] = nested[k+1].(string)
				case "labels":
					row[7] = nested[k+1].(Map)[1].(string)
				}
			}
		}
	}
}
