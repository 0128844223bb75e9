package localfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

const (
	// memorySlice is how much goes through memory at a time.
	memorySlice = 1 << 20
	// kernelSlice is how much copy_file_range is asked for at a time: ctx is
	// looked at in between.
	kernelSlice = 2 << 20
)

// Upload makes the file hidden, writes, syncs and closes it, and syncs its directory.
func (d *Driver) Upload(ctx context.Context, src fs.Source, hidden string, o fs.UploadOptions) (fs.Info, error) {
	if err := d.begin(ctx, "upload", hidden); err != nil {
		return fs.Info{}, err
	}
	if len(path.Base(hidden)) > unix.NAME_MAX {
		return fs.Info{}, failed("upload", hidden, unix.ENAMETOOLONG, false) // before any parent is made for it
	}
	if hidden == "/" {
		return fs.Info{}, failed("upload", hidden, unix.EEXIST, false)
	}
	dir := path.Dir(hidden)
	if err := d.ensureDir("upload", dir, o.DirMode); err != nil {
		return fs.Info{}, err
	}
	mode := o.FileMode
	if mode == 0 {
		mode = 0o666
	}
	dst, err := os.OpenFile(hidden, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, os.FileMode(mode&0o777))
	if err != nil {
		return fs.Info{}, dirFailed("upload", hidden, err)
	}
	err = d.fill(ctx, dst, src, o.FileMode)
	if closeErr := dst.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fs.Info{}, uploadFailed(ctx, hidden, err)
	}
	if err := d.syncDir(dir); err != nil {
		return fs.Info{}, unclear("upload", dir, err)
	}
	st, err := statx(hidden, false)
	if err != nil {
		return fs.Info{}, unclear("upload", hidden, err)
	}
	if int64(st.Size) != src.Size() {
		return fs.Info{}, unclear("upload", hidden, fmt.Errorf("it has %d bytes after %d were written", st.Size, src.Size()))
	}
	return info(hidden, st), nil
}

// uploadFailed classifies what came after the file was made. Of these errors only
// a ctx that ended, a full disk and a quota say something about the next try.
func uploadFailed(ctx context.Context, hidden string, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return ended(ctx, "upload", hidden)
	}
	var source *fs.SourceError
	if class, _ := classify(err, true); !errors.As(err, &source) && (class == fs.Target || class == fs.Path) {
		return failed("upload", hidden, err, true)
	}
	return unclear("upload", hidden, err)
}

// fill gives dst its mode and content, and syncs it.
func (d *Driver) fill(ctx context.Context, dst *os.File, src fs.Source, mode uint32) error {
	if err := setMode(dst, mode); err != nil {
		return err
	}
	p := &pacer{kernel: &d.kernel, dst: dst}
	copied, err := d.kernelCopy(ctx, dst, src, p)
	if err != nil {
		return err
	}
	if err := memoryCopy(ctx, dst, src, copied, p); err != nil {
		return err
	}
	return d.kernel.sync(dst)
}

// pacer keeps a copy from running ahead of the disk. Without it the sync at the
// end has everything to write at once, and a flush that comes meanwhile, on the
// same disk, waits behind all of it.
type pacer struct {
	kernel *kernel
	dst    *os.File
	begun  int64 // where writeback was begun up to
	ended  int64 // where it was waited for up to
}

// paceEvery is how much is written between two calls of writeback. Twice that
// is under way at most.
const paceEvery = 2 << 20

// wrote notes that dst is written up to off.
func (p *pacer) wrote(off int64) error {
	if off-p.begun < paceEvery {
		return nil
	}
	if err := p.kernel.writeback(p.dst, p.begun, off-p.begun); err != nil {
		return &os.PathError{Op: "write back", Path: p.dst.Name(), Err: err}
	}
	if p.begun > p.ended { // to the kernel a range of no bytes is all that follows
		if err := p.kernel.wait(p.dst, p.ended, p.begun-p.ended); err != nil {
			return &os.PathError{Op: "write back", Path: p.dst.Name(), Err: err}
		}
	}
	p.begun, p.ended = off, p.begun
	return nil
}

// kernelCopy copies as much as the kernel can without memory of ours, maybe
// nothing, and returns how much that was. What is left is for memoryCopy, which
// also finds out why the source ended early if it did.
func (d *Driver) kernelCopy(ctx context.Context, dst *os.File, src fs.Source, p *pacer) (int64, error) {
	holder, ok := src.(interface{ OSFile() *os.File })
	if !ok || d.o.NoKernelCopy {
		return 0, nil
	}
	in, off := holder.OSFile(), int64(0)
	if in == nil {
		return 0, nil
	}
	for off < src.Size() {
		if ctx.Err() != nil {
			return off, context.Cause(ctx)
		}
		n, err := d.kernel.copyRange(dst, in, off, int(min(kernelSlice, src.Size()-off)))
		off += int64(n)
		switch {
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP),
			errors.Is(err, unix.EINVAL), errors.Is(err, unix.EBADF), errors.Is(err, unix.EPERM):
			return off, nil // not between these two file systems
		case err != nil:
			return off, &os.PathError{Op: "copy_file_range", Path: in.Name(), Err: err}
		case n == 0:
			return off, nil
		}
		if err := p.wrote(off); err != nil {
			return off, err
		}
	}
	return off, nil
}

// memoryCopy copies what is left from off on.
func memoryCopy(ctx context.Context, dst *os.File, src fs.Source, off int64, p *pacer) error {
	buf := make([]byte, min(memorySlice, max(src.Size()-off, 0)))
	for off < src.Size() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, readErr := fs.ReadSlice(src, buf, off)
		if _, err := dst.Write(buf[:n]); err != nil {
			return err
		}
		off += int64(n)
		if err := p.wrote(off); err != nil {
			return err
		}
		if readErr != nil {
			return readErr
		}
	}
	return nil
}
