package fstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var uploadTests = []test{
	{"writes what it was given, of any size", func(s *site) {
		for _, size := range []int{0, 1, 4095, 1<<20 - 1, 1 << 20, 1<<20 + 1, 9 << 20} {
			name := fmt.Sprint("size", size)
			info := s.upload(name, pattern(size))
			s.content(name, pattern(size))
			s.same(name, info)
		}
	}},
	{"writes a file of the operating system's, up to the source's size", func(s *site) {
		for _, size := range []int{0, 1, 1 << 20, 5<<20 + 3} {
			name := fmt.Sprint("size", size)
			content := pattern(size)
			src := s.osFile(content + "more than the source has")
			if _, err := s.driver.Upload(s.ctx(), osSource{src, int64(size)}, s.path(name), options); err != nil {
				s.Fatal(err)
			}
			s.content(name, content)
		}
	}},
	{"doesn't move the position of a file that it reads", func(s *site) {
		f := s.osFile(pattern(100))
		if _, err := f.Seek(7, 0); err != nil {
			s.Fatal(err)
		}
		if _, err := s.driver.Upload(s.ctx(), osSource{f, 100}, s.path("a"), options); err != nil {
			s.Fatal(err)
		}
		if at, err := f.Seek(0, 1); at != 7 || err != nil {
			s.Errorf("position is %d, %v, want 7", at, err)
		}
		s.content("a", pattern(100))
	}},
	{"answers what Stat answers", func(s *site) {
		info := s.upload("a", "content")
		if now := s.stat("a"); now != info {
			s.Errorf("Stat answers %+v, Upload answered %+v", now, info)
		}
	}},
	{"makes missing parents", func(s *site) {
		s.upload("x/y/z/a", "content")
		s.content("x/y/z/a", "content")
		if !s.stat("x/y").Dir {
			s.Error("x/y is no directory")
		}
	}},
	{"leaves a file that exists as it was", func(s *site) {
		info := s.upload("a", "first")
		_, err := s.driver.Upload(s.ctx(), strings.NewReader("second, longer"), s.path("a"), options)
		s.class(err, fs.Exists)
		s.same("a", info)
		s.content("a", "first")
	}},
	{"leaves a directory that exists as it was", func(s *site) {
		s.upload("d/a", "first")
		_, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), s.path("d"), options)
		s.class(err, fs.Exists)
		s.content("d/a", "first")
	}},
	{"is exclusive between clients", func(s *site) { s.uploadRace() }},
	{"reports a source that fails, and is not finished", func(s *site) {
		src := source{pattern(3 << 20), func(end int64) error {
			if end > 3<<19 {
				return errSource
			}
			return nil
		}}
		_, err := s.driver.Upload(s.ctx(), src, s.path("a"), options)
		if !errors.Is(err, errSource) {
			s.Errorf("error %v doesn't wrap the source's", err)
		}
		s.unfinished("a", src.Size())
	}},
	{"reports a source that is shorter than it says", func(s *site) {
		_, err := s.driver.Upload(s.ctx(), osSource{s.osFile("short"), 100}, s.path("a"), options)
		if err == nil {
			s.Error("no error")
		}
		s.unfinished("a", 100)
	}},
	{"does nothing under a ctx that has ended", func(s *site) {
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		_, err := s.driver.Upload(ctx, strings.NewReader("x"), s.path("d/a"), options)
		if !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
		s.missing("d")
	}},
	{"gives up when ctx ends midway", func(s *site) {
		ctx, cancel := context.WithCancel(s.ctx())
		src := source{pattern(8 << 20), func(end int64) error {
			if end > 2<<20 {
				cancel()
			}
			return nil
		}}
		_, err := s.driver.Upload(ctx, src, s.path("a"), options)
		if !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
		s.unfinished("a", src.Size())
	}},
	{"works again after a failure, at another path", func(s *site) {
		src := source{"never read", func(int64) error { return errSource }}
		if _, err := s.driver.Upload(s.ctx(), src, s.path("d/a"), options); err == nil {
			s.Error("no error")
		}
		s.upload("d/b", "content")
		s.content("d/b", "content")
	}},
	{"gives files and new directories their modes", func(s *site) { s.modes() }},
	{"gives new directories their mode, and no old one", func(s *site) {
		if s.h.Mode == nil {
			s.Skip("the target has no modes")
		}
		s.mkdir("x")
		for _, row := range []struct {
			name string
			mode uint32
		}{{"x/y/z/a", 0o750}, {"x/y/a", 0o700}} {
			if _, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), s.path(row.name), fs.UploadOptions{DirMode: row.mode}); err != nil {
				s.Fatal(err)
			}
		}
		for p, want := range map[string]uint32{"x": 0o755, "x/y": 0o750, "x/y/z": 0o750} {
			if got := s.h.Mode(s, s.path(p)); got != want {
				s.Errorf("mode of %s is %o, want %o", p, got, want)
			}
		}
	}},
	{"below a file", func(s *site) {
		s.upload("f", "x")
		_, err := s.driver.Upload(s.ctx(), strings.NewReader("y"), s.path("f/a"), options)
		s.class(err, fs.Path)
		_, err = s.driver.Upload(s.ctx(), strings.NewReader("y"), s.path("f/d/a"), options)
		s.class(err, fs.Path)
		_, err = s.driver.Upload(s.ctx(), strings.NewReader("y"), s.path("f/d/e/a"), options)
		s.class(err, fs.Path)
		s.content("f", "x")
	}},
	{"runs many at a time that make the same directories", func(s *site) {
		errs := s.both(func(i int) error {
			for _, p := range []string{"a", "a/b", "a/b/c/d", "a/b/c/e/f/g"} {
				name := s.path(fmt.Sprintf("%s/file%d", p, i))
				if _, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), name, options); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs[:]...); err != nil {
			s.Error(err)
		}
	}},
	{"runs many at a time into one new directory", func(s *site) { s.manyUploads() }},
}

