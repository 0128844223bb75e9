package instance

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linkedin/goavro/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
)

// TestTypedFormatsThroughTheSink: chunks whose fields come and go, spread over
// buckets that open one after another under wider and wider schemas, are in one
// file a bucket, every record once.
func TestTypedFormatsThroughTheSink(t *testing.T) {
	count := map[string]func([]byte) (int, error){conf.FormatAvro: avroRecords, conf.FormatParquet: parquetRows}
	for format, records := range count {
		t.Run(format, func(t *testing.T) {
			target := t.TempDir()
			sys := System{
				Log: slog.New(slog.DiscardHandler), Registry: NewRegistry(), Owner: "test", Getenv: func(string) string { return "" },
			}
			open := func(state string) *Instance {
				s, err := Open(conf.Map(map[string]string{
					conf.KeyPath: "file://" + target, conf.KeyFormat: format, conf.KeyStateDir: state, conf.KeyAssigner: conf.AssignerPartition, conf.KeyPartitionBy: "t=$TAG",
				}), sys)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			r := rand.New(rand.NewPCG(3, 4))
			sent, state := 0, t.TempDir()
			for restart := range 2 {
				s := open(state)
				for i := range 60 {
					chunk := schematest.Evolving(r, 100*restart+i)
					events, _ := eventtest.Read(chunk)
					if answer := s.Flush(fmt.Sprintf("app%d", min(i/10, r.IntN(6))), chunk, chunkfile.File{}, sink.FlushOptions{}); answer != sink.OK {
						t.Fatalf("chunk %d was answered %v", i, answer)
					}
					sent += len(events)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(filepath.Join(state, "schema.avsc")); err != nil {
				t.Errorf("what was learned isn't kept: %v", err)
			}
			got, files := 0, 0
			err := filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				if !strings.HasSuffix(path, "."+format) {
					return fmt.Errorf("%s is there", path)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				n, err := records(data)
				got, files = got+n, files+1
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got != sent || files > 12 {
				t.Errorf("%d records of %d in %d files, of 6 buckets at a time", got, sent, files)
			}
		})
	}
}

func avroRecords(file []byte) (n int, err error) {
	r, err := goavro.NewOCFReader(bytes.NewReader(file))
	if err != nil {
		return 0, err
	}
	for r.Scan() {
		if _, err := r.Read(); err != nil {
			return n, err
		}
		n++
	}
	return n, r.Err()
}

func parquetRows(file []byte) (int, error) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	return int(f.NumRows()), nil
}
