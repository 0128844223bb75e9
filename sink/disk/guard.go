package disk

import (
	"io"
	"os"
	"sync"
)

// Guard returns d with each operation between enter and leave. What enter
// refuses isn't begun, and leave not called for it. Closing a file, asking for
// its size, and the lock are let through.
func Guard(d Disk, enter func() error, leave func()) Disk {
	return &guarded{d, gate{enter, leave}}
}

type gate struct {
	enter func() error
	leave func()
}

func (g gate) do(f func() error) error {
	if err := g.enter(); err != nil {
		return err
	}
	defer g.leave()
	return f()
}

type guarded struct {
	Disk
	gate gate
}

func (d *guarded) file(open func(string) (File, error), name string) (f File, err error) {
	err = d.gate.do(func() error {
		f, err = open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &guardedFile{f, d.gate}, nil
}

func (d *guarded) Create(name string) (File, error) { return d.file(d.Disk.Create, name) }

func (d *guarded) Open(name string) (File, error) { return d.file(d.Disk.Open, name) }

func (d *guarded) Remove(name string) error {
	return d.gate.do(func() error { return d.Disk.Remove(name) })
}

func (d *guarded) Rename(from, to string) error {
	return d.gate.do(func() error { return d.Disk.Rename(from, to) })
}

func (d *guarded) Mkdir(name string) error {
	return d.gate.do(func() error { return d.Disk.Mkdir(name) })
}

func (d *guarded) List(name string) (names []string, err error) {
	err = d.gate.do(func() error {
		names, err = d.Disk.List(name)
		return err
	})
	return names, err
}

func (d *guarded) SyncDir(name string) error {
	return d.gate.do(func() error { return d.Disk.SyncDir(name) })
}

type guardedFile struct {
	File
	gate gate
}

func (f *guardedFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.gate.do(func() error {
		n, err = f.File.ReadAt(b, off)
		return err
	})
	return n, err
}

func (f *guardedFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.gate.do(func() error {
		n, err = f.File.WriteAt(b, off)
		return err
	})
	return n, err
}

func (f *guardedFile) WriteVec(bufs [][]byte, offset int64) error {
	return f.gate.do(func() error { return f.File.WriteVec(bufs, offset) })
}

func (f *guardedFile) Allocate(size int64) error {
	return f.gate.do(func() error { return f.File.Allocate(size) })
}

func (f *guardedFile) Truncate(size int64) error {
	return f.gate.do(func() error { return f.File.Truncate(size) })
}

func (f *guardedFile) Sync() error { return f.gate.do(f.File.Sync) }

func (f *guardedFile) Writeback(offset, length int64) error {
	return f.gate.do(func() error { return f.File.Writeback(offset, length) })
}

// OSFile is the file below, nil if it is none of the operating system's.
func (f *guardedFile) OSFile() *os.File {
	if o, ok := f.File.(interface{ OSFile() *os.File }); ok {
		return o.OSFile()
	}
	return nil
}

// LockedThroughout returns d with a lock that outlives what is under way: it is
// released when the last operation has come back, and closing it waits for that.
// So an operation that hangs on the disk never takes effect under a successor's
// hands.
func LockedThroughout(d Disk) Disk {
	u := &underWay{}
	u.over = sync.NewCond(&u.mu)
	return &locking{Guard(d, u.enter, u.leave), u}
}

type locking struct {
	Disk
	ops *underWay
}

func (d *locking) Lock(owner string) (io.Closer, error) {
	c, err := d.Disk.Lock(owner)
	if err != nil {
		return nil, err
	}
	return &lastingLock{c, d.ops}, nil
}

type lastingLock struct {
	io.Closer
	ops *underWay
}

func (l *lastingLock) Close() error {
	l.ops.wait()
	return l.Closer.Close()
}

// underWay counts operations.
type underWay struct {
	mu   sync.Mutex
	over *sync.Cond // none is under way
	n    int
}

func (u *underWay) enter() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
	return nil
}

func (u *underWay) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n--; u.n == 0 {
		u.over.Broadcast()
	}
}

func (u *underWay) wait() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.n > 0 {
		u.over.Wait()
	}
}
