package fstest

import (
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var removeTests = []test{
	{"of a file", func(s *site) {
		info := s.put("a", "x")
		s.put("b", "y")
		if err := s.fs.Remove(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.missing("a")
		s.content("b", "y")
	}},
	{"of nothing", func(s *site) {
		s.class(s.fs.Remove(s.ctx(), s.path("a")), fs.Missing)
		s.class(s.fs.Remove(s.ctx(), s.path("no/a")), fs.Missing)
	}},
	{"twice", func(s *site) {
		info := s.put("a", "x")
		if err := s.fs.Remove(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.class(s.fs.Remove(s.ctx(), info.Path), fs.Missing)
	}},
	{"never of a directory, empty or not", func(s *site) {
		s.mkdir("empty")
		s.put("full/a", "x")
		s.class(s.fs.Remove(s.ctx(), s.path("empty")), fs.Path)
		s.class(s.fs.Remove(s.ctx(), s.path("full")), fs.Path)
		s.content("full/a", "x")
		if !s.stat("empty").Dir {
			s.Error("the empty directory is gone")
		}
	}},
	{"of what a failed Put left", func(s *site) {
		src := source{pattern(3 << 20), func(end int64) error {
			if end > 2<<20 {
				return errSource
			}
			return nil
		}}
		if _, err := s.fs.Put(s.ctx(), src, s.path("a"), options); err == nil {
			s.Fatal("no error")
		}
		if err := s.fs.Remove(s.ctx(), s.path("a")); err != nil {
			s.class(err, fs.Missing)
		}
		s.missing("a")
		s.put("a", "new")
	}},
}

var directoryTests = []test{
	{"MkdirAll makes all", func(s *site) {
		s.mkdir("x/y/z")
		if !s.stat("x/y/z").Dir {
			s.Error("no directory")
		}
	}},
	{"MkdirAll of one that exists", func(s *site) {
		s.put("x/a", "content")
		s.mkdir("x")
		s.mkdir("x")
		s.content("x/a", "content")
	}},
	{"MkdirAll gives new directories their mode, and no old one", func(s *site) {
		if s.h.Mode == nil {
			s.Skip("the target has no modes")
		}
		s.mkdir("x")
		if err := s.fs.MkdirAll(s.ctx(), s.path("x/y/z"), 0o750); err != nil {
			s.Fatal(err)
		}
		if err := s.fs.MkdirAll(s.ctx(), s.path("x/y"), 0o700); err != nil {
			s.Fatal(err)
		}
		for p, want := range map[string]uint32{"x": 0o755, "x/y": 0o750, "x/y/z": 0o750} {
			if got := s.h.Mode(s, s.path(p)); got != want {
				s.Errorf("mode of %s is %o, want %o", p, got, want)
			}
		}
	}},
	{"MkdirAll with a file at the end or in the way", func(s *site) {
		s.put("f", "x")
		s.class(s.fs.MkdirAll(s.ctx(), s.path("f"), 0o755), fs.Path)
		s.class(s.fs.MkdirAll(s.ctx(), s.path("f/d/e"), 0o755), fs.Path)
		s.content("f", "x")
	}},
	{"MkdirAll of one directory by many", func(s *site) {
		errs := s.both(func(int) error {
			for _, p := range []string{"a", "a/b", "a/b/c/d", "a/b/c/e/f/g"} {
				if err := s.fs.MkdirAll(s.ctx(), s.path(p), 0o755); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs[:]...); err != nil {
			s.Error(err)
		}
	}},
	{"Put below a file", func(s *site) {
		s.put("f", "x")
		_, err := s.fs.Put(s.ctx(), strings.NewReader("y"), s.path("f/a"), options)
		s.class(err, fs.Path)
		_, err = s.fs.Put(s.ctx(), strings.NewReader("y"), s.path("f/d/a"), options)
		s.class(err, fs.Path)
		s.content("f", "x")
	}},
	{"List is in name order and hides nothing", func(s *site) {
		names := []string{"b", ".hidden", "a", "_under", "B", "a.b", "ä"}
		for _, n := range names {
			s.put(n, "x")
		}
		s.mkdir("aa")
		want := append(slices.Clone(names), "aa")
		slices.Sort(want)
		if got := s.names("."); !slices.Equal(got, want) {
			s.Errorf("List answers %q, want %q", got, want)
		}
	}},
	{"List answers what Stat answers", func(s *site) {
		s.put("a", "content")
		s.mkdir("d")
		infos, err := s.fs.List(s.ctx(), s.dir)
		if err != nil || len(infos) != 2 {
			s.Fatalf("List answers %v, %v", infos, err)
		}
		for _, i := range infos {
			if now := s.stat(path.Base(i.Path)); now != i {
				s.Errorf("Stat answers %+v, List %+v", now, i)
			}
		}
	}},
	{"List of an empty directory, of nothing, of a file", func(s *site) {
		if got := s.names("."); len(got) != 0 {
			s.Errorf("List answers %v", got)
		}
		_, err := s.fs.List(s.ctx(), s.path("a"))
		s.class(err, fs.Missing)
		s.put("f", "x")
		_, err = s.fs.List(s.ctx(), s.path("f"))
		s.class(err, fs.Path)
	}},
}

var openTests = []test{
	{"of nothing", func(s *site) {
		_, err := s.fs.Open(s.ctx(), s.path("a"))
		s.class(err, fs.Missing)
	}},
	{"of a directory", func(s *site) {
		s.mkdir("d")
		_, err := s.fs.Open(s.ctx(), s.path("d"))
		s.class(err, fs.Path)
	}},
	{"reads in any pieces", func(s *site) {
		s.put("a", pattern(3<<20))
		r, err := s.fs.Open(s.ctx(), s.path("a"))
		if err != nil {
			s.Fatal(err)
		}
		defer r.Close()
		got, err := io.ReadAll(iotest.HalfReader(r))
		if err != nil || string(got) != pattern(3<<20) {
			s.Errorf("read %d bytes, %v", len(got), err)
		}
	}},
	{"of an empty file ends at once", func(s *site) {
		s.put("a", "")
		s.content("a", "")
	}},
}
