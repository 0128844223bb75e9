package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

const (
	// slice is how much is written at a time. The client library keeps a copy
	// of it for as long as the file is open.
	slice = 1 << 20
	// chunk is what HDFS sums up at a time: a block has a whole number of them.
	chunk = 512

	// What the NameNode refuses because DataNodes haven't reported a block yet
	// is asked for again after these pauses. Hadoop's own clients do the same
	// (dfs.client.block.write.locateFollowingBlock.retries), with other pauses.
	firstPause     = 20 * time.Millisecond
	maxPause       = time.Second
	reportedWithin = time.Minute
)

// Upload makes the file hidden, writes and completes it, and asks the NameNode what it has.
func (d *Driver) Upload(ctx context.Context, src fs.Source, hidden string, o fs.UploadOptions) (info fs.Info, err error) {
	err = d.change(ctx, "upload", hidden, func(s *session) error {
		u := upload{ctx: ctx, s: s, hidden: hidden, o: o}
		info, err = u.run(src)
		return err
	})
	if err != nil {
		return fs.Info{}, err
	}
	return info, nil
}

// upload is one Upload.
type upload struct {
	ctx    context.Context
	s      *session
	hidden string
	o      fs.UploadOptions
}

func (u *upload) run(src fs.Source) (fs.Info, error) {
	if err := u.s.ensureDir("upload", path.Dir(u.hidden), u.o.DirMode); err != nil {
		return fs.Info{}, err
	}
	w, blockSize, err := u.create()
	if err != nil {
		return fs.Info{}, err
	}
	err = u.fill(w, src, blockSize)
	if err == nil {
		err = u.close(w)
	}
	if err != nil {
		// A later Close could complete the file with a wrong length.
		u.s.kill(err)
		abandon(w)
		return fs.Info{}, u.failed(err)
	}
	info, err := u.check(src.Size())
	if err != nil {
		return fs.Info{}, u.failed(err)
	}
	return info, nil
}

// failed is the error of an Upload whose file exists.
func (u *upload) failed(err error) error {
	var source *fs.SourceError
	if errors.As(err, &source) {
		return &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Unclear, Err: err}
	}
	return failed(u.ctx, "upload", u.hidden, err, writing)
}

// create makes the file, exclusively, with blocks of blockSize bytes.
func (u *upload) create() (w *hdfs.FileWriter, blockSize int64, err error) {
	replication, blockSize, err := u.s.shape(u.o)
	if err != nil {
		return nil, 0, err
	}
	if blockSize%chunk != 0 {
		return nil, 0, &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Path, Err: fmt.Errorf("block_size %d is no multiple of %d", blockSize, chunk)}
	}
	mode := u.o.FileMode
	if mode == 0 {
		mode = 0o666 &^ u.s.c.umask
	}
	w, err = u.s.client.CreateFile(u.hidden, replication, blockSize, os.FileMode(mode))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, 0, directoryError("upload", path.Dir(u.hidden), errNothing)
	case errors.Is(err, os.ErrPermission):
		// The library leaves out what the NameNode said.
		return nil, 0, &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Path,
			Err: fmt.Errorf("user %s may not create files in %s: %w; %s", u.s.c.user, path.Dir(u.hidden), err, advicePerm)}
	}
	return w, blockSize, err
}

// shape is the replication and the block size of a new file: what is asked for,
// then what the client's configuration says, then what the server does.
func (s *session) shape(o fs.UploadOptions) (replication int, blockSize int64, err error) {
	replication, blockSize = o.Replication, o.BlockSize
	if replication == 0 {
		replication = s.c.replication
	}
	if blockSize == 0 {
		blockSize = s.c.blockSize
	}
	if replication != 0 && blockSize != 0 {
		return replication, blockSize, nil
	}
	d, err := s.client.ServerDefaults()
	if err != nil {
		return 0, 0, failed(s.ctx, "ask for the server's defaults", "/", err, reading)
	}
	if replication == 0 {
		replication = d.Replication
	}
	if blockSize == 0 {
		blockSize = d.BlockSize
	}
	return replication, blockSize, nil
}

// fill writes all of src, in slices that don't cross the end of a block.
func (u *upload) fill(w *hdfs.FileWriter, src fs.Source, blockSize int64) error {
	buf := make([]byte, min(slice, src.Size(), blockSize))
	for off := int64(0); off < src.Size(); {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		n, readErr := fs.ReadSlice(src, buf[:min(int64(len(buf)), blockSize-off%blockSize)], off)
		if err := u.write(w, buf[:n]); err != nil {
			return err
		}
		if readErr != nil {
			return readErr
		}
		off += int64(n)
	}
	return nil
}

// write writes bytes of one block. If they are its first, the NameNode is asked
// for the block before anything else happens, and may answer that the DataNodes
// haven't reported the block before the last yet. Only then it is asked again:
// nothing was written, and nothing was changed.
func (u *upload) write(w *hdfs.FileWriter, p []byte) error {
	last := blockOf(w)
	return u.untilReported(func() (reported bool, err error) {
		_, err = w.Write(p)
		var remote hdfs.Error
		if errors.As(err, &remote) && remote.Exception() == notReplicatedYet && remote.Method() == "addBlock" && !last.IsNil() {
			askAgain(w, last)
			return false, err
		}
		return true, err
	})
}

// close completes the file. If all is written, but not yet reported by enough
// DataNodes, the NameNode is asked again. Not by another Close: that would leave
// out which block is the last, and the NameNode commits it only once the block
// before is reported.
func (u *upload) close(w *hdfs.FileWriter) error {
	last := blockOf(w)
	err := w.Close()
	if !hdfs.IsErrReplicating(err) {
		return err
	}
	return u.untilReported(func() (reported bool, err error) {
		if last.IsNil() { // an empty file
			err = w.Close()
			return !hdfs.IsErrReplicating(err), err
		}
		clientName, block, fileID := ending(w, last)
		done, err := complete(u.s.x, u.hidden, clientName, block, fileID)
		if err == nil && !done {
			return false, hdfs.ErrReplicating
		}
		return true, err
	})
}

// untilReported asks the NameNode again and again while DataNodes haven't
// reported a block, for a minute at most.
func (u *upload) untilReported(ask func() (reported bool, err error)) error {
	pause, end := firstPause, time.Now().Add(reportedWithin)
	for {
		reported, err := ask()
		if reported {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the DataNodes don't report a block within %v; see that they are healthy: %w", reportedWithin, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-u.ctx.Done():
			timer.Stop()
			return context.Cause(u.ctx)
		}
		pause = min(2*pause, maxPause)
	}
}

var errNotWhole = errors.New("the file isn't what was written")

// check asks for what is at hidden, and sets its mode if an ACL of the directory
// made that another.
func (u *upload) check(size int64) (fs.Info, error) {
	info, mode, err := statMode(u.s.x, u.hidden)
	if err != nil {
		return fs.Info{}, err
	}
	if info.Length != size || !info.Closed || info.Dir {
		return fs.Info{}, fmt.Errorf("%w: %d of %d bytes, closed %v", errNotWhole, info.Length, size, info.Closed)
	}
	if u.o.FileMode != 0 && mode != u.o.FileMode {
		if err := setPermission(u.s.x, u.hidden, u.o.FileMode); err != nil {
			return fs.Info{}, err
		}
	}
	return info, nil
}
