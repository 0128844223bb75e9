package fstest_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// broken is a file system with one promise that it doesn't keep.
type broken struct {
	fs.FileSystem
	s *memfs.Store

	put    func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error)
	rename func(ctx context.Context, b broken, from, to string, o fs.PutOptions) error
	stat   func(i fs.Info) fs.Info
	settle func(ctx context.Context, b broken, dir string, view func(context.Context, fs.Viewer) error) error
	remove func(ctx context.Context, b broken, path string) error
	mkdir  func(ctx context.Context, b broken, path string) error
	list   func(infos []fs.Info) []fs.Info
	find   func(i fs.Info) (fs.Info, error)
	open   func(r io.Reader) io.Reader
	close  func() error
}

func (b broken) Put(ctx context.Context, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
	if b.put != nil {
		return b.put(ctx, b, src, temp, o)
	}
	return b.FileSystem.Put(ctx, src, temp, o)
}

func (b broken) Rename(ctx context.Context, from, to string, o fs.PutOptions) error {
	if b.rename != nil {
		return b.rename(ctx, b, from, to, o)
	}
	return b.FileSystem.Rename(ctx, from, to, o)
}

func (b broken) Stat(ctx context.Context, path string) (fs.Info, error) {
	i, err := b.FileSystem.Stat(ctx, path)
	if err == nil && b.stat != nil {
		i = b.stat(i)
	}
	return i, err
}

func (b broken) Settle(ctx context.Context, dir string, view func(context.Context, fs.Viewer) error) error {
	if b.settle != nil {
		return b.settle(ctx, b, dir, view)
	}
	return b.FileSystem.Settle(ctx, dir, view)
}

func (b broken) Remove(ctx context.Context, path string) error {
	if b.remove != nil {
		return b.remove(ctx, b, path)
	}
	return b.FileSystem.Remove(ctx, path)
}

func (b broken) MkdirAll(ctx context.Context, path string, mode uint32) error {
	if b.mkdir != nil {
		return b.mkdir(ctx, b, path)
	}
	return b.FileSystem.MkdirAll(ctx, path, mode)
}

func (b broken) List(ctx context.Context, path string) ([]fs.Info, error) {
	infos, err := b.FileSystem.List(ctx, path)
	if err == nil && b.list != nil {
		infos = b.list(infos)
	}
	return infos, err
}

func (b broken) Find(ctx context.Context, id fs.FileID) (fs.Info, error) {
	i, err := b.FileSystem.Find(ctx, id)
	if err == nil && b.find != nil {
		return b.find(i)
	}
	return i, err
}

func (b broken) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := b.FileSystem.Open(ctx, path)
	if err == nil && b.open != nil {
		return io.NopCloser(b.open(r)), nil
	}
	return r, err
}

func (b broken) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.FileSystem.Close()
}

