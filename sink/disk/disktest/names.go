package disktest

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// names are the promises about directory entries.
func names(t *testing.T, h Harness) {
	rows := map[string]func(t *testing.T, d disk.Disk){
		"Create makes an empty file": func(t *testing.T, d disk.Disk) {
			f, err := d.Create("a")
			must(t, err)
			must(t, f.Close())
			if got := read(t, d, "a"); got != "" {
				t.Errorf("content %q", got)
			}
		},
		"Create is exclusive": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "old")
			wantErr(t, open1(d.Create("a")), fs.ErrExist)
			if got := read(t, d, "a"); got != "old" {
				t.Errorf("content %q", got)
			}
		},
		"Create doesn't take a directory's name": func(t *testing.T, d disk.Disk) {
			must(t, d.Mkdir("dir"))
			wantErr(t, open1(d.Create("dir")), fs.ErrExist)
		},
		"Create needs the directory": func(t *testing.T, d disk.Disk) {
			wantErr(t, open1(d.Create("dir/a")), fs.ErrNotExist)
		},
		"Open needs the file": func(t *testing.T, d disk.Disk) {
			wantErr(t, open1(d.Open("a")), fs.ErrNotExist)
		},
		"Open reads and writes what is there": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "hello")
			f, err := d.Open("a")
			must(t, err)
			_, err = f.WriteAt([]byte("J"), 0)
			must(t, err)
			must(t, f.Close())
			if got := read(t, d, "a"); got != "Jello" {
				t.Errorf("content %q", got)
			}
		},
		"Remove removes": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "x")
			must(t, d.Remove("a"))
			wantErr(t, open1(d.Open("a")), fs.ErrNotExist)
			wantErr(t, d.Remove("a"), fs.ErrNotExist)
			create(t, d, "a", "again")
		},
		"an open file outlives its name": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "x")
			f, err := d.Open("a")
			must(t, err)
			defer f.Close()
			must(t, d.Remove("a"))
			if got := readFile(t, f); got != "x" {
				t.Errorf("content %q", got)
			}
		},
		"Rename moves": func(t *testing.T, d disk.Disk) {
			must(t, d.Mkdir("dir"))
			create(t, d, "a", "x")
			must(t, d.Rename("a", "dir/b"))
			wantErr(t, open1(d.Open("a")), fs.ErrNotExist)
			if got := read(t, d, "dir/b"); got != "x" {
				t.Errorf("content %q", got)
			}
		},
		"Rename replaces": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "new")
			create(t, d, "b", "old")
			must(t, d.Rename("a", "b"))
			wantNames(t, d, ".", "b")
			if got := read(t, d, "b"); got != "new" {
				t.Errorf("content %q", got)
			}
		},
		"Rename to itself changes nothing": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "x")
			must(t, d.Rename("a", "a"))
			if got := read(t, d, "a"); got != "x" {
				t.Errorf("content %q", got)
			}
		},
		"Rename needs both ends": func(t *testing.T, d disk.Disk) {
			wantErr(t, d.Rename("a", "b"), fs.ErrNotExist)
			create(t, d, "a", "x")
			wantErr(t, d.Rename("a", "dir/b"), fs.ErrNotExist)
			if got := read(t, d, "a"); got != "x" {
				t.Errorf("content %q", got)
			}
		},
		"an open file follows its rename": func(t *testing.T, d disk.Disk) {
			f, err := d.Create("a")
			must(t, err)
			defer f.Close()
			must(t, d.Rename("a", "b"))
			_, err = f.WriteAt([]byte("x"), 0)
			must(t, err)
			if got := read(t, d, "b"); got != "x" {
				t.Errorf("content %q", got)
			}
		},
		"Mkdir of what exists is no error": func(t *testing.T, d disk.Disk) {
			must(t, d.Mkdir("dir"))
			create(t, d, "dir/a", "x")
			must(t, d.Mkdir("dir"))
			wantNames(t, d, "dir", "a")
		},
		"Mkdir doesn't take a file for a directory": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "x")
			if err := d.Mkdir("a"); err == nil {
				t.Error("no error")
			}
		},
		"Mkdir makes one directory": func(t *testing.T, d disk.Disk) {
			wantErr(t, d.Mkdir("a/b"), fs.ErrNotExist)
		},
		"List is sorted and of one directory": func(t *testing.T, d disk.Disk) {
			must(t, d.Mkdir("dir"))
			must(t, d.Mkdir("dir/sub"))
			for _, name := range []string{"dir/c", "dir/a", "dir/b", "dir/sub/x", "z"} {
				create(t, d, name, "")
			}
			wantNames(t, d, "dir", "a", "b", "c", "sub")
			wantNames(t, d, "dir/sub", "x")
		},
		"List needs the directory": func(t *testing.T, d disk.Disk) {
			_, err := d.List("dir")
			wantErr(t, err, fs.ErrNotExist)
		},
		"SyncDir": func(t *testing.T, d disk.Disk) {
			must(t, d.SyncDir("."))
			must(t, d.Mkdir("dir"))
			must(t, d.SyncDir("dir"))
			wantErr(t, d.SyncDir("none"), fs.ErrNotExist)
		},
		"a second process sees the names": func(t *testing.T, d disk.Disk) {
			create(t, d, "a", "x")
			if got := read(t, h.Reopen(t, d), "a"); got != "x" {
				t.Errorf("content %q", got)
			}
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { row(t, h.New(t)) })
	}
}

// open1 is the error of opening a file, which is closed if there is none.
func open1(f disk.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, not %v", err, want)
	}
}

// wantNames compares a listing, without the lock that a disk may keep in its
// root.
func wantNames(t *testing.T, d disk.Disk, dir string, want ...string) {
	t.Helper()
	got, err := d.List(dir)
	must(t, err)
	if !slices.IsSorted(got) {
		t.Errorf("%v isn't sorted", got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, not %v", dir, got, want)
	}
}
