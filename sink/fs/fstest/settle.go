package fstest

import (
	"context"
	"errors"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var settleTests = []test{
	{"calls view once, with the truth", func(s *site) {
		info := s.put("a", "content")
		calls := 0
		err := s.fs.Settle(s.ctx(), s.dir, func(ctx context.Context, v fs.Viewer) error {
			calls++
			if got, err := v.Stat(ctx, info.Path); err != nil || !got.Same(info) {
				s.Errorf("Stat answers %+v, %v, want %+v", got, err, info)
			}
			_, err := v.Stat(ctx, s.path("b"))
			s.class(err, fs.Missing)
			_, err = v.Find(ctx, info.ID)
			if s.h.Find && err != nil {
				s.Error(err)
			} else if !s.h.Find {
				s.class(err, fs.Unsupported)
			}
			return nil
		})
		if err != nil || calls != 1 {
			s.Errorf("view was called %d times, error %v", calls, err)
		}
	}},
	{"sees what another client has just done", func(s *site) {
		info := s.put("a", "content")
		if err := s.other().Rename(s.ctx(), info.Path, s.path("b"), options); err != nil {
			s.Fatal(err)
		}
		err := s.fs.Settle(s.ctx(), s.dir, func(ctx context.Context, v fs.Viewer) error {
			_, err := v.Stat(ctx, info.Path)
			s.class(err, fs.Missing)
			got, err := v.Stat(ctx, s.path("b"))
			if err != nil || !got.Same(info) {
				s.Errorf("Stat answers %+v, %v, want %+v", got, err, info)
			}
			return nil
		})
		if err != nil {
			s.Error(err)
		}
	}},
	{"leaves no marker, even when view fails", func(s *site) {
		s.put("a", "content")
		before := s.names(".")
		errView := errors.New("view failed")
		for _, want := range []error{nil, errView} {
			err := s.fs.Settle(s.ctx(), s.dir, func(context.Context, fs.Viewer) error { return want })
			if !errors.Is(err, want) {
				s.Errorf("Settle answers %v, want %v", err, want)
			}
			if now := s.names("."); !slices.Equal(now, before) {
				s.Errorf("entries are %v, were %v", now, before)
			}
		}
	}},
	{"works when the directory is gone", func(s *site) {
		called := false
		err := s.fs.Settle(s.ctx(), s.path("d/e"), func(ctx context.Context, v fs.Viewer) error {
			called = true
			_, err := v.Stat(ctx, s.path("d/e/a"))
			s.class(err, fs.Missing)
			return nil
		})
		if err != nil || !called {
			s.Errorf("view called: %v, error %v", called, err)
		}
	}},
	{"works many at a time", func(s *site) {
		errs := s.both(func(int) error {
			for range 10 {
				err := s.fs.Settle(s.ctx(), s.dir, func(context.Context, fs.Viewer) error { return nil })
				if err != nil {
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
	{"doesn't call view under a ctx that has ended", func(s *site) {
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		err := s.fs.Settle(ctx, s.dir, func(context.Context, fs.Viewer) error {
			s.Error("view was called")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
	}},
}
