package memfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

var publishing = target.PublishOptions{DirMode: 0o750}

var options = target.UploadOptions{FileMode: 0o640, DirMode: 0o750, Replication: 2, BlockSize: 1 << 20}

func upload(t *testing.T, c *memfs.Driver, p, content string) target.Info {
	t.Helper()
	info, err := c.Upload(t.Context(), strings.NewReader(content), p, options)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// find looks a file up by its identity alone, under a name that nobody has.
func find(ctx context.Context, t interface{ Fatal(...any) }, d *memfs.Driver, id target.FileID) (target.Info, bool) {
	place, err := d.Locate(ctx, id, "/nobody has this name")
	if err != nil || !place.Searched {
		t.Fatal(place, err)
	}
	return place.Elsewhere.Info, place.Elsewhere.Exists
}

func wantClass(t *testing.T, err error, want target.Class) {
	t.Helper()
	if err == nil || target.ClassOf(err) != want {
		t.Errorf("answer %v, want class %v", err, want)
	}
}

func TestFilesAndFinished(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	for _, p := range []string{"/b/part-0", "/a/part-1", "/a/.part-2.inprogress.x", "/_dead_letters/x", "/a/.hidden/part-3"} {
		upload(t, c, p, p)
	}
	if got := paths(s.Files()); got != "[/_dead_letters/x /a/.hidden/part-3 /a/.part-2.inprogress.x /a/part-1 /b/part-0]" {
		t.Errorf("files are %v", got)
	}
	if got := paths(s.Finished()); got != "[/a/part-1 /b/part-0]" {
		t.Errorf("finished are %v", got)
	}
	f := s.Finished()[0]
	if string(f.Content) != "/a/part-1" || f.Mode != 0o640 || f.Options != options || !f.Closed {
		t.Errorf("file is %+v", f)
	}
}

func paths(files []memfs.File) string {
	var p []string
	for _, f := range files {
		p = append(p, f.Path)
	}
	return fmt.Sprint(p)
}

func TestAQuotaLeavesWhatWasWritten(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	upload(t, c, "/q/old", strings.Repeat("x", 60))
	s.SetQuota("/q", 100)
	_, err := c.Upload(t.Context(), strings.NewReader(strings.Repeat("y", 50)), "/q/new", options)
	wantClass(t, err, target.Path)
	info, err := c.Stat(t.Context(), "/q/new")
	if err != nil || info.Length != 40 || info.Closed {
		t.Errorf("left is %+v, %v, want 40 bytes, not closed", info, err)
	}
	upload(t, c, "/elsewhere", strings.Repeat("z", 1000))
	s.Allow("/q")
	upload(t, c, "/q/newer", strings.Repeat("y", 50))
}

func TestRefuseIsForChangesBelow(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	upload(t, c, "/d/a", "x")
	upload(t, c, "/dd/a", "x")
	errMine := errors.New("mine")
	s.Refuse("/d", errMine)
	err := c.Discard(t.Context(), "/d/a")
	wantClass(t, err, target.Path)
	if !errors.Is(err, errMine) {
		t.Errorf("answer %v", err)
	}
	wantClass(t, c.Publish(t.Context(), target.Info{Path: "/dd/a"}, "/d/b", publishing), target.Path)
	_, err = c.Locate(t.Context(), "", "/d/a")
	wantClass(t, err, target.Path)
	if _, err := c.Stat(t.Context(), "/d/a"); err != nil {
		t.Error(err)
	}
	if err := c.Discard(t.Context(), "/dd/a"); err != nil {
		t.Error(err)
	}
	s.Allow("/d")
	if err := c.Discard(t.Context(), "/d/a"); err != nil {
		t.Error(err)
	}
	s.Refuse("/", nil)
	if _, err := c.Upload(t.Context(), strings.NewReader(""), "/x", options); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("answer %v", err)
	}
}

func TestOutageAndSafeMode(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	upload(t, c, "/a", "x")
	errMine := errors.New("mine")
	stat := func() error { _, err := c.Stat(t.Context(), "/a"); return err }
	remove := func() error { return c.Discard(t.Context(), "/a") }

	s.SetReadOnly(errMine)
	if err := stat(); err != nil {
		t.Error(err)
	}
	wantClass(t, remove(), target.Target)
	s.SetReadOnly(nil)
	s.SetDown(errMine)
	wantClass(t, stat(), target.Target)
	wantClass(t, remove(), target.Target)
	if got := s.Files(); len(got) != 1 {
		t.Errorf("a checker sees %v", got)
	}
	s.SetDown(nil)
	if err := errors.Join(stat(), remove()); err != nil {
		t.Error(err)
	}
}

