package localfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
)

var publishing = fs.PublishOptions{DirMode: 0o755}

var options = fs.UploadOptions{FileMode: 0o644, DirMode: 0o755}

// harness is for drivers that open makes.
func harness(open func() *Driver) fstest.Harness {
	return fstest.Harness{
		Open:   func(testing.TB) fs.Driver { return open() },
		Reader: func(testing.TB) fs.Reader { return New(Options{}) },
		Dir: func(t testing.TB) string {
			dir := t.TempDir()
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // for refused's nobody
				t.Fatal(err)
			}
			return dir
		},
		Tick: 12 * time.Millisecond, // the coarsest tick of a kernel is 10 ms
		Rewrite: func(t testing.TB, p string, content []byte) {
			if err := os.WriteFile(p, content, 0); err != nil {
				t.Fatal(err)
			}
		},
		Mode: func(t testing.TB, p string) uint32 {
			st, err := os.Stat(p)
			if err != nil {
				t.Fatal(err)
			}
			return uint32(st.Mode().Perm())
		},
		Refused: func(t testing.TB, dir string, f func(fs.Driver)) { refused(t, dir, func() { f(open()) }) },
	}
}

// refused runs f, which has no right to change dir. The superuser has every
// right, so he becomes somebody else, on this thread.
func refused(t testing.TB, dir string, f func()) {
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o755)
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	f()
}

// cannot is an operating system function that a file system doesn't have.
func cannot(string, string) error { return unix.EINVAL }

// withKernel is a Driver whose kernel is changed.
func withKernel(change func(k *kernel)) *Driver {
	f := New(Options{})
	change(&f.kernel)
	return f
}

func TestConformance(t *testing.T) {
	for _, row := range []struct {
		name string
		open func() *Driver
	}{
		{"as it comes", func() *Driver { return New(Options{}) }},
		{"copying through memory", func() *Driver { return New(Options{NoKernelCopy: true}) }},
		{"without renameat2, as on NFS", func() *Driver {
			return withKernel(func(k *kernel) { k.renameNoReplace = cannot })
		}},
	} {
		t.Run(row.name, func(t *testing.T) { fstest.Run(t, harness(row.open)) })
	}
}

// TestConformanceOnTmpfs runs where a memory file system is mounted, which is
// another file system than the staged files'.
func TestConformanceOnTmpfs(t *testing.T) {
	const shm = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(shm, &st); err != nil || st.Type != unix.TMPFS_MAGIC || unix.Access(shm, unix.W_OK) != nil {
		t.Skip("no tmpfs to write to")
	}
	h := harness(func() *Driver { return New(Options{}) })
	h.Dir = func(t testing.TB) string {
		dir, err := os.MkdirTemp(shm, "out_hdfs-test-")
		if err == nil {
			err = os.Chmod(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	fstest.Run(t, h)
}

func BenchmarkConformance(b *testing.B) {
	fstest.Bench(b, harness(func() *Driver { return New(Options{}) }))
}

func upload(t *testing.T, f *Driver, p, content string) fs.Info {
	t.Helper()
	info, err := f.Upload(t.Context(), strings.NewReader(content), p, options)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func wantClass(t *testing.T, err error, want fs.Class) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want class %v", want)
	} else if got := fs.ClassOf(err); got != want {
		t.Errorf("class %v, want %v: %v", got, want, err)
	}
}

func wantContent(t *testing.T, p, want string) {
	t.Helper()
	if got, err := os.ReadFile(p); err != nil || string(got) != want {
		t.Errorf("%s holds %.40q, %v, want %.40q", filepath.Base(p), got, err, want)
	}
}

func wantMissing(t *testing.T, p string) {
	t.Helper()
	if _, err := os.Lstat(p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is something at %s, %v", filepath.Base(p), err)
	}
}

func TestModesHoldWhateverTheUmask(t *testing.T) {
	dir := t.TempDir()
	defer unix.Umask(unix.Umask(0o077))
	f := New(Options{})
	if _, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/d/e/a", fs.UploadOptions{FileMode: 0o664, DirMode: 0o775}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Upload(t.Context(), strings.NewReader("x"), dir+"/default/a", fs.UploadOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"d": 0o775, "d/e": 0o775, "d/e/a": 0o664, "default": 0o700, "default/a": 0o600} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.Mode().Perm() != want {
			t.Errorf("mode of %s is %v, %v, want %v", name, st.Mode(), err, want)
		}
	}
}

func TestNewDirectoriesInheritTheSetgidBit(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o775|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{}).Upload(t.Context(), strings.NewReader("x"), dir+"/a/b/c", fs.UploadOptions{DirMode: 0o750}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir + "/a/b")
	if err != nil || st.Mode() != os.ModeDir|os.ModeSetgid|0o750 {
		t.Errorf("mode is %v, %v", st.Mode(), err)
	}
}

func TestOpener(t *testing.T) {
	for _, row := range []struct {
		authority string
		opens     bool
	}{{"", true}, {"localhost", true}, {"var", false}, {"nn:8020", false}} {
		f, err := Opener{}.Open(context.Background(), row.authority, fs.Options{})
		if (err == nil) != row.opens || (f != nil) != row.opens {
			t.Errorf("authority %q opens %v, %v", row.authority, f, err)
		}
	}
}

func TestAnInodeThatIsUsedAgainIsAnotherFile(t *testing.T) {
	dir, f := t.TempDir(), New(Options{})
	old := upload(t, f, dir+"/a", "x")
	inode := func(id fs.FileID) string { return strings.SplitN(string(id), ".", 2)[0] }
	if err := f.Discard(t.Context(), dir+"/a"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(12 * time.Millisecond) // a tick of the kernel's clock
	again := upload(t, f, dir+"/b", "x")
	if again.ID == old.ID {
		t.Errorf("both are %s", old.ID)
	}
	t.Logf("inode %s, then %s", inode(old.ID), inode(again.ID))
}
