package staging

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// ErrFenced is the answer to what would begin after the area was fenced.
var ErrFenced = errors.New("the sink is closed")

// fence stands before every operation on the disk.
type fence struct{ closed atomic.Bool }

func (f *fence) close() { f.closed.Store(true) }

func (f *fence) pass() error {
	if f.closed.Load() {
		return ErrFenced
	}
	return nil
}

// fencedDisk is the disk as staging sees it.
type fencedDisk struct {
	disk.Disk
	fence *fence
}

func (d *fencedDisk) Create(name string) (disk.File, error) {
	if err := d.fence.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(name)
	if err != nil {
		return nil, err
	}
	return &fencedFile{f, d.fence}, nil
}

func (d *fencedDisk) Open(name string) (disk.File, error) {
	if err := d.fence.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Open(name)
	if err != nil {
		return nil, err
	}
	return &fencedFile{f, d.fence}, nil
}

func (d *fencedDisk) Remove(name string) error {
	if err := d.fence.pass(); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

func (d *fencedDisk) Rename(from, to string) error {
	if err := d.fence.pass(); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *fencedDisk) Mkdir(name string) error {
	if err := d.fence.pass(); err != nil {
		return err
	}
	return d.Disk.Mkdir(name)
}

func (d *fencedDisk) SyncDir(name string) error {
	if err := d.fence.pass(); err != nil {
		return err
	}
	return d.Disk.SyncDir(name)
}

// fencedFile is a staged file. Close always reaches it.
type fencedFile struct {
	disk.File
	fence *fence
}

func (f *fencedFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.fence.pass(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *fencedFile) ReadDirect(b []byte, off int64) (int, error) {
	if err := f.fence.pass(); err != nil {
		return 0, err
	}
	return f.File.ReadDirect(b, off)
}

func (f *fencedFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.fence.pass(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *fencedFile) Truncate(size int64) error {
	if err := f.fence.pass(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *fencedFile) Sync() error {
	if err := f.fence.pass(); err != nil {
		return err
	}
	return f.File.Sync()
}

// OSFile is the file below, nil if it is none of the operating system's.
func (f *fencedFile) OSFile() *os.File {
	if o, ok := f.File.(interface{ OSFile() *os.File }); ok {
		return o.OSFile()
	}
	return nil
}
