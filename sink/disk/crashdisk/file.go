package crashdisk

import (
	"io"
	"io/fs"
	"syscall"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

type file struct {
	d    *Disk
	name string
	n    *inode
}

var _ disk.File = (*file)(nil)

func (f *file) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errNegative
	}
	err = f.d.do(Read, f.name, func(Fault) error {
		if off < int64(len(f.n.data)) {
			n = copy(b, f.n.data[off:])
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

func (f *file) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.d.do(Write, f.name, func(t Fault) error {
		if t.Half {
			b = b[:len(b)/2]
		}
		n, err = f.write(b, off)
		return err
	})
	return n, err
}

func (f *file) WriteVec(bufs [][]byte, off int64) error {
	return f.d.do(Write, f.name, func(t Fault) error {
		var all []byte
		for _, b := range bufs {
			all = append(all, b...)
		}
		if t.Half {
			all = all[:len(all)/2]
		}
		_, err := f.write(all, off)
		return err
	})
}

// write is called with the disk locked.
func (f *file) write(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegative
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
	if f.d.capacity > 0 && f.d.used+more > f.d.capacity {
		return syscall.ENOSPC
	}
	f.d.used += more
	f.n.data = resize(f.n.data, size)
	return nil
}

func (f *file) Allocate(size int64) error {
	return f.d.do(Allocate, f.name, func(Fault) error { return f.grow(size) })
}

func (f *file) Truncate(size int64) error {
	return f.d.do(Truncate, f.name, func(Fault) error {
		if size > int64(len(f.n.data)) {
			return f.grow(size)
		}
		f.d.used -= int64(len(f.n.data)) - size
		f.n.data = f.n.data[:size:size]
		return nil
	})
}

// Sync makes the dirty pages durable. When it is failed by the hook, they are
// lost: no longer dirty and never durable.
func (f *file) Sync() error {
	f.d.mu.Lock()
	hook := f.d.hook
	f.d.mu.Unlock()
	var t Fault
	if hook != nil {
		t = hook(Op{Sync, f.name})
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if t.Err == nil || t.After {
		f.n.durable = resize(f.n.durable, int64(len(f.n.data)))
		for p := range f.n.dirty {
			from := p * PageSize
			to := min(from+PageSize, int64(len(f.n.data)))
			if from < to {
				copy(f.n.durable[from:to], f.n.data[from:to])
			}
		}
	}
	clear(f.n.dirty)
	if t.Err != nil {
		return &fs.PathError{Op: string(Sync), Path: f.name, Err: t.Err}
	}
	return nil
}

func (f *file) Writeback(int64, int64) {}

func (f *file) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return int64(len(f.n.data)), nil
}

func (f *file) Close() error { return nil }
