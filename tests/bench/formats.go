package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/conf"
)

// rival is a public encoder of the same format, by its name for a compression.
type rival struct {
	what         string
	compressions map[string]string // ours to its
}

// rivalParquetGo writes by way of our own interface of formats.
const rivalParquetGo = "parquet-go"

// rivals are the nearest public encoders in Go, by format.
func rivals() map[string][]rival {
	same := func(names ...string) map[string]string {
		all := map[string]string{}
		for _, name := range names {
			all[name] = name
		}
		return all
	}
	return map[string][]rival{
		conf.FormatParquet: {
			{"pqarrow", same("none", "snappy", "zstd", "gzip")},
			{rivalParquetGo, same("none", "snappy", "zstd", "gzip", "lz4_raw")},
		},
		conf.FormatAvro: {{"goavro", map[string]string{"none": "null", "snappy": "snappy", "deflate": "deflate"}}},
		conf.FormatJSON: {{"fluent-bit-go", same("none")}},
	}
}

// turns is how often a row beside a rival is measured, in turn with it. The
// median counts.
const turns = 3

// formats compares what each format and compression make of a chunk on one
// core: from its bytes, over the walk of its events, to a file that nobody
// keeps, with a rival's of the same values in the same run.
func (b *bench) formats(int) error {
	if !b.wants("formats") {
		return nil
	}
	w := table("a chunk's bytes to a file's, one core", "MB/s", "CPU s/GB", "out/in",
		"rival MB/s", "rival CPU s/GB", "rival out/in", "times as fast")
	for _, format := range conf.FormatNames() {
		for _, compression := range conf.Compressions(format) {
			if err := b.formatRows(w, job{What: "encode", Format: format, Compression: compression}); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// formatRows are a row for each rival of a format and compression, or one
// without.
func (b *bench) formatRows(w io.Writer, own job) error {
	label, alone := own.Format+" "+own.Compression, true
	for _, against := range rivals()[own.Format] {
		theirs := job{What: against.what, Compression: against.compressions[own.Compression]}
		if theirs.Compression == "" {
			continue
		}
		r, other, err := b.inTurn(own, theirs)
		if err != nil {
			return err
		}
		alone = false
		row(w, label+", "+against.what, r.mbps(r.CPU), r.perGB(r.CPU), r.Out/r.Bytes,
			other.mbps(other.CPU), other.perGB(other.CPU), other.Out/other.Bytes, r.mbps(r.CPU)/other.mbps(other.CPU))
	}
	if !alone {
		return nil
	}
	r, err := b.run(own)
	if err != nil {
		return err
	}
	row(w, label, r.mbps(r.CPU), r.perGB(r.CPU), r.Out/r.Bytes)
	return nil
}

// inTurn measures two jobs one after the other several times: whatever slows
// the machine down meanwhile hits both.
func (b *bench) inTurn(own, theirs job) (result, result, error) {
	var ours, others []result
	for range turns {
		r, err := b.run(own)
		if err != nil {
			return r, r, err
		}
		other, err := b.run(theirs)
		if err != nil {
			return r, r, err
		}
		ours, others = append(ours, r), append(others, other)
	}
	return median(ours), median(others), nil
}

// median is the result with the median speed.
func median(all []result) result {
	slices.SortFunc(all, func(x, y result) int {
		switch x, y := x.mbps(x.CPU), y.mbps(y.CPU); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return all[len(all)/2]
}

// openBuckets measures the memory of Parquet files that are open at a time,
// under the default memory_limit: what their writers say they hold, which the
// sink counts, and the process's own; and those of parquet-go's.
func (b *bench) openBuckets(int) error {
	if !b.wants("open") {
		return nil
	}
	w := table("open parquet buckets, memory_limit 256M", "counted MB", "counted kB a bucket", "peak MB", "row groups a file", "out/in")
	for _, buckets := range []int{1, 20, 200} {
		for _, rival := range []string{"", rivalParquetGo} {
			r, err := b.run(job{What: "open", Format: conf.FormatParquet, Compression: "snappy", Buckets: buckets, Rival: rival})
			if err != nil {
				return err
			}
			row(w, strings.TrimSpace(fmt.Sprint(buckets, " ", rival)), r.Held/1e6, r.Held/1e3/float64(buckets), r.PeakMB, r.Groups, r.Out/r.Bytes)
		}
	}
	return w.Flush()
}
