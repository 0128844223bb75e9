package fstest

import (
	"io"
	"path"
	"slices"
	"testing/iotest"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var readerTests = []test{
	{"List is in name order and hides nothing", func(s *site) {
		names := []string{"b", ".hidden", "a", "_under", "B", "a.b", "ä"}
		for _, n := range names {
			s.upload(n, "x")
		}
		s.mkdir("aa")
		want := append(slices.Clone(names), "aa")
		slices.Sort(want)
		if got := s.names("."); !slices.Equal(got, want) {
			s.Errorf("List answers %q, want %q", got, want)
		}
	}},
	{"List answers what Stat answers", func(s *site) {
		s.upload("a", "content")
		s.mkdir("d")
		infos, err := s.reader.List(s.ctx(), s.dir)
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
		_, err := s.reader.List(s.ctx(), s.path("a"))
		s.class(err, fs.Missing)
		s.upload("f", "x")
		_, err = s.reader.List(s.ctx(), s.path("f"))
		s.class(err, fs.Path)
	}},
	{"Open of nothing", func(s *site) {
		_, err := s.reader.Open(s.ctx(), s.path("a"))
		s.class(err, fs.Missing)
	}},
	{"Open of a directory", func(s *site) {
		s.mkdir("d")
		_, err := s.reader.Open(s.ctx(), s.path("d"))
		s.class(err, fs.Path)
	}},
	{"Open reads in any pieces", func(s *site) {
		s.upload("a", pattern(3<<20))
		r, err := s.reader.Open(s.ctx(), s.path("a"))
		if err != nil {
			s.Fatal(err)
		}
		defer r.Close()
		got, err := io.ReadAll(iotest.HalfReader(r))
		if err != nil || string(got) != pattern(3<<20) {
			s.Errorf("read %d bytes, %v", len(got), err)
		}
	}},
	{"Open of an empty file ends at once", func(s *site) {
		s.upload("a", "")
		s.content("a", "")
	}},
}