// breaches are promises broken, and the sub-test that has to notice.
var breaches = []struct {
	name    string
	fs      broken
	notices string
}{
	{"Put replaces", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		_ = b.FileSystem.Remove(ctx, temp)
		return b.FileSystem.Put(ctx, src, temp, o)
	}}, "Put/leaves_a_file_that_exists_as_it_was"},
	{"Put looks before it writes", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		if _, err := b.FileSystem.Stat(ctx, temp); err == nil {
			return fs.Info{}, &fs.Error{Op: "put", Path: temp, Class: fs.Exists, Err: os.ErrExist}
		}
		content, err := io.ReadAll(io.NewSectionReader(src, 0, src.Size()))
		if err != nil {
			return fs.Info{}, err
		}
		time.Sleep(time.Millisecond) // the gap
		if err := b.s.Write(temp, content); err != nil {
			return fs.Info{}, err
		}
		return b.FileSystem.Stat(ctx, temp)
	}}, "Put/is_exclusive_between_clients"},
	{"Put loses the last byte of a megabyte", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		i, err := b.FileSystem.Put(ctx, io.NewSectionReader(src, 0, min(src.Size(), 1<<20)), temp, o)
		i.Length = src.Size()
		return i, err
	}}, "Put/writes_what_it_was_given,_of_any_size"},
	{"Put hides its source's error", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		i, err := b.FileSystem.Put(ctx, src, temp, o)
		if err != nil && fs.ClassOf(err) == fs.Unclear {
			return b.FileSystem.Stat(ctx, temp)
		}
		return i, err
	}}, "Put/reports_a_source_that_fails,_and_is_not_finished"},
	{"Put doesn't look at ctx", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		return b.FileSystem.Put(context.WithoutCancel(ctx), src, temp, o)
	}}, "Put/gives_up_when_ctx_ends_midway"},
	{"Put ignores the modes", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		return b.FileSystem.Put(ctx, src, temp, fs.PutOptions{})
	}}, "Put/gives_files_and_new_directories_their_modes"},
	{"Rename replaces", broken{rename: func(ctx context.Context, b broken, from, to string, _ fs.PutOptions) error {
		return b.s.Move(from, to)
	}}, "Rename/never_replaces_a_file"},
	{"Rename looks before it moves", broken{rename: func(ctx context.Context, b broken, from, to string, o fs.PutOptions) error {
		if _, err := b.FileSystem.Stat(ctx, to); err == nil || from == to {
			return &fs.Error{Op: "rename", Path: to, Class: fs.Exists, Err: os.ErrExist}
		}
		time.Sleep(time.Millisecond) // the gap
		if err := b.s.Move(from, to); err != nil {
			return &fs.Error{Op: "rename", Path: to, Class: fs.Missing, Err: os.ErrNotExist}
		}
		return nil
	}}, "Rename/of_two_files_to_one_name:_one_wins"},
	{"Rename copies", broken{rename: func(ctx context.Context, b broken, from, to string, o fs.PutOptions) error {
		content, err := b.s.Read(from)
		if err != nil {
			return &fs.Error{Op: "rename", Path: from, Class: fs.Missing, Err: os.ErrNotExist}
		}
		if _, err := b.FileSystem.Put(ctx, strings.NewReader(string(content)), to, o); err != nil {
			return err
		}
		return b.s.Delete(from)
	}}, "Rename/moves_the_file"},
	{"Rename moves into a directory", broken{rename: func(ctx context.Context, b broken, from, to string, o fs.PutOptions) error {
		if i, err := b.FileSystem.Stat(ctx, to); err == nil && i.Dir {
			to = path.Join(to, path.Base(from))
		}
		return b.FileSystem.Rename(ctx, from, to, o)
	}}, "Rename/neither_replaces_a_directory_nor_moves_into_it"},
	{"identity is the path", broken{stat: func(i fs.Info) fs.Info { i.ID = fs.FileID(i.Path); return i }},
		"Identity/an_identity_is_not_empty_and_lasts_over_renames"},
	{"length is not seen", broken{stat: func(i fs.Info) fs.Info { i.Length, i.ModTime = 7, time.Unix(1, 0); return i },
		put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
			i, err := b.FileSystem.Put(ctx, src, temp, o)
			i.Length, i.ModTime = 7, time.Unix(1, 0)
			return i, err
		}},
		"Identity/a_file_that_was_appended_to_is_not_the_same"},
	{"time is not seen", broken{stat: func(i fs.Info) fs.Info { i.ModTime = time.Unix(1, 0); return i },
		put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
			i, err := b.FileSystem.Put(ctx, src, temp, o)
			i.ModTime = time.Unix(1, 0)
			return i, err
		}}, "Identity/a_file_that_was_rewritten_is_not_the_same"},
	{"Find answers for another file", broken{find: func(i fs.Info) (fs.Info, error) { i.ID += "0"; return i, nil }},
		"Identity/Find_of_a_file_where_it_was_made"},
	{"Settle leaves its marker", broken{settle: func(ctx context.Context, b broken, dir string, view func(context.Context, fs.Viewer) error) error {
		if err := b.s.Write(dir+"/.marker", nil); err != nil {
			return err
		}
		return b.FileSystem.Settle(ctx, dir, view)
	}}, "Settle/leaves_no_marker,_even_when_view_fails"},
	{"Settle hides view's error", broken{settle: func(ctx context.Context, b broken, dir string, view func(context.Context, fs.Viewer) error) error {
		return b.FileSystem.Settle(ctx, dir, func(ctx context.Context, v fs.Viewer) error { _ = view(ctx, v); return nil })
	}}, "Settle/leaves_no_marker,_even_when_view_fails"},
	{"Remove deletes directories", broken{remove: func(ctx context.Context, b broken, p string) error {
		if i, err := b.FileSystem.Stat(ctx, p); err == nil && i.Dir {
			return b.s.Delete(p)
		}
		return b.FileSystem.Remove(ctx, p)
	}}, "Remove/never_of_a_directory,_empty_or_not"},
	{"Remove of nothing is success", broken{remove: func(ctx context.Context, b broken, p string) error {
		_ = b.FileSystem.Remove(ctx, p)
		return nil
	}}, "Remove/of_nothing"},
	{"MkdirAll ignores the mode", broken{mkdir: func(ctx context.Context, b broken, p string) error {
		return b.FileSystem.MkdirAll(ctx, p, 0o777)
	}}, "Directories/MkdirAll_gives_new_directories_their_mode,_and_no_old_one"},
	{"List hides dot files", broken{list: func(infos []fs.Info) []fs.Info {
		return slices.DeleteFunc(infos, func(i fs.Info) bool { return strings.HasPrefix(path.Base(i.Path), ".") })
	}}, "Directories/List_is_in_name_order_and_hides_nothing"},
	{"List has no order", broken{list: func(infos []fs.Info) []fs.Info { slices.Reverse(infos); return infos }},
		"Directories/List_is_in_name_order_and_hides_nothing"},
	{"reads stop early", broken{open: func(r io.Reader) io.Reader { return io.LimitReader(r, 1<<20) }},
		"Open/reads_in_any_pieces"},
	{"names are decoded", broken{put: func(ctx context.Context, b broken, src fs.Source, temp string, o fs.PutOptions) (fs.Info, error) {
		return b.FileSystem.Put(ctx, src, strings.ReplaceAll(temp, "%20", " "), o)
	}}, "Names/odd_ones_are_kept_byte_by_byte"},
	{"Close does nothing", broken{close: func() error { return nil }}, "Life/a_client_that_was_closed_answers_nothing"},
}

