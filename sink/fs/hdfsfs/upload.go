package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"io"
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

	// A Close whose blocks haven't all been reported is repeated after these
	// waits, as Hadoop's own clients do.
	firstClosePause = 20 * time.Millisecond
	maxClosePause   = time.Second
	closeFor        = time.Minute
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
	w, err := u.create()
	if err != nil {
		return fs.Info{}, err
	}
	err = u.fill(w, src)
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
	var source *sourceError
	if errors.As(err, &source) {
		return &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Unclear, Err: err}
	}
	return failed(u.ctx, "upload", u.hidden, err, writing)
}

// create makes the file, exclusively.
func (u *upload) create() (*hdfs.FileWriter, error) {
	replication, blockSize, err := u.s.shape(u.o)
	if err != nil {
		return nil, err
	}
	if blockSize%chunk != 0 {
		return nil, &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Path, Err: fmt.Errorf("block_size %d is no multiple of %d", blockSize, chunk)}
	}
	mode := u.o.FileMode
	if mode == 0 {
		mode = 0o666 &^ u.s.c.umask
	}
	w, err := u.s.client.CreateFile(u.hidden, replication, blockSize, os.FileMode(mode))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, directoryError("upload", path.Dir(u.hidden), errNothing)
	case errors.Is(err, os.ErrPermission):
		// The library leaves out what the NameNode said.
		return nil, &fs.Error{Op: "upload", Path: u.hidden, Class: fs.Path,
			Err: fmt.Errorf("user %s may not create files in %s: %w; %s", u.s.client.User(), path.Dir(u.hidden), err, advicePerm)}
	}
	return w, err
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

// fill writes all of src.
func (u *upload) fill(w *hdfs.FileWriter, src fs.Source) error {
	buf := make([]byte, min(slice, src.Size()))
	for off := int64(0); off < src.Size(); {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		n, err := src.ReadAt(buf[:min(int64(len(buf)), src.Size()-off)], off)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		off += int64(n)
		switch {
		case off == src.Size() && (err == nil || err == io.EOF):
		case err == io.EOF:
			return &sourceError{off, io.ErrUnexpectedEOF}
		case err != nil:
			return &sourceError{off, err}
		case n == 0:
			return &sourceError{off, io.ErrNoProgress}
		}
	}
	return nil
}

// close completes the file. Only an answer that all is written, but not yet
// reported by enough DataNodes, lets it ask again: from then on Close does
// nothing else than that.
func (u *upload) close(w *hdfs.FileWriter) error {
	pause, end := firstClosePause, time.Now().Add(closeFor)
	for {
		err := w.Close()
		if !hdfs.IsErrReplicating(err) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("the DataNodes don't report the last block within %v; see that they are healthy: %w", closeFor, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-u.ctx.Done():
			timer.Stop()
			return context.Cause(u.ctx)
		}
		pause = min(2*pause, maxClosePause)
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

// sourceError is what went wrong with the content and not with the target.
type sourceError struct {
	off int64
	err error
}

func (e *sourceError) Error() string {
	return fmt.Sprintf("read what is to be written, at byte %d: %v", e.off, e.err)
}
func (e *sourceError) Unwrap() error { return e.err }
