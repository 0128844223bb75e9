package readers

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/conf"
)

// row is one configuration and what readers must find in its files.
type row struct {
	name    string
	keys    map[string]string // beside path and state
	readers []string          // of read.py
	// want is the canonical record that a reader must find for each event.
	want func(i int, reader string) string
	// format and options are what the readers are told; format is the one that
	// was written if it is empty.
	format  string
	options map[string]any
	// plain is the name of the row whose files these are once uncompressed, by
	// Hadoop's shell and the command line.
	plain string
	tool  string // the command that tests and uncompresses these files
}

func rows() []row { return slices.Concat(jsonRows(), csvRows(), lineRows(), sequenceFileRows()) }

var setting = map[string]string{
	conf.KeyAssigner: "base_path", conf.KeyJSONDateFormat: "epoch_ms", conf.KeyRollInterval: "0", conf.KeyRollInactivity: "0",
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

// state is what all tests of the package share: the files are written and the
// readers run once.
type state struct {
	rows   []row
	python *Python
	files  map[string][]string // by row
	found  map[string][]Found  // by reader and row
}

var shared = sync.OnceValues(func() (*state, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	s := &state{rows: rows(), files: map[string][]string{}, found: map[string][]Found{}}
	if s.python, err = Install(ctx, root); err != nil {
		return nil, err
	}
	written := chunks()
	for i, r := range s.rows {
		dir := filepath.Join(scratch, fmt.Sprint(i))
		if s.files[r.name], err = Write(dir, r.keys, written, slog.New(slog.DiscardHandler)); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return s, s.read(ctx)
})

// scratch is where the files are; TestMain removes it.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "out_hdfs-readers-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// read runs each reader once.
func (s *state) read(ctx context.Context) error {
	for _, reader := range []string{"pyarrow", "duckdb", "fastavro", "spark"} {
		var jobs []Job
		var names []string
		for _, r := range s.rows {
			if !slices.Contains(r.readers, reader) {
				continue
			}
			format := r.format
			if format == "" {
				format = r.keys[conf.KeyFormat]
			}
			jobs = append(jobs, Job{Format: format, Files: s.files[r.name], Options: r.options})
			names = append(names, r.name)
		}
		if len(jobs) == 0 {
			continue
		}
		found, err := s.python.Read(ctx, reader, jobs)
		if err != nil {
			return err
		}
		for _, f := range found {
			key := reader + " " + names[f.Job]
			s.found[key] = append(s.found[key], f)
		}
	}
	return nil
}

func open(t *testing.T) *state {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReaders finds every record once, in order, with all of its values.
func TestReaders(t *testing.T) {
	s := open(t)
	for _, r := range s.rows {
		for _, reader := range r.readers {
			t.Run(strings.ReplaceAll(r.name, " ", "_")+"/"+reader, func(t *testing.T) {
				found := s.found[reader+" "+r.name]
				for i, f := range found {
					if f.Error != "" {
						t.Fatalf("%s after %d records: %s", filepath.Base(f.File), i, f.Error)
					}
					got, err := Normal(f.Record)
					if err != nil {
						t.Fatal(err)
					}
					if want := r.want(i, reader); got != want {
						t.Fatalf("record %d is\n%s\nwant\n%s", i, got, want)
					}
				}
				if len(found) != count {
					t.Errorf("%d records, want %d", len(found), count)
				}
			})
		}
	}
}

// content is all the files of a row, one behind the other.
func (s *state) content(t *testing.T, name string) []byte {
	t.Helper()
	var all []byte
	for _, f := range s.files[name] {
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
				out, err := run(exec.Command(r.tool, append(args, s.files[r.name]...)...))
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
	for _, file := range s.files["json zstd"] {
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
		files = append(files, s.files[name]...)
	}
	out, err := HadoopText(t.Context(), jars, files...)
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
