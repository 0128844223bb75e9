package fstest

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var locateTests = []test{
	{"of a file under one of the names", func(s *site) {
		info := s.upload("a", "content")
		other := s.upload("b", "another")
		place := s.locate(info.ID, "nothing", "a", "b", "no/such/parent")
		want := []fs.Entry{{}, {Exists: true, Info: info}, {Exists: true, Info: other}, {}}
		if !slices.Equal(place.Names, want) {
			s.Errorf("Locate answers %+v, want %+v", place.Names, want)
		}
		if place.Searched || place.Elsewhere.Exists {
			s.Errorf("a file that is under one of the names was searched: %+v", place)
		}
	}},
	{"of a directory under a name", func(s *site) {
		s.upload("d/a", "content")
		if place := s.locate("", "d"); !place.Names[0].Exists || !place.Names[0].Info.Dir {
			s.Errorf("Locate answers %+v", place)
		}
	}},
	{"without an identity searches for nothing", func(s *site) {
		s.upload("a", "content")
		if place := s.locate("", "nothing"); place.Names[0].Exists || place.Searched || place.Elsewhere.Exists {
			s.Errorf("Locate answers %+v", place)
		}
	}},
	{"without a name is refused", func(s *site) {
		_, err := s.driver.Locate(s.ctx(), s.upload("a", "content").ID)
		s.class(err, fs.Path)
	}},
	{"of a file where it was made", func(s *site) {
		info := s.upload("a", "content")
		s.elsewhere(info, "a")
	}},
	{"of a file that somebody moved", func(s *site) {
		info := s.upload("a", "content")
		if err := s.other().Publish(s.ctx(), info, s.path("taken/away"), publishing); err != nil {
			s.Fatal(err)
		}
		s.elsewhere(info, "taken/away")
	}},
	{"of a file that was discarded", func(s *site) {
		info := s.upload("a", "content")
		if err := s.driver.Discard(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		if place := s.locate(info.ID, "a"); place.Names[0].Exists || place.Searched != s.h.Search || place.Elsewhere.Exists {
			s.Errorf("Locate answers %+v", place)
		}
	}},
	{"of a file that another has replaced", func(s *site) {
		info := s.upload("a", "content")
		if err := s.driver.Discard(s.ctx(), info.Path); err != nil {
			s.Fatal(err)
		}
		s.tick()
		another := s.upload("a", "content")
		place := s.locate(info.ID, "a")
		if place.Names[0] != (fs.Entry{Exists: true, Info: another}) || place.Searched != s.h.Search || place.Elsewhere.Exists {
			s.Errorf("Locate answers %+v", place)
		}
	}},
	{"sees what another client has just done", func(s *site) {
		info := s.upload("a", "content")
		if err := s.other().Publish(s.ctx(), info, s.path("b"), publishing); err != nil {
			s.Fatal(err)
		}
		place := s.locate(info.ID, "a", "b")
		if place.Names[0].Exists || !place.Names[1].Exists || !place.Names[1].Info.Same(info) {
			s.Errorf("Locate answers %+v, want %+v under the second name", place, info)
		}
	}},
	{"leaves no marker, even when it fails", func(s *site) {
		info := s.upload("a", "content")
		before := s.names(".")
		s.locate(info.ID, "a")
		s.locate(info.ID, "nothing")
		if _, err := s.driver.Locate(s.ctx(), info.ID, s.path("nothing"), s.path("a/below/a/file")); err != nil {
			s.class(err, fs.Path)
		}
		if now := s.names("."); !slices.Equal(now, before) {
			s.Errorf("entries are %v, were %v", now, before)
		}
	}},
	{"works when the directory is gone", func(s *site) {
		if place := s.locate("", "d/e/a"); place.Names[0].Exists {
			s.Errorf("Locate answers %+v", place)
		}
		s.missing("d")
	}},
	{"works many at a time", func(s *site) {
		errs := s.both(func(int) error {
			for range 10 {
				if _, err := s.driver.Locate(s.ctx(), "", s.path("a")); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(errs[:]...); err != nil {
			s.Error(err)
		}
		if left := s.names("."); len(left) != 0 {
			s.Errorf("markers are left: %v", left)
		}
	}},
	{"gives no answer under a ctx that has ended", func(s *site) {
		info := s.upload("a", "content")
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		place, err := s.driver.Locate(ctx, info.ID, info.Path)
		if !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
		if len(place.Names) != 0 {
			s.Errorf("Locate answers %+v", place)
		}
	}},
}

func (s *site) locate(id fs.FileID, names ...string) fs.Place {
	s.Helper()
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = s.path(n)
	}
	place, err := s.driver.Locate(s.ctx(), id, paths...)
	if err != nil {
		s.Fatalf("locate %v: %v", names, err)
	}
	if len(place.Names) != len(names) {
		s.Fatalf("%d entries for %d names: %+v", len(place.Names), len(names), place)
	}
	return place
}

// elsewhere asks for a file that lies under name under another name, and wants
// it to be found where the target can search.
func (s *site) elsewhere(info fs.Info, name string) {
	s.Helper()
	place := s.locate(info.ID, "nothing")
	if place.Names[0].Exists || place.Searched != s.h.Search || place.Elsewhere.Exists != s.h.Search {
		s.Errorf("Locate answers %+v", place)
	}
	if !s.h.Search {
		return
	}
	got, p := place.Elsewhere.Info, s.path(name)
	if !got.Same(info) {
		s.Errorf("it is found as %+v, want %+v", got, info)
	}
	if got.Path != "" && got.Path != p && got.Path != path.Base(p) {
		s.Errorf("it is found at %q, want %q, its name or none", got.Path, p)
	}
}
