package sink

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// gate stands before every operation on the staging directory. Once it is closed
// none begins any more, whoever still runs: a successor may have the state
// directory by then. Targets have fs.Client's fence for that.
type gate struct{ closed atomic.Bool }

// errStopped is the answer to what would begin after the gate was closed.
var errStopped = errors.New("the sink is closed")

func (g *gate) close() { g.closed.Store(true) }

func (g *gate) pass() error {
	if g.closed.Load() {
		return errStopped
	}
	return nil
}

// gatedDisk is the disk as staging sees it.
type gatedDisk struct {
	disk.Disk
	gate *gate
}

func (d *gatedDisk) Create(name string) (disk.File, error) {
	if err := d.gate.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(name)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, d.gate}, nil
}

func (d *gatedDisk) Open(name string) (disk.File, error) {
	if err := d.gate.pass(); err != nil {
		return nil, err
	}
	f, err := d.Disk.Open(name)
	if err != nil {
		return nil, err
	}
	return &gatedFile{f, d.gate}, nil
}

func (d *gatedDisk) Remove(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

func (d *gatedDisk) Rename(from, to string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *gatedDisk) Mkdir(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.Mkdir(name)
}

func (d *gatedDisk) SyncDir(name string) error {
	if err := d.gate.pass(); err != nil {
		return err
	}
	return d.Disk.SyncDir(name)
}

// gatedFile is a staged file. Close always reaches it.
type gatedFile struct {
	disk.File
	gate *gate
}

func (f *gatedFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.gate.pass(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *gatedFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.gate.pass(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *gatedFile) Truncate(size int64) error {
	if err := f.gate.pass(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *gatedFile) Sync() error {
	if err := f.gate.pass(); err != nil {
		return err
	}
	return f.File.Sync()
}

// OSFile is the file below, nil if it is none of the operating system's.
func (f *gatedFile) OSFile() *os.File {
	if o, ok := f.File.(interface{ OSFile() *os.File }); ok {
		return o.OSFile()
	}
	return nil
}
