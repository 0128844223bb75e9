package readers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// row is one configuration and what readers must find in its files.
type row struct {
	name    string
	keys    map[string]string // beside path and state
	chunks  []host.Chunk      // the shared ones if nil
	of      string            // the row whose files these are, if it isn't this one
	readers []string          // of read.py, and Java
	// want is the canonical record that a reader must find for each event, and
	// count how many there are if the chunks aren't shared. check takes the
	// place of both. With neither it is enough that readers agree.
	want  func(i int, reader string) string
	count int
	check func(t *testing.T, found []Found)
	// format and options are what the readers are told; format is the one that
	// was written if it is empty.
	format  string
	options map[string]any
	// plain is the name of the row whose files these are once uncompressed, by
	// Hadoop's shell and the command line.
	plain string
	tool  string // the command that tests and uncompresses these files
}

func (r row) records() int {
	if r.chunks == nil {
		return count
	}
	return r.count
}

var setting = map[string]string{
	conf.KeyAssigner: "base_path", conf.KeyJSONDateFormat: "epoch_ms", conf.KeyRollInterval: "0", conf.KeyRollInactivity: "0",
	// A row's journal allocates its segments ahead.
	conf.KeyStateLimit: "256M",
}

// state is what all tests of the package share: the files are written and the
// readers run once.
type state struct {
	rows    []row
	python  *Python
	agent   Agent
	written map[string]Written // by row
	found   map[string][]Found // by reader and row
}

var shared = sync.OnceValues(func() (*state, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	s := &state{rows: rows(), written: map[string]Written{}, found: map[string][]Found{}}
	if s.python, err = Install(ctx, root); err != nil {
		return nil, err
	}
	if s.agent, err = NewAgent(scratch); err != nil {
		return nil, err
	}
	if err := s.write(ctx); err != nil {
		return nil, err
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
	code := cluster.Main(m)
	if err := os.RemoveAll(scratch); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// write runs an agent for each row.
func (s *state) write(ctx context.Context) error {
	all := chunks()
	for i, r := range s.rows {
		if r.of != "" {
			s.written[r.name] = s.written[r.of]
			continue
		}
		if r.chunks == nil {
			r.chunks = all
		}
		w, err := s.agent.Write(ctx, filepath.Join(scratch, fmt.Sprint(i)), r.keys, r.chunks)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		s.written[r.name] = w
	}
	return nil
}

// read runs each reader once.
func (s *state) read(ctx context.Context) error {
	for _, reader := range []string{"pyarrow", "duckdb", "fastavro", Java, "spark"} {
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
			jobs = append(jobs, Job{Format: format, Files: s.written[r.name].Files, Options: r.options})
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