// harness runs the suite on clients that break a promise.
func harness(breach broken) fstest.Harness {
	store := memfs.New(memfs.Options{})
	return fstest.Harness{
		Open: func(testing.TB) fs.FileSystem {
			b := breach
			b.FileSystem, b.s = store.Client(), store
			return b
		},
		Dir: func(t testing.TB) string {
			dir := "/" + t.Name()
			if err := store.Client().MkdirAll(context.Background(), dir, 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		Find: true,
		Tick: 2 * time.Millisecond,
		Rewrite: func(t testing.TB, p string, content []byte) {
			if err := store.Write(p, content); err != nil {
				t.Fatal(err)
			}
		},
		Mode: func(t testing.TB, p string) uint32 {
			mode, err := store.Mode(p)
			if err != nil {
				t.Fatal(err)
			}
			return mode
		},
		Refused: func(t testing.TB, dir string, f func(fs.FileSystem)) {
			store.Refuse(dir, nil)
			defer store.Allow(dir)
			b := breach
			b.FileSystem, b.s = store.Client(), store
			f(b)
		},
	}
}

// breachEnv names the breach that the suite is to run on in a child process.
const breachEnv = "FSTEST_BREACH"

func TestSuite(t *testing.T) {
	name := os.Getenv(breachEnv)
	for _, row := range breaches {
		if row.name == name {
			fstest.Run(t, harness(row.fs))
			return
		}
	}
	fstest.Run(t, harness(broken{})) // one that keeps them all
}

// TestTheSuiteNotices runs the suite on each breach, in a process of its own
// since it has to fail.
func TestTheSuiteNotices(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range breaches {
		t.Run(row.name, func(t *testing.T) {
			group, _, _ := strings.Cut(row.notices, "/")
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSuite$/^"+group+"$")
			cmd.Env = append(os.Environ(), breachEnv+"="+row.name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatal("the suite passes")
			}
			if want := "--- FAIL: TestSuite/" + row.notices + " "; !strings.Contains(string(out), want) {
				t.Errorf("%s didn't fail:\n%s", row.notices, out)
			}
		})
	}
}
