package localfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// tape records what a Driver asks of the kernel in order, with paths
// relative to dir, and fails the call that failAt says.
type tape struct {
	dir    string
	calls  []string
	failAt string
	err    error
}

// note records a call and says whether it fails.
func (p *tape) note(op string, paths ...string) error {
	for _, full := range paths {
		rel, err := filepath.Rel(p.dir, full)
		if err != nil || strings.HasPrefix(rel, "..") {
			return nil // above the test's own directory
		}
		op += " " + rel
	}
	p.calls = append(p.calls, op)
	if op == p.failAt {
		return p.err
	}
	return nil
}

// driver is one that is recorded. Failing calls have no effect.
func (p *tape) driver(noRename bool) *Driver {
	return withKernel(func(k *kernel) {
		real := *k
		k.renameNoReplace = func(from, to string) error {
			if err := p.note("rename", from, to); err != nil {
				return err
			}
			if noRename {
				return unix.EINVAL
			}
			return real.renameNoReplace(from, to)
		}
		k.link = func(from, to string) error {
			return errors.Join(p.note("link", from, to), real.link(from, to))
		}
		k.unlink = func(path string) error {
			if err := p.note("unlink", path); err != nil {
				return err
			}
			return real.unlink(path)
		}
		k.sync = func(f *os.File) error {
			if err := p.note("sync", f.Name()); err != nil {
				return err
			}
			return real.sync(f)
		}
		k.syncDir = func(path string) error {
			if err := p.note("syncdir", path); err != nil {
				return err
			}
			return real.syncDir(path)
		}
	})
}

