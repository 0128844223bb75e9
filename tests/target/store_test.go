package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	libhdfs "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// store is what is on the cluster, seen by the superuser and past all proxies.
// It is safe for concurrent use.
type store struct {
	mu sync.Mutex
	hc *libhdfs.Client
}

func look(t testing.TB, c *hdfs.Cluster) *store {
	t.Helper()
	hc, err := libhdfs.NewClient(libhdfs.ClientOptions{Addresses: []string{c.Authority()}, User: hdfs.Superuser})
	must(t, err)
	t.Cleanup(func() { hc.Close() })
	return &store{hc: hc}
}

// files reads every file below a directory, by its path.
func (s *store) files(t testing.TB, dir string) map[string]string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	files := map[string]string{}
	must(t, s.hc.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temp or a marker that is gone meanwhile
		}
		if err != nil || info.IsDir() {
			return err
		}
		content, err := s.hc.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temp that is gone meanwhile
		}
		files[p] = string(content)
		return err
	}))
	return files
}

// list are the names in a directory, none if it isn't there.
func (s *store) list(t testing.TB, dir string) (names []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	infos, err := s.hc.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, i := range infos {
		names = append(names, i.Name())
	}
	return names
}

// write makes a file as somebody else would, with its parents.
func (s *store) write(t testing.TB, p, content string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	must(t, s.hc.MkdirAll(path.Dir(p), 0o755))
	w, err := s.hc.CreateFile(p, 1, 1<<20, 0o644)
	must(t, err)
	_, err = w.Write([]byte(content))
	must(t, err)
	for err = w.Close(); libhdfs.IsErrReplicating(err); {
		err = w.Close()
	}
	must(t, err)
}

// fileAt makes an empty file.
func fileAt(c *hdfs.Cluster, p string) error {
	hc, err := libhdfs.NewClient(libhdfs.ClientOptions{Addresses: []string{c.Authority()}, User: hdfs.Superuser})
	if err != nil {
		return err
	}
	return errors.Join(hc.CreateEmptyFile(p), hc.Close())
}

func (s *store) read(p string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, err := s.hc.ReadFile(p)
	return string(content), err
}

func (s *store) move(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hc.Rename(from, to)
}

func (s *store) remove(p string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hc.Remove(p)
}

// hidden reports whether readers skip a file.
func hidden(p string) bool { return strings.HasPrefix(path.Base(p), ".") }

// ids are those of the records in files of JSON lines.
func ids(files map[string]string) (all []uint64, err error) {
	for p, content := range files {
		if hidden(p) {
			continue
		}
		if content == "" || content[len(content)-1] != '\n' {
			return nil, fmt.Errorf("%s isn't whole", p)
		}
		for line := range bytes.Lines([]byte(content)) {
			var record struct {
				ID *uint64 `json:"id"`
			}
			if err := json.Unmarshal(line, &record); err != nil || record.ID == nil {
				return nil, fmt.Errorf("%s has a line without a record (%w): %.200s", p, err, line)
			}
			all = append(all, *record.ID)
		}
	}
	return all, nil
}

// span is n ids from first on.
func span(first, n uint64) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = first + uint64(i)
	}
	return all
}

// exactlyOnce compares the files with the ids that were promised, and says what
// is wrong: a record that isn't there just once, a file that isn't whole, a
// file that readers would skip.
func exactlyOnce(files map[string]string, promised []uint64) error {
	written, err := ids(files)
	if err != nil {
		return err
	}
	for p := range files {
		if hidden(p) {
			return fmt.Errorf("%s is left", p)
		}
	}
	return host.ExactlyOnce(promised, promised, written)
}