// uploadRace lets two clients make the same file, some times.
func (s *site) uploadRace() {
	clients := []fs.Driver{s.driver, s.other()}
	for round := range 10 {
		name := fmt.Sprint("round", round)
		errs := s.both(func(i int) error {
			content := strings.Repeat(fmt.Sprint(i), 100_000)
			_, err := clients[i].Upload(s.ctx(), strings.NewReader(content), s.path(name), options)
			return err
		})
		winner := s.winner(errs)
		s.class(errs[1-winner], fs.Exists)
		s.content(name, strings.Repeat(fmt.Sprint(winner), 100_000))
	}
}

// unfinished checks that what a failed Upload left at name can't be taken for a
// file of the size.
func (s *site) unfinished(name string, size int64) {
	s.Helper()
	info, err := s.driver.Stat(s.ctx(), s.path(name))
	if err != nil {
		s.class(err, fs.Missing)
	} else if info.Closed && info.Length == size {
		s.Errorf("a whole file is at %s: %+v", name, info)
	}
}

func (s *site) modes() {
	if s.h.Mode == nil {
		s.Skip("the target has no modes")
	}
	s.mkdir("old")
	before := s.h.Mode(s, s.path("old"))
	for _, row := range []struct{ file, dir uint32 }{{0o640, 0o750}, {0o644, 0o755}, {0o666, 0o777}, {0o600, 0o700}} {
		name := fmt.Sprintf("old/new%o/deep/a", row.dir)
		o := fs.UploadOptions{FileMode: row.file, DirMode: row.dir}
		if _, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), s.path(name), o); err != nil {
			s.Fatal(err)
		}
		for p, want := range map[string]uint32{
			name:                             row.file,
			filepath.Dir(name):               row.dir,
			filepath.Dir(filepath.Dir(name)): row.dir,
			"old":                            before,
		} {
			if got := s.h.Mode(s, s.path(p)); got != want {
				s.Errorf("mode of %s is %o, want %o", p, got, want)
			}
		}
	}
}

func (s *site) manyUploads() {
	clients := []fs.Driver{s.driver, s.other()}
	const n = 32
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			content := bytes.NewReader([]byte(pattern(10_000 + i)))
			_, errs[i] = clients[i%2].Upload(s.ctx(), content, s.path(fmt.Sprintf("new/dir/%02d", i)), options)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	if got := s.names("new/dir"); len(got) != n {
		s.Errorf("%d files, want %d: %v", len(got), n, got)
	}
	for i := range n {
		s.content(fmt.Sprintf("new/dir/%02d", i), pattern(10_000+i))
	}
}

// osFile is a file with the content, open for reading.
func (s *site) osFile(content string) *os.File {
	p := filepath.Join(s.TempDir(), "source")
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
	f, err := os.Open(p)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { f.Close() })
	return f
}

// osSource is a Source over the first size bytes of a file.
type osSource struct {
	*os.File
	size int64
}

func (s osSource) Size() int64      { return s.size }
func (s osSource) OSFile() *os.File { return s.File }