func TestWhatIsAnsweredIsSynced(t *testing.T) {
	for _, row := range []struct {
		name     string
		noRename bool
		act      func(f *Driver, dir string) error
		want     []string
	}{
		{"Upload syncs content, then names from the top down", false, func(f *Driver, dir string) error {
			_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/d/e/a", options)
			return err
		}, []string{"sync d", "syncdir .", "sync d/e", "syncdir d", "sync d/e/a", "syncdir d/e"}},
		{"Upload below a directory that another process made syncs that one too", false, func(f *Driver, dir string) error {
			if err := os.Mkdir(dir+"/d", 0o755); err != nil {
				return err
			}
			_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/d/a", options)
			return err
		}, []string{"syncdir .", "sync d/a", "syncdir d"}},
		{"the next Upload syncs only what is new", false, func(f *Driver, dir string) error {
			_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/d/a", options)
			if err != nil {
				return err
			}
			_, err = f.Upload(t.Context(), strings.NewReader("x"), dir+"/d/b", options)
			return err
		}, []string{"sync d", "syncdir .", "sync d/a", "syncdir d", "sync d/b", "syncdir d"}},
		{"Publish within a directory", false, func(f *Driver, dir string) error {
			return errors.Join(os.WriteFile(dir+"/from", nil, 0o600), f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/to", publishing))
		}, []string{"rename from to", "syncdir ."}},
		{"Publish syncs the new name before the old one's end", false, func(f *Driver, dir string) error {
			return errors.Join(os.WriteFile(dir+"/from", nil, 0o600), f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/d/to", publishing))
		}, []string{"sync d", "syncdir .", "rename from d/to", "syncdir d", "syncdir ."}},
		{"Publish by link has the new name durable before the old one goes", true, func(f *Driver, dir string) error {
			return errors.Join(os.WriteFile(dir+"/from", nil, 0o600), f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/to", publishing))
		}, []string{"rename from to", "link from to", "syncdir .", "unlink from", "syncdir ."}},
		{"Discard", false, func(f *Driver, dir string) error {
			return errors.Join(os.WriteFile(dir+"/a", nil, 0o600), f.Discard(t.Context(), dir+"/a"))
		}, []string{"unlink a", "syncdir ."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := &tape{dir: t.TempDir()}
			if err := row.act(p.driver(row.noRename), p.dir); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.calls, row.want) {
				t.Errorf("calls are\n%q, want\n%q", p.calls, row.want)
			}
		})
	}
}

func TestAFailedSyncIsUnclear(t *testing.T) {
	rename := func(f *Driver, dir string) error {
		return errors.Join(os.WriteFile(dir+"/from", nil, 0o600), f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/d/to", publishing))
	}
	for _, row := range []struct {
		failAt   string
		noRename bool
		act      func(f *Driver, dir string) error
	}{
		{"sync a", false, uploadA}, {"syncdir .", false, uploadA}, {"sync d", false, rename}, {"syncdir d", false, rename},
		{"syncdir .", false, rename}, {"syncdir d", true, rename}, {"unlink from", true, rename},
		{"syncdir .", false, func(f *Driver, dir string) error {
			return errors.Join(os.WriteFile(dir+"/a", nil, 0o600), f.Discard(t.Context(), dir+"/a"))
		}},
	} {
		t.Run(fmt.Sprint(row.failAt, " link=", row.noRename), func(t *testing.T) {
			p := &tape{dir: t.TempDir(), failAt: row.failAt, err: unix.EIO}
			err := row.act(p.driver(row.noRename), p.dir)
			wantClass(t, err, fs.Unclear)
			if !errors.Is(err, unix.EIO) {
				t.Errorf("error %v doesn't wrap the disk's", err)
			}
		})
	}
}

// TestDirectoriesThatCannotBeSynced: a file system that knows no fsync of a
// directory has nothing to sync there, and everything is published.
func TestDirectoriesThatCannotBeSynced(t *testing.T) {
	for _, errno := range []error{unix.EINVAL, unix.EOPNOTSUPP, unix.ENOTSUP} {
		f := withKernel(func(k *kernel) { k.syncDir = func(string) error { return errno } })
		dir := t.TempDir()
		info := upload(t, f, dir+"/d/e/a", "x")
		if err := f.Publish(t.Context(), info, dir+"/d/f/b", publishing); err != nil {
			t.Errorf("%v: publish: %v", errno, err)
		}
		if err := f.Discard(t.Context(), dir+"/d/e/a"); err != nil && !errors.Is(err, unix.ENOENT) {
			t.Errorf("%v: discard: %v", errno, err)
		}
	}
}

// TestAModeThatIsRefused is told with the option that does without.
func TestAModeThatIsRefused(t *testing.T) {
	err := failed("upload", "/mnt/share/a", errModeRefused, false)
	wantClass(t, err, fs.Path)
	if !strings.Contains(err.Error(), "file_mode none") || !errors.Is(err, unix.EPERM) {
		t.Errorf("the error is %v", err)
	}
}

func uploadA(f *Driver, dir string) error {
	_, err := f.Upload(context.Background(), strings.NewReader("x"), dir+"/a", options)
	return err
}

// TestADirectoryIsSyncedUntilThatWorked has the first sync of a new directory's
// name fail: the directory exists then, and isn't durable.
func TestADirectoryIsSyncedUntilThatWorked(t *testing.T) {
	p := &tape{dir: t.TempDir(), failAt: "syncdir .", err: unix.EIO}
	f := p.driver(false)
	_, err := f.Upload(t.Context(), strings.NewReader("x"), p.dir+"/d/a", options)
	wantClass(t, err, fs.Unclear)
	p.calls, p.failAt = nil, ""
	upload(t, f, p.dir+"/d/a", "x")
	if want := []string{"syncdir .", "sync d/a", "syncdir d"}; !slices.Equal(p.calls, want) {
		t.Errorf("calls are %q, want %q", p.calls, want)
	}
}

// TestPublishByLinkFinishesWhatACrashLeft dies between link and unlink, and
// tries again, on this kernel and on one that meanwhile has renameat2.
func TestPublishByLinkFinishesWhatACrashLeft(t *testing.T) {
	for _, noRename := range []bool{true, false} {
		for _, to := range []string{"to", "d/from"} {
			t.Run(fmt.Sprint("noRename=", noRename, " ", to), func(t *testing.T) {
				p := &tape{dir: t.TempDir(), failAt: "unlink from", err: unix.EIO}
				before := upload(t, New(Options{}), p.dir+"/from", "content")
				wantClass(t, p.driver(true).Publish(t.Context(), before, p.dir+"/"+to, publishing), fs.Unclear)
				wantContent(t, p.dir+"/from", "content")
				wantContent(t, p.dir+"/"+to, "content")

				p.failAt = ""
				f := p.driver(noRename)
				if err := f.Publish(t.Context(), fs.Info{Path: p.dir + "/from"}, p.dir+"/"+to, publishing); err != nil {
					t.Fatal(err)
				}
				wantMissing(t, p.dir+"/from")
				wantContent(t, p.dir+"/"+to, "content")
				if after, err := f.Stat(t.Context(), p.dir+"/"+to); err != nil || !after.Same(before) {
					t.Errorf("it is %+v, %v, was %+v", after, err, before)
				}
			})
		}
	}
}

func TestPublishByLinkWithAnUnlinkThatWasAskedTwice(t *testing.T) {
	f := withKernel(func(k *kernel) {
		k.renameNoReplace = cannot
		unlink := k.unlink
		k.unlink = func(path string) error { return errors.Join(unlink(path), unix.ENOENT) }
	})
	dir := t.TempDir()
	upload(t, f, dir+"/from", "content")
	if err := f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/to", publishing); err != nil {
		t.Error(err)
	}
	wantContent(t, dir+"/to", "content")
}

func TestPublishWhereNothingIsSafe(t *testing.T) {
	for errno, want := range map[error]fs.Class{unix.EPERM: fs.Path, unix.ENOSYS: fs.Unsupported, unix.EOPNOTSUPP: fs.Unsupported} {
		f := withKernel(func(k *kernel) {
			k.renameNoReplace = cannot
			k.link = func(string, string) error { return errno }
		})
		dir := t.TempDir()
		upload(t, f, dir+"/from", "content")
		wantClass(t, f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/to", publishing), want)
		wantContent(t, dir+"/from", "content")
		wantMissing(t, dir+"/to")
	}
}

// TestPublishIntoADirectoryThatVanishes: ENOENT is then not about the file.
func TestPublishIntoADirectoryThatVanishes(t *testing.T) {
	dir := t.TempDir()
	f := withKernel(func(k *kernel) {
		rename := k.renameNoReplace
		k.renameNoReplace = func(from, to string) error {
			return errors.Join(os.Remove(filepath.Dir(to)), rename(from, to))
		}
	})
	upload(t, f, dir+"/from", "content")
	wantClass(t, f.Publish(t.Context(), fs.Info{Path: dir + "/from"}, dir+"/d/to", publishing), fs.Path)
	wantContent(t, dir+"/from", "content")
}

func TestCopyFallsBackToMemory(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 200_000) // 3.2 MB
	for _, row := range []struct {
		name string
		errs []error // of the calls, nil for a real one of 1000 bytes
	}{
		{"at once", []error{unix.EXDEV}},
		{"after a while", []error{nil, nil, nil, unix.EINVAL}},
		{"not known", []error{unix.ENOSYS}},
		{"not supported", []error{unix.EOPNOTSUPP}},
		{"nothing copied", []error{nil, errNothing}},
		{"never", []error{nil}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, calls := t.TempDir(), 0
			f := withKernel(func(k *kernel) {
				real := k.copyRange
				k.copyRange = func(dst, src *os.File, off int64, n int) (int, error) {
					err := row.errs[min(calls, len(row.errs)-1)]
					calls++
					switch {
					case err == errNothing:
						return 0, nil
					case err != nil:
						return 0, err
					case len(row.errs) > 1:
						n = min(n, 1000)
					}
					return real(dst, src, off, n)
				}
			})
			src := openWith(t, content)
			if _, err := f.Upload(t.Context(), fileSource{src, int64(len(content))}, dir+"/a", options); err != nil {
				t.Fatal(err)
			}
			if calls == 0 {
				t.Error("the kernel wasn't asked")
			}
			wantContent(t, dir+"/a", content)
		})
	}
}

func TestCopyReportsADiskError(t *testing.T) {
	f := withKernel(func(k *kernel) {
		k.copyRange = func(*os.File, *os.File, int64, int) (int, error) { return 0, unix.EIO }
	})
	_, err := f.Upload(t.Context(), fileSource{openWith(t, "content"), 7}, t.TempDir()+"/a", options)
	wantClass(t, err, fs.Unclear)
}

// TestASourceSaysNothingOfTheTarget: an errno of the staged file's disk must
// not be taken for one of the target's.
func TestASourceSaysNothingOfTheTarget(t *testing.T) {
	f := New(Options{})
	_, err := f.Upload(t.Context(), badSource{unix.EACCES}, t.TempDir()+"/a", options)
	wantClass(t, err, fs.Unclear)
	if !errors.Is(err, unix.EACCES) {
		t.Errorf("error %v doesn't wrap the source's", err)
	}
}

var errNothing = errors.New("the kernel copies nothing and says no more")

type badSource struct{ err error }

func (s badSource) Size() int64                       { return 10 }
func (s badSource) ReadAt([]byte, int64) (int, error) { return 0, s.err }

type fileSource struct {
	*os.File
	size int64
}

func (s fileSource) Size() int64      { return s.size }
func (s fileSource) OSFile() *os.File { return s.File }

func openWith(t *testing.T, content string) *os.File {
	t.Helper()
	p := t.TempDir() + "/source"
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestUploadPacesTheDisk: a long file is written back on the way, never more than
// two paces behind, and an error of that is the Upload's: the sync that follows
// doesn't report it once more.
func TestUploadPacesTheDisk(t *testing.T) {
	const size = 5*paceEvery + paceEvery/2
	content := strings.Repeat("0123456789abcdef", size/16)
	for _, failing := range []string{"", "writeback", "wait"} {
		for _, inKernel := range []bool{true, false} {
			var begun, ended int64
			f := withKernel(func(k *kernel) {
				real := *k
				k.writeback = func(f *os.File, off, n int64) error {
					if off != begun {
						t.Errorf("writeback begins at %d and not at %d", off, begun)
					}
					begun = off + n
					if begun-ended > 3*paceEvery {
						t.Errorf("%d bytes are under way", begun-ended)
					}
					if failing == "writeback" {
						return unix.EIO
					}
					return real.writeback(f, off, n)
				}
				k.wait = func(f *os.File, off, n int64) error {
					if off != ended {
						t.Errorf("it waits from %d on and not from %d", off, ended)
					}
					if n == 0 {
						t.Error("it waits for no bytes, which the kernel takes for all that follow")
					}
					ended = off + n
					if failing == "wait" {
						return unix.EIO
					}
					return real.wait(f, off, n)
				}
			})
			f.o.NoKernelCopy = !inKernel
			dir := t.TempDir()
			source := dir + "/source"
			if err := os.WriteFile(source, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.Open(source)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Upload(t.Context(), paced{in, size}, dir+"/a", options)
			if failing != "" {
				wantClass(t, err, fs.Unclear)
			} else if err != nil || begun < size-paceEvery || ended < size-3*paceEvery {
				t.Errorf("%v; written back up to %d, waited for up to %d of %d", err, begun, ended, size)
			}
			_ = in.Close()
		}
	}
}

// paced is a source that the kernel can copy.
type paced struct {
	*os.File
	size int64
}

func (p paced) Size() int64      { return p.size }
func (p paced) OSFile() *os.File { return p.File }
