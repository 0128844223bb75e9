package fstest_test

import (
	"bytes"
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

// broken is a driver with one promise that it doesn't keep.
type broken struct {
	fs.Driver
	s *memfs.Store

	upload  func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error)
	publish func(ctx context.Context, b broken, from fs.Info, final string, o fs.PublishOptions) error
	stat    func(i fs.Info) fs.Info
	locate  func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error)
	discard func(ctx context.Context, b broken, path string) error
	list    func(infos []fs.Info) []fs.Info
	open    func(r io.Reader) io.Reader
	close   func() error
}

func (b broken) Upload(ctx context.Context, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
	if b.upload != nil {
		return b.upload(ctx, b, src, hidden, o)
	}
	return b.Driver.Upload(ctx, src, hidden, o)
}

func (b broken) Publish(ctx context.Context, from fs.Info, final string, o fs.PublishOptions) error {
	if b.publish != nil {
		return b.publish(ctx, b, from, final, o)
	}
	return b.Driver.Publish(ctx, from, final, o)
}

func (b broken) Stat(ctx context.Context, path string) (fs.Info, error) {
	i, err := b.Driver.Stat(ctx, path)
	if err == nil && b.stat != nil {
		i = b.stat(i)
	}
	return i, err
}

func (b broken) Locate(ctx context.Context, id fs.FileID, names ...string) (fs.Place, error) {
	if b.locate != nil {
		return b.locate(ctx, b, id, names)
	}
	return b.Driver.Locate(ctx, id, names...)
}

func (b broken) Discard(ctx context.Context, path string) error {
	if b.discard != nil {
		return b.discard(ctx, b, path)
	}
	return b.Driver.Discard(ctx, path)
}

func (b broken) List(ctx context.Context, path string) ([]fs.Info, error) {
	infos, err := b.Driver.(fs.Reader).List(ctx, path)
	if err == nil && b.list != nil {
		infos = b.list(infos)
	}
	return infos, err
}

func (b broken) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := b.Driver.Open(ctx, path)
	if err == nil && b.open != nil {
		return io.NopCloser(b.open(r)), nil
	}
	return r, err
}

func (b broken) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.Driver.Close()
}

