package fstest

import (
	"context"
	"errors"
	"io"
	"testing/iotest"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var openTests = []test{
	{"of nothing", func(s *site) {
		_, err := s.driver.Open(s.ctx(), s.path("a"))
		s.class(err, fs.Missing)
		_, err = s.driver.Open(s.ctx(), s.path("no/a"))
		s.class(err, fs.Missing)
	}},
	{"of a directory", func(s *site) {
		s.mkdir("d")
		_, err := s.driver.Open(s.ctx(), s.path("d"))
		s.class(err, fs.Path)
	}},
	{"below a file", func(s *site) {
		s.upload("f", "x")
		_, err := s.driver.Open(s.ctx(), s.path("f/a"))
		s.class(err, fs.Missing, fs.Path)
	}},
	{"reads in any pieces", func(s *site) {
		s.upload("a", pattern(3<<20))
		r := s.open(s.ctx(), "a")
		defer r.Close()
		got, err := io.ReadAll(iotest.HalfReader(r))
		if err != nil || string(got) != pattern(3<<20) {
			s.Errorf("read %d bytes, %v", len(got), err)
		}
	}},
	{"of an empty file ends at once", func(s *site) {
		s.upload("a", "")
		r := s.open(s.ctx(), "a")
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || len(got) != 0 {
			s.Errorf("read %q, %v", got, err)
		}
	}},
	{"of a file under its new name, by another client", func(s *site) {
		s.upload(".a.inprogress", "content")
		s.mustPublish(".a.inprogress", "a")
		r, err := s.other().Open(s.ctx(), s.path("a"))
		if err != nil {
			s.Fatal(err)
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || string(got) != "content" {
			s.Errorf("read %q, %v", got, err)
		}
	}},
	{"changes nothing", func(s *site) {
		info := s.upload("a", "content")
		r := s.open(s.ctx(), "a")
		if _, err := io.ReadAll(r); err != nil {
			s.Error(err)
		}
		if err := r.Close(); err != nil {
			s.Error(err)
		}
		s.same("a", info)
	}},
	{"under a ctx that has ended", func(s *site) {
		s.upload("a", "content")
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		if _, err := s.driver.Open(ctx, s.path("a")); !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
	}},
	{"reads end with ctx", func(s *site) {
		s.upload("a", pattern(3<<20))
		ctx, cancel := context.WithCancel(s.ctx())
		defer cancel()
		r := s.open(ctx, "a")
		defer r.Close()
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			s.Fatal(err)
		}
		cancel()
		n, err := io.Copy(io.Discard, r)
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%d more bytes and error %v, want canceled", n, err)
		}
	}},
}

// open opens a file that must be there.
func (s *site) open(ctx context.Context, name string) io.ReadCloser {
	s.Helper()
	r, err := s.driver.Open(ctx, s.path(name))
	if err != nil {
		s.Fatalf("open %s: %v", name, err)
	}
	return r
}
