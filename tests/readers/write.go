package readers

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
)

// Chunk is what Fluent Bit hands over in one flush.
type Chunk struct {
	Tag  string
	Data []byte
}

// Write opens a sink with the keys, as Fluent Bit would, lets it write the
// chunks below dir, and returns the finished files in their parts' order. The
// keys don't name path and state.
func Write(dir string, keys map[string]string, chunks []Chunk, log *slog.Logger) (files []string, err error) {
	target := filepath.Join(dir, "target")
	values := maps.Clone(keys)
	values[conf.KeyPath] = "file://" + target
	values[conf.KeyStateDir] = filepath.Join(dir, "state")
	values[conf.KeyExitTimeout] = "2m"
	s, err := conf.Open(conf.Map(values), conf.System{
		Log: log, Registry: conf.NewRegistry(), ChunkFiles: conf.ListChunkFiles, Owner: "tests/readers",
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		return nil, err
	}
	for i, c := range chunks {
		if answer := s.Flush(c.Tag, c.Data, chunkfile.File{}, sink.FlushOptions{}); answer != sink.OK {
			return nil, errors.Join(fmt.Errorf("chunk %d was answered %v", i, answer), s.Close())
		}
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return finished(target)
}

// finished lists the files that readers see, shorter names first: the part's
// number is the name's last.
func finished(target string) (files []string, err error) {
	err = filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_"); hidden && path != target {
			return fmt.Errorf("%s is left behind", path)
		}
		if !d.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	slices.SortFunc(files, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return files, err
}
