// Package fstest is the conformance suite of package fs: one call, and every
// sentence of the Driver interface is tried on a driver.
//
//	func TestConformance(t *testing.T) { fstest.Run(t, fstest.Harness{Open: ..., Reader: ..., Dir: ...}) }
//
// Each sub-test has clients and a directory of its own, so any of them runs
// alone. A sub-test is skipped only for an ability that the Harness declares to
// be missing, and the declaration is checked where that is possible.
package fstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Harness is what the suite needs to know of a driver and its target.
type Harness struct {
	// Open returns a new client. All clients are of one target; the suite
	// closes them.
	Open func(t testing.TB) fs.Driver
	// Reader returns a reader of the target, which shows what is there.
	Reader func(t testing.TB) fs.Reader
	// Dir returns a directory that exists, is empty and belongs to the caller.
	Dir func(t testing.TB) string

	// Search says that Locate can search for a file by its identity. Otherwise
	// it must never claim to have done so.
	Search bool
	// NoColon says that the target refuses names with a colon, as HDFS does.
	NoColon bool
	// Tick is what two events must be apart for the target to give them
	// different times, 0 if any two are.
	Tick time.Duration

	// Rewrite makes p's content, as a stranger does and in place where the
	// target can. Nil: nobody can change a finished file.
	Rewrite func(t testing.TB, p string, content []byte)
	// Mode returns the permission bits of what is at p. Nil: there are none.
	Mode func(t testing.TB, p string) uint32
	// Refused calls f, on the same goroutine, with a client that may not make
	// or remove entries in dir. Nil: nothing is ever refused.
	Refused func(t testing.TB, dir string, f func(fs.Driver))
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Upload", uploadTests},
		{"Publish", publishTests},
		{"Identity", identityTests},
		{"Locate", locateTests},
		{"Discard", discardTests},
		{"Open", openTests},
		{"Reader", readerTests},
		{"Names", nameTests},
		{"Refusal", refusalTests},
		{"Life", lifeTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, row := range group.tests {
				t.Run(row.name, func(t *testing.T) {
					c := h.Open(t)
					defer c.Close()
					row.run(&site{T: t, h: h, driver: c, reader: h.Reader(t), dir: h.Dir(t)})
				})
			}
		})
	}
}

// test is one row of the suite.
type test struct {
	name string
	run  func(*site)
}

// site is where one sub-test works: a client and a directory. Its methods fail
// the test instead of returning errors.
type site struct {
	*testing.T
	h      Harness
	driver fs.Driver
	reader fs.Reader
	dir    string
}

// options and publishing are those of a sub-test that doesn't care.
var (
	options    = fs.UploadOptions{FileMode: 0o644, DirMode: 0o755}
	publishing = fs.PublishOptions{DirMode: 0o755}
)

func (s *site) ctx() context.Context { return s.Context() }

// path is a path below the test's own directory.
func (s *site) path(name string) string { return path.Join(s.dir, name) }

// other returns a second client.
func (s *site) other() fs.Driver {
	c := s.h.Open(s)
	s.Cleanup(func() { c.Close() })
	return c
}

// upload makes a file and checks what Upload says of it.
func (s *site) upload(name, content string) fs.Info {
	s.Helper()
	info, err := s.driver.Upload(s.ctx(), bytes.NewReader([]byte(content)), s.path(name), options)
	if err != nil {
		s.Fatalf("upload %s: %v", name, err)
	}
	if info.Path != s.path(name) || info.Length != int64(len(content)) || !info.Closed || info.Dir || info.ModTime.IsZero() {
		s.Errorf("Upload answers %+v for %d bytes at %s", info, len(content), s.path(name))
	}
	return info
}

// publish publishes what is at from now, if anything is.
func (s *site) publish(from, to string) error {
	s.Helper()
	info, err := s.driver.Stat(s.ctx(), s.path(from))
	if err != nil {
		s.class(err, fs.Missing, fs.Path)
		info = fs.Info{Path: s.path(from)}
	}
	return s.driver.Publish(s.ctx(), info, s.path(to), publishing)
}

