package parquet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
)

// TestLargeFiles: many pages and row groups, dictionaries that are left on the
// way, values that are larger than a page, columns that are null for long.
func TestLargeFiles(t *testing.T) {
	rows := map[string]struct {
		n      int
		record func(i int) Map
	}{
		"repeating": {60_000, func(i int) Map { return Map{"a", fmt.Sprint("value ", i%7), "b", i % 300, "c", float64(i % 3)} }},
		"a dictionary that grows too large": {120_000, func(i int) Map {
			return Map{"a", fmt.Sprint("value ", i/2*(i/1500)), "b", i / 2 * (i / 1500)}
		}},
		"large values": {40, func(i int) Map { return Map{"a", strings.Repeat(string(rune('a'+i%26)), 1<<20), "b", i} }},
		"null, then values": {50_000, func(i int) Map {
			m := Map{"id", i}
			if i > 45_000 || i == 0 {
				m = append(m, "late", i, "list", []any{i, nil}, "n", Map{"x", "y"})
			}
			return m
		}},
		"lists": {20_000, func(i int) Map {
			list := []any{}
			for k := range i % 9 {
				list = append(list, Map{"k", k, "v", []any{fmt.Sprint(i), nil}})
			}
			return Map{"l", list}
		}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			for _, o := range []parquet.Options{{}, {RowGroup: 64 << 10}} {
				f := newFile(t, formatOf(t, o, "", false))
				var all []*event.Event
				var chunk []byte
				for i := range row.n {
					chunk = Append(chunk, Event(At(1767225600, 0), Map{}, row.record(i)))
					if len(chunk) > 2<<20 || i == row.n-1 {
						b := batch(chunk)
						f.write(b)
						all = append(all, b.Events...)
						chunk = nil
					}
				}
				sameRecords(t, f.close(), all, "app.log")
			}
		})
	}
}

// TestWriteAllocatesLittle: the pages, and nothing per record.
func TestWriteAllocatesLittle(t *testing.T) {
	f := newFile(t, learning(t))
	b := batch(Kubernetes(1000))
	allocs := testing.AllocsPerRun(20, func() { f.write(b) })
	if allocs > 100 {
		t.Errorf("%v allocations for 1000 records", allocs)
	}
}