// breaches are promises broken, and the sub-test that has to notice.
var breaches = []struct {
	name    string
	fs      broken
	notices string
}{
	{"Upload replaces", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		_ = b.Driver.Discard(ctx, hidden)
		return b.Driver.Upload(ctx, src, hidden, o)
	}}, "Upload/leaves_a_file_that_exists_as_it_was"},
	{"Upload looks before it writes", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		if _, err := b.Driver.Stat(ctx, hidden); err == nil {
			return fs.Info{}, &fs.Error{Op: "upload", Path: hidden, Class: fs.Exists, Err: os.ErrExist}
		}
		content, err := io.ReadAll(io.NewSectionReader(src, 0, src.Size()))
		if err != nil {
			return fs.Info{}, err
		}
		time.Sleep(time.Millisecond) // the gap
		if err := b.s.Write(hidden, content); err != nil {
			return fs.Info{}, err
		}
		return b.Driver.Stat(ctx, hidden)
	}}, "Upload/is_exclusive_between_clients"},
	{"Upload loses the last byte of a megabyte", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		i, err := b.Driver.Upload(ctx, io.NewSectionReader(src, 0, min(src.Size(), 1<<20)), hidden, o)
		i.Length = src.Size()
		return i, err
	}}, "Upload/writes_what_it_was_given,_of_any_size"},
	{"Upload hides its source's error", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		i, err := b.Driver.Upload(ctx, src, hidden, o)
		if err != nil && fs.ClassOf(err) == fs.Unclear {
			return b.Driver.Stat(ctx, hidden)
		}
		return i, err
	}}, "Upload/reports_a_source_that_fails,_and_is_not_finished"},
	{"Upload doesn't look at ctx", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		return b.Driver.Upload(context.WithoutCancel(ctx), src, hidden, o)
	}}, "Upload/gives_up_when_ctx_ends_midway"},
	{"Upload ignores the modes", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		return b.Driver.Upload(ctx, src, hidden, fs.UploadOptions{})
	}}, "Upload/gives_files_and_new_directories_their_modes"},
	{"Publish replaces", broken{publish: func(ctx context.Context, b broken, from fs.Info, to string, _ fs.PublishOptions) error {
		return b.s.Move(from.Path, to)
	}}, "Publish/never_replaces_a_file"},
	{"Publish looks before it moves", broken{publish: func(ctx context.Context, b broken, from fs.Info, to string, o fs.PublishOptions) error {
		if _, err := b.Driver.Stat(ctx, to); err == nil || from.Path == to {
			return &fs.Error{Op: "publish", Path: to, Class: fs.Exists, Err: os.ErrExist}
		}
		time.Sleep(time.Millisecond) // the gap
		if err := b.s.Move(from.Path, to); err != nil {
			return &fs.Error{Op: "publish", Path: to, Class: fs.Missing, Err: os.ErrNotExist}
		}
		return nil
	}}, "Publish/of_two_files_to_one_name:_one_wins"},
	{"Publish copies", broken{publish: func(ctx context.Context, b broken, from fs.Info, to string, o fs.PublishOptions) error {
		content, err := b.s.Read(from.Path)
		if err != nil {
			return &fs.Error{Op: "publish", Path: from.Path, Class: fs.Missing, Err: os.ErrNotExist}
		}
		if _, err := b.Driver.Upload(ctx, strings.NewReader(string(content)), to, fs.UploadOptions{DirMode: o.DirMode}); err != nil {
			return err
		}
		return b.s.Delete(from.Path)
	}}, "Publish/moves_the_file"},
	{"Publish moves into a directory", broken{publish: func(ctx context.Context, b broken, from fs.Info, to string, o fs.PublishOptions) error {
		if i, err := b.Driver.Stat(ctx, to); err == nil && i.Dir {
			to = path.Join(to, path.Base(from.Path))
		}
		return b.Driver.Publish(ctx, from, to, o)
	}}, "Publish/neither_replaces_a_directory_nor_moves_into_it"},
	{"identity is the path", broken{stat: func(i fs.Info) fs.Info { i.ID = fs.FileID(i.Path); return i }},
		"Identity/an_identity_is_not_empty_and_lasts_over_renames"},
	{"length is not seen", broken{stat: func(i fs.Info) fs.Info { i.Length, i.ModTime = 7, time.Unix(1, 0); return i },
		upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
			i, err := b.Driver.Upload(ctx, src, hidden, o)
			i.Length, i.ModTime = 7, time.Unix(1, 0)
			return i, err
		}},
		"Identity/a_file_that_was_appended_to_is_not_the_same"},
	{"time is not seen", broken{stat: func(i fs.Info) fs.Info { i.ModTime = time.Unix(1, 0); return i },
		upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
			i, err := b.Driver.Upload(ctx, src, hidden, o)
			i.ModTime = time.Unix(1, 0)
			return i, err
		}}, "Identity/a_file_that_was_rewritten_is_not_the_same"},
	{"Publish moves whatever is there", broken{publish: func(ctx context.Context, b broken, from fs.Info, to string, o fs.PublishOptions) error {
		from.ID = ""
		return b.Driver.Publish(ctx, from, to, o)
	}}, "Publish/of_another_file_at_its_path_moves_nothing"},
	{"Locate finds another file", broken{locate: func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error) {
		p, err := b.Driver.Locate(ctx, id, names...)
		p.Elsewhere.Info.ID += "0"
		return p, err
	}}, "Locate/of_a_file_where_it_was_made"},
	{"Locate doesn't search", broken{locate: func(ctx context.Context, b broken, _ fs.FileID, names []string) (fs.Place, error) {
		return b.Driver.Locate(ctx, "", names...)
	}}, "Locate/of_a_file_that_somebody_moved"},
	{"Locate searches for what it has found", broken{locate: func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error) {
		p, err := b.Driver.Locate(ctx, id, names...)
		p.Searched = p.Searched || id != ""
		return p, err
	}}, "Locate/of_a_file_under_one_of_the_names"},
	{"Locate mixes the names up", broken{locate: func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error) {
		p, err := b.Driver.Locate(ctx, id, names...)
		slices.Reverse(p.Names)
		return p, err
	}}, "Locate/of_a_file_under_one_of_the_names"},
	{"Locate leaves its marker", broken{locate: func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error) {
		if len(names) > 0 {
			if err := b.s.Write(path.Dir(names[0])+"/.marker", nil); err != nil {
				return fs.Place{}, err
			}
		}
		return b.Driver.Locate(ctx, id, names...)
	}}, "Locate/leaves_no_marker,_even_when_it_fails"},
	{"Locate answers beside an error", broken{locate: func(ctx context.Context, b broken, id fs.FileID, names []string) (fs.Place, error) {
		p, err := b.Driver.Locate(ctx, id, names...)
		if err != nil {
			p.Names = make([]fs.Entry, len(names))
		}
		return p, err
	}}, "Locate/gives_no_answer_under_a_ctx_that_has_ended"},
	{"Discard deletes directories", broken{discard: func(ctx context.Context, b broken, p string) error {
		if i, err := b.Driver.Stat(ctx, p); err == nil && i.Dir {
			return b.s.Delete(p)
		}
		return b.Driver.Discard(ctx, p)
	}}, "Discard/never_of_a_directory,_empty_or_not"},
	{"Discard of nothing is success", broken{discard: func(ctx context.Context, b broken, p string) error {
		_ = b.Driver.Discard(ctx, p)
		return nil
	}}, "Discard/of_nothing"},
	{"Upload ignores the mode of directories", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		o.DirMode = 0o777
		return b.Driver.Upload(ctx, src, hidden, o)
	}}, "Upload/gives_new_directories_their_mode,_and_no_old_one"},
	{"List hides dot files", broken{list: func(infos []fs.Info) []fs.Info {
		return slices.DeleteFunc(infos, func(i fs.Info) bool { return strings.HasPrefix(path.Base(i.Path), ".") })
	}}, "Reader/List_is_in_name_order_and_hides_nothing"},
	{"List has no order", broken{list: func(infos []fs.Info) []fs.Info { slices.Reverse(infos); return infos }},
		"Reader/List_is_in_name_order_and_hides_nothing"},
	{"reads stop early", broken{open: func(r io.Reader) io.Reader { return io.LimitReader(r, 1<<20) }},
		"Open/reads_in_any_pieces"},
	{"reads don't end with ctx", broken{open: func(r io.Reader) io.Reader { b, _ := io.ReadAll(r); return bytes.NewReader(b) }},
		"Open/reads_end_with_ctx"},
	{"names are decoded", broken{upload: func(ctx context.Context, b broken, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
		return b.Driver.Upload(ctx, src, strings.ReplaceAll(hidden, "%20", " "), o)
	}}, "Names/odd_ones_are_kept_byte_by_byte"},
	{"Close does nothing", broken{close: func() error { return nil }}, "Life/a_client_that_was_closed_answers_nothing"},
}

// harness runs the suite on clients that break a promise.
func harness(breach broken) fstest.Harness {
	store := memfs.New(memfs.Options{})
	return fstest.Harness{
		Open: func(testing.TB) fs.Driver {
			b := breach
			b.Driver, b.s = store.Driver(), store
			return b
		},
		Reader: func(testing.TB) fs.Reader {
			b := breach
			b.Driver = store.Driver()
			return b
		},
		Dir: func(t testing.TB) string {
			dir := "/" + t.Name()
			if err := store.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		Search: true,
		Tick:   2 * time.Millisecond,
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
		Refused: func(t testing.TB, dir string, f func(fs.Driver)) {
			store.Refuse(dir, nil)
			defer store.Allow(dir)
			b := breach
			b.Driver, b.s = store.Driver(), store
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
