package localfs

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

func TestSymbolicLinks(t *testing.T) {
	f := New(Options{})
	setup := func(t *testing.T) string {
		dir := t.TempDir()
		upload(t, f, dir+"/real/a", "content")
		for link, to := range map[string]string{"dirlink": "real", "filelink": "real/a", "dangling": "nowhere"} {
			if err := os.Symlink(to, dir+"/"+link); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	t.Run("a linked directory is a directory", func(t *testing.T) {
		dir := setup(t)
		upload(t, f, dir+"/dirlink/sub/b", "b")
		wantContent(t, dir+"/real/sub/b", "b")
		if info, err := f.Stat(t.Context(), dir+"/dirlink"); err != nil || !info.Dir {
			t.Errorf("Stat answers %+v, %v", info, err)
		}
	})
	t.Run("a name taken by a link is taken", func(t *testing.T) {
		for _, link := range []string{"dirlink", "filelink", "dangling"} {
			dir := setup(t)
			_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/"+link, options)
			wantClass(t, err, fs.Exists)
			wantClass(t, f.Publish(t.Context(), fs.Info{Path: dir + "/real/a"}, dir+"/"+link, publishing), fs.Exists)
			wantContent(t, dir+"/real/a", "content")
			wantMissing(t, dir+"/nowhere")
			if _, err := f.Stat(t.Context(), dir+"/"+link); err != nil {
				t.Errorf("Stat doesn't see %s: %v", link, err)
			}
		}
	})
	t.Run("a link in the way of a parent that leads nowhere", func(t *testing.T) {
		dir := setup(t)
		_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/dangling/a", options)
		wantClass(t, err, fs.Path)
		_, err = f.Upload(t.Context(), strings.NewReader("x"), dir+"/dangling/d/a", options)
		wantClass(t, err, fs.Path)
		wantClass(t, f.Publish(t.Context(), fs.Info{Path: dir + "/real/a"}, dir+"/dangling/d/a", publishing), fs.Path)
	})
	t.Run("removing a link leaves what it leads to", func(t *testing.T) {
		dir := setup(t)
		if err := f.Discard(t.Context(), dir+"/filelink"); err != nil {
			t.Error(err)
		}
		if err := f.Discard(t.Context(), dir+"/dirlink"); err != nil {
			t.Error(err)
		}
		wantContent(t, dir+"/real/a", "content")
	})
	t.Run("one entry on two ways is not two names of a file", func(t *testing.T) {
		dir := setup(t)
		if err := os.Link(dir+"/real/a", dir+"/real/third"); err != nil {
			t.Fatal(err)
		}
		wantClass(t, f.Publish(t.Context(), fs.Info{Path: dir + "/real/a"}, dir+"/dirlink/a", publishing), fs.Exists)
		wantContent(t, dir+"/real/a", "content")
	})
	t.Run("a loop", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink("loop", dir+"/loop"); err != nil {
			t.Fatal(err)
		}
		_, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/loop/a", options)
		wantClass(t, err, fs.Path)
	})
}

func TestOpenDoesNotWaitForAFIFO(t *testing.T) {
	p := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(p, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{}).Open(t.Context(), p)
	wantClass(t, err, fs.Path)
}

func TestReadsEndWithTheirContext(t *testing.T) {
	dir, f := t.TempDir(), New(Options{})
	upload(t, f, dir+"/a", "content")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := f.Open(ctx, dir+"/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("Read answers %v", err)
	}
}

// TestClassifiesAFullDisk writes to a device that is always full, the one target of which
// every Linux has one.
func TestClassifiesAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	err = memoryCopy(t.Context(), full, strings.NewReader("x"), 0, &pacer{kernel: &linux, dst: full})
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("error %v", err)
	}
	wantClass(t, uploadFailed(t.Context(), "/dev/full", err), fs.Target)
}

func TestMakesDirectoriesThatVanishAgain(t *testing.T) {
	dir, f := t.TempDir(), New(Options{})
	upload(t, f, dir+"/d/a", "x")
	if err := os.RemoveAll(dir + "/d"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(12 * time.Millisecond)
	upload(t, f, dir+"/d/a", "y")
	wantContent(t, dir+"/d/a", "y")
}

func TestClassify(t *testing.T) {
	for _, row := range []struct {
		err     error
		changed bool
		want    fs.Class
	}{
		{unix.ENOENT, true, fs.Missing},
		{unix.EEXIST, true, fs.Exists},
		{unix.EACCES, true, fs.Path},
		{unix.EPERM, true, fs.Path},
		{unix.EROFS, true, fs.Path},
		{unix.EDQUOT, true, fs.Path},
		{unix.ENAMETOOLONG, false, fs.Path},
		{unix.ENOTDIR, false, fs.Path},
		{unix.EISDIR, false, fs.Path},
		{unix.ELOOP, false, fs.Path},
		{unix.ENOSPC, true, fs.Target},
		{unix.EMFILE, true, fs.Target},
		{unix.EXDEV, true, fs.Unsupported},
		{unix.EIO, false, fs.Unclear},
		{unix.EIO, true, fs.Unclear},
		{unix.ESTALE, false, fs.Target},
		{unix.ESTALE, true, fs.Unclear},
		{unix.ETIMEDOUT, false, fs.Target},
		{unix.ETIMEDOUT, true, fs.Unclear},
		{unix.EHOSTDOWN, true, fs.Unclear},
		{errors.New("not from the kernel"), false, fs.Unclear},
	} {
		wrapped := &os.PathError{Op: "op", Path: "/p", Err: row.err}
		err := failed("op", "/p", wrapped, row.changed)
		wantClass(t, err, row.want)
		if !errors.Is(err, row.err) {
			t.Errorf("%v doesn't wrap %v", err, row.err)
		}
	}
}
