package disk_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/disktest"
)

func newOS(t *testing.T, dir string) *disk.OS {
	t.Helper()
	d, err := disk.NewOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOS(t *testing.T) {
	dirs := map[disk.Disk]string{}
	disktest.Run(t, disktest.Harness{
		New: func(t *testing.T) disk.Disk {
			dir := t.TempDir()
			d := newOS(t, dir)
			dirs[d] = dir
			return d
		},
		Reopen: func(t *testing.T, d disk.Disk) disk.Disk { return newOS(t, dirs[d]) },
	})
}

func TestNewOSNeedsADirectory(t *testing.T) {
	dir := t.TempDir()
	if _, err := disk.NewOS(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.NewOS(file); err == nil {
		t.Error("a file was taken for a directory")
	}
}

// TestACopyIsAnotherDirectory is what the check for a moved state rests on.
func TestACopyIsAnotherDirectory(t *testing.T) {
	parent := t.TempDir()
	dir, copied, moved := filepath.Join(parent, "a"), filepath.Join(parent, "b"), filepath.Join(parent, "c")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	original, err := newOS(t, dir).Identity()
	if err != nil {
		t.Fatal(err)
	}
	if is, err := newOS(t, copied).Identity(); err != nil || is.Inode == original.Inode {
		t.Errorf("the copy is %v, the original %v: %v", is, original, err)
	}
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if is, err := newOS(t, moved).Identity(); err != nil || is != original {
		t.Errorf("renamed on its file system it is %v, before %v: %v", is, original, err)
	}
}

// TestFilesArePrivate: log records may hold secrets.
func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	d := newOS(t, dir)
	f, err := d.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lock, err := d.Lock("me")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := d.Mkdir("dir"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "dir", "lock"} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v: %v", name, st.Mode(), err)
		}
	}
}

const lockDir = "OUT_HDFS_TEST_LOCK_DIR"

// TestMain takes the lock and waits, if it is the child of
// TestTheLockEndsWithTheProcess.
func TestMain(m *testing.M) {
	dir := os.Getenv(lockDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	d, err := disk.NewOS(dir)
	if err == nil {
		_, err = d.Lock("the child")
	}
	if err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(1)
	}
	os.Stdout.WriteString("locked")
	for { // until it is killed; with select {} the runtime would end it for a deadlock
		time.Sleep(time.Hour)
	}
}

func TestTheLockEndsWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), lockDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("locked"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "locked" {
		t.Fatalf("the child says %q: %v", said, err)
	}
	d := newOS(t, dir)
	var locked *disk.LockedError
	if _, err := d.Lock("the parent"); !errors.As(err, &locked) || locked.Owner != "the child" {
		t.Errorf("error %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	lock, err := d.Lock("the parent")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestLockedErrorSaysWhatToDo(t *testing.T) {
	for name, e := range map[string]*disk.LockedError{
		"known owner":   {Dir: "/s", Owner: "hdfs.0", By: "hdfs.1"},
		"unknown owner": {Dir: "/s", By: "hdfs.1"},
	} {
		text := e.Error()
		for _, want := range []string{"/s", e.Owner, "hdfs.1", "state_dir"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q doesn't say %q", name, text, want)
			}
		}
	}
}
