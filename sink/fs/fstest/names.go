package fstest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// oddNames are names that a partition or tag may bring, and that something on
// the way to a file system might decode, split or cut.
var oddNames = []string{
	" ", "a b", " leading", "trailing ", "100%", "%20", "%2F", "%00", "k=v", "dt=2024-01-01", "a+b", "a&b", "a?b", "a#b",
	"a;b", "a,b", "a!b", "(a)", "[a]", "{a,b}", "*", "~", "~root", "$HOME", "`id`", "'a'", `"a"`, "a|b", "<a>", "-rf",
	"..a", "...", "a..", ".hidden", "_under", "日志", "журнал", "naïve", "nai\u0308ve", "😀", "\u00a0", "\u200b",
	strings.Repeat("x", 255), strings.Repeat("日", 85),
}

var nameTests = []test{
	{"odd ones are kept byte by byte", func(s *site) {
		names := slices.Clone(oddNames)
		if !s.h.NoColon {
			names = append(names, "a:b", "12:30:00")
		}
		for _, n := range names {
			info := s.upload("files/temp", n)
			s.mustPublish("files/temp", "files/"+n)
			s.same("files/"+n, info)
			s.upload("dirs/"+n+"/a", n)
			s.content("dirs/"+n+"/a", n)
		}
		slices.Sort(names)
		for _, d := range []string{"files", "dirs"} {
			if got := s.names(d); !slices.Equal(got, names) {
				s.Errorf("%s has %q, want %q", d, got, names)
			}
		}
		for _, n := range names {
			s.content("files/"+n, n)
		}
	}},
	{"that the target can't have are refused", func(s *site) {
		long := []string{strings.Repeat("x", 256), strings.Repeat("日", 86)}
		if s.h.NoColon {
			long = append(long, "a:b")
		}
		for _, n := range long {
			_, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), s.path(n), options)
			s.class(err, fs.Path)
			_, err = s.driver.Upload(s.ctx(), strings.NewReader("x"), s.path(n+"/a"), options)
			s.class(err, fs.Path)
			s.upload("a", "content")
			s.class(s.publish("a", n), fs.Path)
			s.content("a", "content")
			if err := s.driver.Discard(s.ctx(), s.path("a")); err != nil {
				s.Fatal(err)
			}
		}
		if got := s.names("."); len(got) != 0 {
			s.Errorf("something was made: %q", got)
		}
	}},
	{"that aren't absolute and clean are refused", func(s *site) {
		for _, p := range []string{"", "a", "./a", s.dir + "//a", s.dir + "/./a", s.dir + "/b/../a", s.dir + "/a/", s.dir + "/a\x00b"} {
			_, err := s.driver.Upload(s.ctx(), strings.NewReader("x"), p, options)
			s.class(err, fs.Path)
			_, err = s.driver.Stat(s.ctx(), p)
			s.class(err, fs.Path)
			_, err = s.driver.Locate(s.ctx(), "", s.path("a"), p)
			s.class(err, fs.Path)
			s.class(s.driver.Discard(s.ctx(), p), fs.Path)
		}
		if got := s.names("."); len(got) != 0 {
			s.Errorf("something was made: %q", got)
		}
	}},
}

var refusalTests = []test{
	{"of permission concerns the path and changes nothing", func(s *site) {
		if s.h.Refused == nil {
			s.Skip("the target refuses nobody")
		}
		a, b := s.upload("d/a", "content"), s.upload("b", "from")
		s.h.Refused(s, s.path("d"), func(c fs.Driver) {
			_, err := c.Upload(s.ctx(), strings.NewReader("x"), s.path("d/new"), options)
			s.class(err, fs.Path)
			_, err = c.Upload(s.ctx(), strings.NewReader("x"), s.path("d/e/new"), options)
			s.class(err, fs.Path)
			s.class(c.Publish(s.ctx(), b, s.path("d/new"), publishing), fs.Path)
			s.class(c.Publish(s.ctx(), a, s.path("d/new"), publishing), fs.Path)
			s.class(c.Discard(s.ctx(), a.Path), fs.Path)
			if info, err := c.Stat(s.ctx(), a.Path); err != nil || !info.Same(a) {
				s.Errorf("Stat answers %+v, %v, want %+v", info, err, a)
			}
		})
		if got := s.names("d"); !slices.Equal(got, []string{"a"}) {
			s.Errorf("entries are %q", got)
		}
		s.same("d/a", a)
		s.same("b", b)
	}},
}

var lifeTests = []test{
	{"a client that was closed answers nothing", func(s *site) {
		info := s.upload("a", "content")
		c := s.h.Open(s)
		if err := c.Close(); err != nil {
			s.Fatal(err)
		}
		for op, err := range s.everything(c, s.ctx(), info) {
			s.notAFact(op, err)
		}
		_ = c.Close() // may fail, mustn't panic
		s.same("a", info)
		if got := s.names("."); !slices.Equal(got, []string{"a"}) {
			s.Errorf("entries are %q", got)
		}
	}},
	{"closing one client leaves the others alone", func(s *site) {
		c := s.h.Open(s)
		if err := c.Close(); err != nil {
			s.Fatal(err)
		}
		s.upload("a", "content")
		s.content("a", "content")
	}},
	{"every call gives up under a ctx that has ended", func(s *site) {
		info := s.upload("a", "content")
		ctx, cancel := context.WithCancel(s.ctx())
		cancel()
		for op, err := range s.everything(s.driver, ctx, info) {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("%s answers %v, want canceled", op, err)
			}
			s.notAFact(op, err)
		}
		s.same("a", info)
		if got := s.names("."); !slices.Equal(got, []string{"a"}) {
			s.Errorf("entries are %q", got)
		}
	}},
}

// everything calls each method of c once; info describes a file that exists.
func (s *site) everything(c fs.Driver, ctx context.Context, info fs.Info) map[string]error {
	errs := map[string]error{}
	_, errs["upload"] = c.Upload(ctx, strings.NewReader("x"), s.path("upload"), options)
	errs["publish"] = c.Publish(ctx, info, s.path("published"), publishing)
	_, errs["stat"] = c.Stat(ctx, info.Path)
	_, errs["stat of nothing"] = c.Stat(ctx, s.path("nothing"))
	_, errs["locate"] = c.Locate(ctx, info.ID, info.Path)
	_, errs["locate elsewhere"] = c.Locate(ctx, info.ID, s.path("nothing"))
	errs["discard"] = c.Discard(ctx, info.Path)
	_, errs["open"] = c.Open(ctx, info.Path)
	if r, ok := c.(fs.Reader); ok {
		_, errs["list"] = r.List(ctx, s.dir)
	}
	return errs
}

// notAFact checks that there is an error, and none that a caller would take
// for a statement about the path.
func (s *site) notAFact(op string, err error) {
	s.Helper()
	if err == nil {
		s.Errorf("%s: no error", op)
	} else if c := fs.ClassOf(err); c == fs.Missing || c == fs.Exists || c == fs.Path {
		s.Errorf("%s: class %v: %v", op, c, err)
	}
}
