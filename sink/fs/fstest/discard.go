package fstest

import (
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var discardTests = []test{
	{"of a file", func(s *site) {
		info := s.upload("a", "x")
		s.upload("b", "y")
		if err := s.driver.Discard(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.missing("a")
		s.content("b", "y")
	}},
	{"of nothing", func(s *site) {
		s.class(s.driver.Discard(s.ctx(), s.path("a")), fs.Missing)
		s.class(s.driver.Discard(s.ctx(), s.path("no/a")), fs.Missing)
	}},
	{"twice", func(s *site) {
		info := s.upload("a", "x")
		if err := s.driver.Discard(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.class(s.driver.Discard(s.ctx(), info.Path), fs.Missing)
	}},
	{"never of a directory, empty or not", func(s *site) {
		s.mkdir("empty")
		s.upload("full/a", "x")
		s.class(s.driver.Discard(s.ctx(), s.path("empty")), fs.Path)
		s.class(s.driver.Discard(s.ctx(), s.path("full")), fs.Path)
		s.content("full/a", "x")
		if !s.stat("empty").Dir {
			s.Error("the empty directory is gone")
		}
	}},
	{"of what a failed Upload left", func(s *site) {
		src := source{pattern(3 << 20), func(end int64) error {
			if end > 2<<20 {
				return errSource
			}
			return nil
		}}
		if _, err := s.driver.Upload(s.ctx(), src, s.path("a"), options); err == nil {
			s.Fatal("no error")
		}
		if err := s.driver.Discard(s.ctx(), s.path("a")); err != nil {
			s.class(err, fs.Missing)
		}
		s.missing("a")
		s.upload("a", "new")
	}},
}
