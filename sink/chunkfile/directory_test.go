package chunkfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// TestDirectories: a file is located where it is now, and a listing is of the
// directory that it says.
func TestDirectories(t *testing.T) {
	base := t.TempDir()
	f := File{Dir: base, Stream: "tail.0", Name: "1-2.3.flb"}
	stream := filepath.Dir(f.Path())
	var d Directories
	if id := d.Locate(f); id != (disk.Identity{}) {
		t.Errorf("without a directory it is in %v", id)
	}
	if _, err := d.List(stream); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the listing of no directory: %v", err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(stream, 0o755))
	if id := d.Locate(f); id != (disk.Identity{}) {
		t.Errorf("a file that doesn't exist is in %v", id)
	}
	must(os.WriteFile(f.Path(), nil, 0o600))
	in := d.Locate(f)
	if in.Inode == 0 {
		t.Fatal("it isn't found")
	}
	l, err := d.List(stream)
	if err != nil || l.ID != in || !slices.Equal(l.Names, []string{f.Name}) || !l.Durable {
		t.Errorf("listed %+v, %v", l, err)
	}

	// Another directory takes the path, as one below a volume that isn't mounted.
	must(os.Rename(stream, stream+".away"))
	must(os.Mkdir(stream, 0o755))
	if l, err := d.List(stream); err != nil || l.ID == in || len(l.Names) > 0 {
		t.Errorf("another directory is listed as %+v, %v", l, err)
	}
	if id := d.Locate(f); id != (disk.Identity{}) {
		t.Errorf("in another directory it is found in %v", id)
	}
	must(os.Remove(stream))
	must(os.Rename(stream+".away", stream))
	if id := d.Locate(f); id != in {
		t.Errorf("back again it is in %v and not in %v", id, in)
	}
	must(os.Remove(stream + "/" + f.Name))
	must(os.Symlink("elsewhere", f.Path()))
	if id := d.Locate(f); id != in {
		t.Errorf("a link that leads nowhere is in %v", id)
	}
}
