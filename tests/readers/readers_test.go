package readers

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
)

func rows() []row {
	return slices.Concat(jsonRows(), csvRows(), lineRows(), sequenceFileRows(), parquetRows(), avroRows(), oddRows(), givenRows(), evolvingRows())
}

func keys(pairs ...string) map[string]string {
	all := maps.Clone(setting)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

func jsonRows() []row {
	want := func(i int, _ string) string {
		m := append(eventtest.Map{"date", millis(i)}, recordOf(i)...)
		if f := field(m, "ratio").(float64); f != f {
			m = append(m, "ratio", nil) // JSON has no NaN
		}
		return Canonical(m)
	}
	json := func(compression, tool string, readers ...string) row {
		return row{
			name: "json " + compression, keys: keys(conf.KeyFormat, "json", conf.KeyCompression, compression),
			readers: readers, want: want, plain: "json none", tool: tool,
		}
	}
	return []row{
		json("none", "", "pyarrow", "duckdb", "spark"),
		json("gzip", "gzip", "pyarrow", "duckdb", "spark"),
		json("zstd", "zstd", "pyarrow", "duckdb", "spark"),
		json("bzip2", "bzip2", "pyarrow", "spark"),
		json("snappy", "", "spark"),
		json("lz4", "", "spark"),
	}
}

// TestReaders finds every record once, in order, with all of its values.
func TestReaders(t *testing.T) {
	s := open(t)
	for _, r := range s.rows {
		if r.want == nil && r.check == nil {
			continue
		}
		for _, reader := range r.readers {
			t.Run(strings.ReplaceAll(r.name, " ", "_")+"/"+reader, func(t *testing.T) {
				found := s.found[reader+" "+r.name]
				for i, f := range found {
					if f.Error != "" {
						t.Fatalf("%s after %d records: %s", filepath.Base(f.File), i, f.Error)
					}
				}
				if r.check != nil {
					r.check(t, found)
					return
				}
				for i, f := range found {
					got, err := Normal(f.Record)
					if err != nil {
						t.Fatal(err)
					}
					if i >= r.records() {
						break
					}
					want, err := Normal(json.RawMessage(r.want(i, reader)))
					if err != nil {
						t.Fatal(err)
					}
					if got != want {
						t.Fatalf("record %d is\n%.3000s\nwant\n%.3000s", i, got, want)
					}
				}
				if len(found) != r.records() {
					t.Errorf("%d records, want %d", len(found), r.records())
				}
			})
		}
	}
}

// content is all the files of a row, one behind the other.
func (s *state) content(t *testing.T, name string) []byte {
	t.Helper()
	var all []byte
	for _, f := range s.written[name].Files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no files", name)
	}
	return all
}

// TestTools runs the tests of gzip, zstd and bzip2 themselves.
func TestTools(t *testing.T) {
	s := open(t)
	for _, r := range s.rows {
		if r.tool == "" {
			continue
		}
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
			want := s.content(t, r.plain)
			for _, args := range [][]string{{"-t"}, {"-d", "-c"}} {
				out, err := run(exec.Command(r.tool, append(args, s.written[r.name].Files...)...))
				if err != nil {
					t.Fatal(err)
				}
				if len(args) == 2 && !bytes.Equal(out, want) {
					t.Errorf("%d bytes come back, want %d", len(out), len(want))
				}
			}
		})
	}
}

// TestAZstdFileIsOneFrame asks zstd itself.
func TestAZstdFileIsOneFrame(t *testing.T) {
	s := open(t)
	for _, file := range s.written["json zstd"].Files {
		out, err := run(exec.Command("zstd", "-l", file))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if fields := strings.Fields(lines[len(lines)-1]); len(fields) == 0 || fields[0] != "1" {
			t.Errorf("zstd -l says\n%s", out)
		}
	}
}

// TestHadoopText reads files as `hdfs dfs -text` does, by the codec of their
// extension.
func TestHadoopText(t *testing.T) {
	s := open(t)
	expected := map[string][]byte{}
	for _, r := range s.rows {
		// zstd is in Hadoop's native library only, which the jars don't have.
		if r.plain != "" && r.tool != "zstd" {
			expected[r.name] = s.content(t, r.plain)
		}
	}
	s.hadoopText(t, expected)
}

// hadoopText compares what Hadoop's shell prints of rows with what is expected.
// One JVM reads them all.
func (s *state) hadoopText(t *testing.T, expected map[string][]byte) {
	t.Helper()
	jars, err := s.python.Jars()
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(expected))
	var files []string
	for _, name := range names {
		files = append(files, s.written[name].Files...)
	}
	out, err := HadoopText(t.Context(), jars, localFS, files...)
	for _, name := range names {
		rest, ok := bytes.CutPrefix(out, expected[name])
		if !ok {
			at := 0
			for at < min(len(out), len(expected[name])) && out[at] == expected[name][at] {
				at++
			}
			t.Fatalf("%s differs from what it should be at byte %d: %.80q", name, at, out[at:])
		}
		out = rest
	}
	if err != nil || len(out) > 0 {
		t.Errorf("%d bytes more, error %v", len(out), err)
	}
}