// between is a source that does something before its second slice.
type between struct {
	*strings.Reader
	do func()
}

func (b between) ReadAt(p []byte, off int64) (int, error) {
	if off > 0 {
		b.do()
	}
	return b.Reader.ReadAt(p, off)
}

func long(do func()) between { return between{strings.NewReader(strings.Repeat("x", 3<<20)), do} }

func TestAnOutageMeetsAnUploadMidway(t *testing.T) {
	s := memfs.New(memfs.Options{})
	_, err := s.Driver().Upload(t.Context(), long(func() { s.SetDown(errors.New("gone")) }), "/a", options)
	wantClass(t, err, target.Target)
	if f := s.Files(); len(f) != 1 || f[0].Length != 1<<20 || f[0].Closed {
		t.Errorf("left is %+v", f)
	}
}

func TestDiscardStopsAWriter(t *testing.T) {
	s := memfs.New(memfs.Options{})
	once := false
	_, err := s.Driver().Upload(t.Context(), long(func() {
		if !once {
			once = true
			if err := s.Driver().Discard(t.Context(), "/a"); err != nil {
				t.Error(err)
			}
		}
	}), "/a", options)
	wantClass(t, err, target.Unclear)
	if f := s.Files(); len(f) != 0 {
		t.Errorf("left is %+v", f)
	}
}

func TestAWriterGoesOnAfterAMove(t *testing.T) {
	s := memfs.New(memfs.Options{})
	once := false
	info, err := s.Driver().Upload(t.Context(), long(func() {
		if !once {
			once = true
			if err := s.Move("/a", "/b"); err != nil {
				t.Error(err)
			}
		}
	}), "/a", options)
	if err != nil || info.Path != "/b" || info.Length != 3<<20 {
		t.Errorf("Upload answers %+v, %v", info, err)
	}
}

func TestCloneHasItsOwnLife(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	upload(t, c, "/d/a", "content")
	var clone *memfs.Store
	half := long(func() {
		if clone == nil {
			clone = s.Clone()
		}
	})
	if _, err := c.Upload(t.Context(), half, "/d/b", options); err != nil {
		t.Fatal(err)
	}
	files := clone.Files()
	if len(files) != 2 || files[1].Length != 1<<20 || files[1].Closed {
		t.Fatalf("the clone has %+v", files)
	}
	if files[0].ID != s.Files()[0].ID || !files[0].Same(s.Files()[0].Info) {
		t.Error("the clone's file is another")
	}
	if _, exists := find(t.Context(), t, clone.Driver(), files[0].ID); !exists {
		t.Error("the clone doesn't know its file by its identity")
	}
	if a, b := upload(t, clone.Driver(), "/new", "x"), upload(t, c, "/new", "x"); a.ID != b.ID {
		t.Errorf("next identities are %s and %s", a.ID, b.ID)
	}
	before := clone.Files()
	for _, err := range []error{s.Delete("/d/a"), s.Write("/d/b", []byte("other")), s.Move("/new", "/moved")} {
		if err != nil {
			t.Error(err)
		}
	}
	if !reflect.DeepEqual(clone.Files(), before) {
		t.Error("a change of the original shows in the clone")
	}
}

