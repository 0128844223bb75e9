package fstest

import (
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var identityTests = []test{
	{"Stat of nothing", func(s *site) {
		s.missing("a")
		s.missing("no/such/parent")
	}},
	{"Stat of a directory", func(s *site) {
		s.mkdir("d")
		if info := s.stat("d"); !info.Dir || info.Path != s.path("d") {
			s.Errorf("Stat answers %+v", info)
		}
	}},
	{"Stat below a file", func(s *site) {
		s.upload("f", "x")
		_, err := s.driver.Stat(s.ctx(), s.path("f/a"))
		s.class(err, fs.Missing, fs.Path)
	}},
	{"an identity is not empty and lasts over renames", func(s *site) {
		info := s.upload("a", "content")
		if info.ID == "" {
			s.Fatal("no identity")
		}
		s.tick()
		s.mustPublish("a", "b")
		s.mustPublish("b", "d/c")
		s.same("d/c", info)
	}},
	{"an identity is the same for every client", func(s *site) {
		info := s.upload("a", "content")
		other, err := s.other().Stat(s.ctx(), s.path("a"))
		if err != nil || other != info {
			s.Errorf("another client sees %+v, %v, want %+v", other, err, info)
		}
	}},
	{"an identity lasts over closing the file system", func(s *site) {
		first := s.h.Open(s)
		mine := &site{T: s.T, h: s.h, reader: s.reader, driver: first, dir: s.dir}
		info := mine.upload("a", "content")
		if err := first.Close(); err != nil {
			s.Fatal(err)
		}
		s.same("a", info)
	}},
	{"a new file at the path of a removed one is another", func(s *site) {
		info := s.upload("a", "content")
		if err := s.driver.Discard(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.tick()
		if again := s.upload("a", "content"); again.ID == info.ID {
			s.Errorf("both are %s", info.ID)
		}
	}},
	{"two files are two", func(s *site) {
		a, b := s.upload("a", "content"), s.upload("b", "content")
		if a.ID == b.ID {
			s.Errorf("both are %s", a.ID)
		}
	}},
	{"a file that was appended to is not the same", func(s *site) { s.changed("content", "content and more") }},
	{"a file that was rewritten is not the same", func(s *site) { s.changed("content", "CONTENT") }},
	{"a file that was emptied is not the same", func(s *site) { s.changed("content", "") }},
}

// changed rewrites a file and wants Same to notice.
func (s *site) changed(before, after string) {
	s.Helper()
	if s.h.Rewrite == nil {
		s.Skip("the target's files can't be changed")
	}
	info := s.upload("a", before)
	s.tick()
	s.h.Rewrite(s, info.Path, []byte(after))
	s.content("a", after)
	if now := s.stat("a"); now.Same(info) {
		s.Errorf("%+v passes for %+v", now, info)
	}
}
