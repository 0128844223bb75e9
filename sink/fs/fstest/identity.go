package fstest

import (
	"path"

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
		s.put("f", "x")
		_, err := s.fs.Stat(s.ctx(), s.path("f/a"))
		s.class(err, fs.Missing, fs.Path)
	}},
	{"an identity is not empty and lasts over renames", func(s *site) {
		info := s.put("a", "content")
		if info.ID == "" {
			s.Fatal("no identity")
		}
		s.tick()
		s.rename("a", "b")
		s.rename("b", "d/c")
		s.same("d/c", info)
	}},
	{"an identity is the same for every client", func(s *site) {
		info := s.put("a", "content")
		other, err := s.other().Stat(s.ctx(), s.path("a"))
		if err != nil || other != info {
			s.Errorf("another client sees %+v, %v, want %+v", other, err, info)
		}
	}},
	{"an identity lasts over closing the file system", func(s *site) {
		first := s.h.Open(s)
		mine := &site{T: s.T, h: s.h, fs: first, dir: s.dir}
		info := mine.put("a", "content")
		if err := first.Close(); err != nil {
			s.Fatal(err)
		}
		s.same("a", info)
	}},
	{"a new file at the path of a removed one is another", func(s *site) {
		info := s.put("a", "content")
		if err := s.fs.Remove(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.tick()
		if again := s.put("a", "content"); again.ID == info.ID {
			s.Errorf("both are %s", info.ID)
		}
	}},
	{"two files are two", func(s *site) {
		a, b := s.put("a", "content"), s.put("b", "content")
		if a.ID == b.ID {
			s.Errorf("both are %s", a.ID)
		}
	}},
	{"a file that was appended to is not the same", func(s *site) { s.changed("content", "content and more") }},
	{"a file that was rewritten is not the same", func(s *site) { s.changed("content", "CONTENT") }},
	{"a file that was emptied is not the same", func(s *site) { s.changed("content", "") }},
	{"Find of a file where it was made", func(s *site) { s.found("a") }},
	{"Find of a file that somebody moved", func(s *site) {
		if !s.h.Find {
			s.Skip("the target can't find by identity")
		}
		info := s.put("a", "content")
		if err := s.other().Rename(s.ctx(), info.Path, s.path("taken/away"), options); err != nil {
			s.Fatal(err)
		}
		s.checkFound(info, "taken/away")
	}},
	{"Find of a file that was removed", func(s *site) {
		if !s.h.Find {
			s.Skip("the target can't find by identity")
		}
		info := s.put("a", "content")
		if err := s.fs.Remove(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		_, err := s.fs.Find(s.ctx(), info.ID)
		s.class(err, fs.Missing)
	}},
}

// changed rewrites a file and wants Same to notice.
func (s *site) changed(before, after string) {
	s.Helper()
	if s.h.Rewrite == nil {
		s.Skip("the target's files can't be changed")
	}
	info := s.put("a", before)
	s.tick()
	s.h.Rewrite(s, info.Path, []byte(after))
	s.content("a", after)
	if now := s.stat("a"); now.Same(info) {
		s.Errorf("%+v passes for %+v", now, info)
	}
}

// found looks a new file up by its identity, or checks that it can't be.
func (s *site) found(name string) {
	s.Helper()
	info := s.put(name, "content")
	if !s.h.Find {
		_, err := s.fs.Find(s.ctx(), info.ID)
		s.class(err, fs.Unsupported)
		return
	}
	s.checkFound(info, name)
}

func (s *site) checkFound(info fs.Info, name string) {
	s.Helper()
	got, err := s.fs.Find(s.ctx(), info.ID)
	if err != nil {
		s.Fatal(err)
	}
	if !got.Same(info) {
		s.Errorf("Find answers %+v, want %+v", got, info)
	}
	if p := s.path(name); got.Path != "" && got.Path != p && got.Path != path.Base(p) {
		s.Errorf("Find answers path %q, want %q, its name or none", got.Path, p)
	}
}