func TestStrangers(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	info := upload(t, c, "/d/a", "content")
	upload(t, c, "/d/b", "in the way")
	s.Refuse("/", nil)
	s.SetDown(errors.New("for clients"))
	for what, err := range map[string]error{
		"move over a file": s.Move("/d/a", "/d/b"), "move a directory": s.Move("/d", "/e/f"), "write": s.Write("/g/h", []byte("x")),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.SetDown(nil)
	s.Allow("/")
	got, exists := find(t.Context(), t, c, info.ID)
	if !exists || !got.Same(info) || !strings.HasSuffix(got.Path, "/b") {
		t.Errorf("the moved file is %+v, %v", got, exists)
	}
	for what, err := range map[string]error{
		"move nothing": s.Move("/no", "/x"), "delete nothing": s.Delete("/no"), "delete the root": s.Delete("/"),
		"write a directory": s.Write("/g", nil), "move into itself": s.Move("/g", "/g/x"), "move over a directory": s.Move("/g/h", "/g"),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := s.Delete("/e"); err != nil {
		t.Error(err)
	}
	if got, exists := find(t.Context(), t, c, info.ID); exists {
		t.Errorf("the deleted file is %+v", got)
	}
}

func TestAReaderKeepsWhatItOpened(t *testing.T) {
	s := memfs.New(memfs.Options{})
	c := s.Driver()
	upload(t, c, "/a", "before")
	r, err := c.Open(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write("/a", []byte("after!")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "before" {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestAgainstAModel runs random operations against a map from path to content,
// in which directories are only what is above a file or was made.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ctx := context.Background()
		s := memfs.New(memfs.Options{})
		c := s.Driver()
		files, dirs := map[string]string{}, map[string]bool{"/": true}
		ids := map[string]target.FileID{}
		names := rapid.SampledFrom([]string{"/a", "/b", "/a/a", "/a/b", "/b/a", "/a/a/a"})
		makeDirs := func(p string) bool { // of a path of one digit names
			for i := 2; i <= len(p)-2; i += 2 {
				if _, isFile := files[p[:i]]; isFile {
					return false
				}
			}
			for i := 2; i <= len(p)-2; i += 2 {
				dirs[p[:i]] = true
			}
			return true
		}
		exists := func(p string) bool { _, isFile := files[p]; return isFile || dirs[p] }
		check := func(op string, err error, want target.Class, ok bool) {
			if ok != (err == nil) || err != nil && target.ClassOf(err) != want {
				r.Fatalf("%s: %v, want ok %v or class %v", op, err, ok, want)
			}
		}
		below := func(p string) bool { // p has a file above it
			for i := 2; i < len(p); i += 2 {
				if _, isFile := files[p[:i]]; isFile {
					return true
				}
			}
			return false
		}
		r.Repeat(map[string]func(*rapid.T){
			"upload": func(r *rapid.T) {
				p, content := names.Draw(r, "path"), rapid.String().Draw(r, "content")
				info, err := c.Upload(ctx, strings.NewReader(content), p, options)
				switch {
				case below(p):
					check("upload", err, target.Path, false)
				case exists(p):
					check("upload", err, target.Exists, false)
				default:
					check("upload", err, 0, true)
					makeDirs(p)
					files[p], ids[p] = content, info.ID
				}
			},
			"publish": func(r *rapid.T) {
				from, to := names.Draw(r, "from"), names.Draw(r, "to")
				err := c.Publish(ctx, target.Info{Path: from, ID: ids[from]}, to, publishing)
				switch {
				case below(from):
					check("publish", err, target.Path, false)
				case !exists(from):
					check("publish", err, target.Missing, false)
				case dirs[from], below(to):
					check("publish", err, target.Path, false)
				case exists(to):
					check("publish", err, target.Exists, false)
				default:
					check("publish", err, 0, true)
					makeDirs(to)
					files[to], ids[to] = files[from], ids[from]
					delete(files, from)
					delete(ids, from)
				}
			},
			"discard": func(r *rapid.T) {
				p := names.Draw(r, "path")
				err := c.Discard(ctx, p)
				switch {
				case below(p), dirs[p]:
					check("discard", err, target.Path, false)
				case !exists(p):
					check("discard", err, target.Missing, false)
				default:
					check("discard", err, 0, true)
					if _, exists := find(ctx, r, c, ids[p]); exists {
						r.Fatalf("a discarded file is found")
					}
					delete(files, p)
					delete(ids, p)
				}
			},
			"": func(r *rapid.T) {
				if got := s.Files(); len(got) != len(files) {
					r.Fatalf("%d files, want %d", len(got), len(files))
				}
				for p, content := range files {
					info, exists := find(ctx, r, c, ids[p])
					got, readErr := s.Read(p)
					if !exists || readErr != nil || info.Path != p || string(got) != content {
						r.Fatalf("%s is %+v, %v with %q, %v, want %q", p, info, exists, got, readErr, content)
					}
				}
			},
		})
	})
}
