package crashdisk

import (
	"io"
	"io/fs"
	"syscall"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// file is one handle on an inode.
type file struct {
	d      *Disk
	name   string
	n      *inode
	closed bool // guarded by d.mu
}

var _ disk.File = (*file)(nil)

// do runs an operation on the open file.
func (f *file) do(op Op, effect func(faults.Action) error) error {
	op.Name = f.name
	return f.d.do(op, func(a faults.Action) error {
		if f.closed {
			return fs.ErrClosed
		}
		return effect(a)
	})
}

func (f *file) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	err = f.do(Op{Kind: Read, Offset: off, Length: int64(len(b))}, func(faults.Action) error {
		data := f.n.data
		if f.n.misread != nil {
			data = f.n.misread
		}
		if off < int64(len(data)) {
			n = copy(b, data[off:])
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// ReadDirect is a Read to a Hook.
func (f *file) ReadDirect(b []byte, off int64) (n int, err error) {
	f.d.mu.Lock()
	f.n.misread = nil
	f.d.mu.Unlock()
	return f.ReadAt(b, off)
}

func (f *file) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.do(Op{Kind: Write, Offset: off, Length: int64(len(b))}, func(a faults.Action) error {
		if a.Kind == faults.FailsHalf {
			b = b[:len(b)/2]
		}
		n, err = f.write(b, off)
		return err
	})
	return n, err
}

func (f *file) WriteVec(bufs [][]byte, off int64) error {
	var all []byte
	for _, b := range bufs {
		all = append(all, b...)
	}
	_, err := f.WriteAt(all, off)
	return err
}

// write is called with the disk locked.
func (f *file) write(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegative
	}
	if len(b) == 0 {
		return 0, nil
	}
	end := off + int64(len(b))
	if err := f.grow(end); err != nil {
		return 0, err
	}
	copy(f.n.data[off:end], b)
	for p := off / PageSize; p*PageSize < end; p++ {
		f.n.dirty[p] = true
	}
	return len(b), nil
}

func (f *file) grow(size int64) error {
	more := size - int64(len(f.n.data))
	if more <= 0 {
		return nil
	}
	if !f.n.unlinked {
		if f.d.capacity > 0 && f.d.used+more > f.d.capacity {
			return syscall.ENOSPC
		}
		f.d.used += more
	}
	for p := int64(len(f.n.data)) / PageSize; p*PageSize < size; p++ {
		f.n.dirty[p] = true // zeros now, whatever was durable there before
	}
	f.n.data = resize(f.n.data, size)
	return nil
}

func (f *file) Allocate(size int64) error {
	return f.do(Op{Kind: Allocate, Length: size}, func(faults.Action) error { return f.grow(size) })
}

func (f *file) Truncate(size int64) error {
	if size < 0 {
		return errNegative
	}
	return f.do(Op{Kind: Truncate, Length: size}, func(faults.Action) error {
		less := int64(len(f.n.data)) - size
		if less <= 0 {
			return f.grow(size)
		}
		if !f.n.unlinked {
			f.d.used -= less
		}
		f.n.data = f.n.data[:size:size]
		for p := range f.n.dirty {
			if p*PageSize >= size {
				delete(f.n.dirty, p)
			}
		}
		return nil
	})
}

// Sync makes the dirty pages durable. When it fails, they are
// lost: no longer dirty and never durable.
func (f *file) Sync() error {
	op := Op{Kind: Sync, Name: f.name}
	a := f.d.ask(op)
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return op.failed(fs.ErrClosed)
	}
	half := a.Kind == faults.FailsHalf
	if half || a.Kind == faults.Passes || a.Kind == faults.FailsAfter {
		f.n.sync(half)
	}
	clear(f.n.dirty)
	if a.Kind != faults.Passes {
		return op.failed(a.Err)
	}
	return nil
}

// sync makes the dirty pages durable, or every other page of them.
func (n *inode) sync(half bool) {
	n.durable = resize(n.durable, int64(len(n.data)))
	for p := range n.dirty {
		from := p * PageSize
		to := min(from+PageSize, int64(len(n.data)))
		if from < to && (!half || p%2 == 0) {
			copy(n.durable[from:to], n.data[from:to])
		}
	}
}

func (f *file) Writeback(int64, int64) error { return nil }

func (f *file) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return 0, Op{Kind: "size", Name: f.name}.failed(fs.ErrClosed)
	}
	return int64(len(f.n.data)), nil
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return Op{Kind: "close", Name: f.name}.failed(fs.ErrClosed)
	}
	f.closed = true
	f.d.handles--
	return nil
}