func (s *site) mustPublish(from, to string) {
	s.Helper()
	if err := s.publish(from, to); err != nil {
		s.Fatalf("publish %s as %s: %v", from, to, err)
	}
}

// mkdir makes a directory as drivers do, for a file, which then goes.
func (s *site) mkdir(name string) {
	s.Helper()
	const file = ".made-for"
	s.upload(path.Join(name, file), "")
	if err := s.driver.Discard(s.ctx(), s.path(path.Join(name, file))); err != nil {
		s.Fatalf("make directory %s: %v", name, err)
	}
}

func (s *site) stat(name string) fs.Info {
	s.Helper()
	info, err := s.driver.Stat(s.ctx(), s.path(name))
	if err != nil {
		s.Fatalf("stat %s: %v", name, err)
	}
	return info
}

// missing checks that there is nothing at name.
func (s *site) missing(name string) {
	s.Helper()
	info, err := s.driver.Stat(s.ctx(), s.path(name))
	if err == nil {
		s.Errorf("there is something at %s: %+v", name, info)
	} else if c := fs.ClassOf(err); c != fs.Missing {
		s.Errorf("stat %s: class %v, want missing: %v", name, c, err)
	}
}

// read returns the content at name.
func (s *site) read(name string) string {
	s.Helper()
	r, err := s.reader.Open(s.ctx(), s.path(name))
	if err != nil {
		s.Fatalf("open %s: %v", name, err)
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		s.Fatalf("read %s: %v", name, err)
	}
	return string(content)
}

// content checks what a reader sees at name.
func (s *site) content(name, want string) {
	s.Helper()
	if got := s.read(name); got != want {
		s.Errorf("%s holds %d bytes (%.20q…), want %d bytes (%.20q…)", name, len(got), got, len(want), want)
	}
}

// same checks that the file at name is the one of before, unchanged.
func (s *site) same(name string, before fs.Info) {
	s.Helper()
	if now := s.stat(name); !now.Same(before) {
		s.Errorf("%s is %+v, was %+v", name, now, before)
	}
}

// class checks an error: that there is one, and of one of the classes.
func (s *site) class(err error, want ...fs.Class) {
	s.Helper()
	if err == nil {
		s.Errorf("no error, want class %v", want)
		return
	}
	for _, w := range want {
		if fs.ClassOf(err) == w {
			return
		}
	}
	s.Errorf("class %v, want %v: %v", fs.ClassOf(err), want, err)
}

// names lists the names below name.
func (s *site) names(name string) []string {
	s.Helper()
	infos, err := s.reader.List(s.ctx(), s.path(name))
	if err != nil {
		s.Fatalf("list %s: %v", name, err)
	}
	names := []string{}
	for _, i := range infos {
		names = append(names, path.Base(i.Path))
	}
	return names
}

// tick lets the target's clock pass on, so that what follows has another time.
func (s *site) tick() {
	if s.h.Tick > 0 {
		time.Sleep(s.h.Tick)
	}
}

// pattern is n bytes in which every position shows.
func pattern(n int) string {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i) ^ byte(i>>8)*7 ^ byte(i>>16)*13
	}
	return string(p)
}

// source is a Source that a test can interfere with.
type source struct {
	content string
	before  func(off int64) error // may be nil
}

func (s source) Size() int64 { return int64(len(s.content)) }

func (s source) ReadAt(p []byte, off int64) (int, error) {
	if s.before != nil {
		if err := s.before(off + int64(len(p))); err != nil {
			return 0, err
		}
	}
	if off >= s.Size() {
		return 0, io.EOF
	}
	n := copy(p, s.content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// errSource is what a failing source fails with.
var errSource = fmt.Errorf("the source failed")
