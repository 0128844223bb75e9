package fstest

import (
	"path"
	"slices"

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
}
