package fstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

var publishTests = []test{
	{"moves the file", func(s *site) {
		info := s.upload(".a.inprogress", "content")
		s.mustPublish(".a.inprogress", "a")
		s.missing(".a.inprogress")
		s.content("a", "content")
		s.same("a", info)
	}},
	{"moves between directories", func(s *site) {
		s.mkdir("e")
		s.upload("d/a", "content")
		s.mustPublish("d/a", "e/b")
		s.missing("d/a")
		s.content("e/b", "content")
	}},
	{"makes the target's parents", func(s *site) {
		s.upload("a", "content")
		s.mustPublish("a", "x/y/z/b")
		s.content("x/y/z/b", "content")
		if s.h.Mode != nil {
			if got := s.h.Mode(s, s.path("x/y")); got != publishing.DirMode {
				s.Errorf("mode of a new parent is %o, want %o", got, options.DirMode)
			}
		}
	}},
	{"never replaces a file", func(s *site) {
		a, b := s.upload("a", "from"), s.upload("b", "there before")
		s.class(s.publish("a", "b"), fs.Exists)
		s.same("a", a)
		s.same("b", b)
		s.content("a", "from")
		s.content("b", "there before")
	}},
	{"never replaces an empty file", func(s *site) {
		s.upload("a", "from")
		s.upload("b", "")
		s.class(s.publish("a", "b"), fs.Exists)
		s.content("b", "")
	}},
	{"neither replaces a directory nor moves into it", func(s *site) {
		s.upload("a", "from")
		s.mkdir("d")
		s.class(s.publish("a", "d"), fs.Exists)
		s.content("a", "from")
		if got := s.names("d"); len(got) != 0 {
			s.Errorf("the directory has entries: %v", got)
		}
	}},
	{"onto its own name changes nothing", func(s *site) {
		info := s.upload("a", "content")
		s.class(s.publish("a", "a"), fs.Exists)
		s.same("a", info)
		s.content("a", "content")
	}},
	{"of nothing makes nothing", func(s *site) {
		s.class(s.publish("a", "new/b"), fs.Missing)
		s.missing("new")
		s.class(s.publish("no/a", "b"), fs.Missing)
	}},
	{"again after it happened says so and changes nothing", func(s *site) {
		info := s.upload("a", "content")
		s.mustPublish("a", "b")
		s.class(s.driver.Publish(s.ctx(), info, s.path("b"), publishing), fs.Missing, fs.Exists)
		s.content("b", "content")
	}},
	{"of another file at its path moves nothing", func(s *site) {
		first := s.upload("a", "first")
		if err := s.driver.Discard(s.ctx(), first.Path); err != nil {
			s.Fatal(err)
		}
		s.tick()
		second := s.upload("a", "second")
		s.class(s.driver.Publish(s.ctx(), first, s.path("b"), publishing), fs.Missing)
		s.missing("b")
		s.same("a", second)
	}},
	{"moves no directory", func(s *site) {
		s.upload("d/a", "content")
		s.class(s.publish("d", "e"), fs.Path)
		s.missing("e")
		s.content("d/a", "content")
	}},
	{"with a file in the way of the parents", func(s *site) {
		s.upload("a", "from")
		s.upload("f", "in the way")
		s.class(s.publish("a", "f/b"), fs.Path)
		s.content("a", "from")
		s.content("f", "in the way")
	}},
	{"does nothing under a ctx that has ended", func(s *site) {
		s.upload("a", "content")
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		if err := s.driver.Publish(ctx, s.stat("a"), s.path("b"), publishing); !errors.Is(err, context.Canceled) {
			s.Errorf("error %v, want canceled", err)
		}
		s.content("a", "content")
		s.missing("b")
	}},
	{"of two files to one name: one wins", func(s *site) { s.raceToOneName() }},
	{"of one file to two names: one wins", func(s *site) { s.raceFromOneName() }},
}

// raceToOneName lets two clients publish their files under one name. The loser
// keeps his file.
func (s *site) raceToOneName() {
	clients := []fs.Driver{s.driver, s.other()}
	for round := range 20 {
		name := func(part string) string { return fmt.Sprintf("%d/%s", round, part) }
		var infos [2]fs.Info
		for i := range infos {
			infos[i] = s.upload(name(fmt.Sprint("from", i)), strings.Repeat("x", i))
		}
		errs := s.both(func(i int) error {
			return clients[i].Publish(s.ctx(), infos[i], s.path(name("to")), publishing)
		})
		winner := s.winner(errs)
		s.class(errs[1-winner], fs.Exists)
		s.same(name("to"), infos[winner])
		s.missing(name(fmt.Sprint("from", winner)))
		s.same(name(fmt.Sprint("from", 1-winner)), infos[1-winner])
	}
}

// raceFromOneName lets two clients publish one file. Only one may believe that
// it was him, and unless the other knows nothing for sure, there is one file.
func (s *site) raceFromOneName() {
	clients := []fs.Driver{s.driver, s.other()}
	for round := range 20 {
		name := func(part any) string { return fmt.Sprintf("%d/%v", round, part) }
		info := s.upload(name("from"), "content")
		errs := s.both(func(i int) error {
			return clients[i].Publish(s.ctx(), info, s.path(name(i)), publishing)
		})
		winner := s.winner(errs)
		s.same(name(winner), info)
		s.missing(name("from"))
		s.class(errs[1-winner], fs.Missing, fs.Unclear)
		if errs[1-winner] != nil && fs.ClassOf(errs[1-winner]) == fs.Missing {
			s.missing(name(1 - winner))
		}
	}
}

// winner is whose error is nil, the first of two.
func (s *site) winner(errs [2]error) int {
	for i, err := range errs {
		if err == nil {
			return i
		}
	}
	s.Fatalf("nobody won: %v, %v", errs[0], errs[1])
	return -1
}

// both runs f(0) and f(1) at the same time.
func (s *site) both(f func(i int) error) (errs [2]error) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range errs {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}
