package hdfsfs

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Stat describes what is at p.
func (f *FileSystem) Stat(ctx context.Context, p string) (info fs.Info, err error) {
	err = f.read(ctx, "stat", p, func(s *session) error {
		info, err = stat(s.x, p)
		return err
	})
	if err != nil {
		return fs.Info{}, err
	}
	return info, nil
}

// Find describes the file with the identity. Where it is the NameNode doesn't
// say, but its name there: Path is that alone. A file that was moved to where
// this user may not look exists all the same; of it nothing but the identity is
// known, and Length is -1.
func (f *FileSystem) Find(ctx context.Context, id fs.FileID) (info fs.Info, err error) {
	err = f.read(ctx, "find", inodePath(id), func(s *session) error {
		info, err = find(s.x, id)
		return err
	})
	if err != nil {
		return fs.Info{}, err
	}
	return info, nil
}

func find(x executor, id fs.FileID) (fs.Info, error) {
	info, err := stat(x, inodePath(id))
	info.Path = ""
	var remote hdfs.Error
	if errors.As(err, &remote) && remote.Exception() == accessControl {
		// A number that is nobody's is missing before rights are looked at.
		return fs.Info{ID: id, Length: -1}, nil
	}
	if err == nil {
		info.Path, err = nameOf(x, id)
	}
	return info, err
}

// nameOf is a file's name in the directory that it is in now, "" if that can't
// be had. It looks through the directory, which the NameNode finds as the parent
// of an inode.
func nameOf(x executor, id fs.FileID) (string, error) {
	for after, more := "", true; more; {
		entries, left, err := getListing(x, inodePath(id)+"/..", after)
		var remote hdfs.Error
		switch {
		case errors.As(err, &remote) && judge(remote, reading).class == fs.Path, nothingThere(err):
			return "", nil // we may not look there, or it is gone meanwhile
		case err != nil:
			return "", err
		}
		for _, e := range entries {
			if after = string(e.GetPath()); identity(e) == id {
				return after, nil
			}
		}
		more = left && len(entries) > 0
	}
	return "", nil
}

// List describes the entries of a directory. A big one is listed in several
// steps, between which it may change.
func (f *FileSystem) List(ctx context.Context, p string) (infos []fs.Info, err error) {
	err = f.read(ctx, "list", p, func(s *session) error {
		st, err := getFileInfo(s.x, p)
		if err != nil {
			return err
		}
		if !isDir(st) {
			return &fs.Error{Op: "list", Path: p, Class: fs.Path, Err: errors.New("it is a file")}
		}
		for after, more := "", true; more; {
			var entries []*hdfs.FileStatus
			if entries, more, err = getListing(s.x, p, after); err != nil {
				return err
			}
			for _, e := range entries {
				after = string(e.GetPath())
				i := infoOf(path.Join(p, after), e)
				i.Closed = i.Dir || !e.GetLocations().GetUnderConstruction()
				infos = append(infos, i)
			}
			more = more && len(entries) > 0
		}
		// The NameNode's own order takes bytes for signed numbers.
		slices.SortFunc(infos, func(a, b fs.Info) int { return strings.Compare(a.Path, b.Path) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return infos, nil
}

// Open opens a file for reading. The reader has a session until it is closed,
// and reads end with ctx.
func (f *FileSystem) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	s, err := f.take(ctx, "open", p)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, path: p, pool: f.pool, s: s, stop: s.until(ctx)}
	st, err := getFileInfo(s.x, p)
	if err == nil && isDir(st) {
		err = &fs.Error{Op: "open", Path: p, Class: fs.Path, Err: errors.New("it is a directory")}
	}
	if err == nil {
		r.r, err = s.client.Open(p)
	}
	if err != nil {
		r.release()
		return nil, failed(ctx, "open", p, err, reading)
	}
	return r, nil
}

// reader is an open file.
type reader struct {
	ctx  context.Context
	path string
	pool *pool
	stop func() // the session's until

	mu     sync.Mutex // held by Read and Close: the session is one call's
	s      *session
	r      *hdfs.FileReader
	closed bool
}

func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, &fs.Error{Op: "read", Path: r.path, Class: fs.Target, Err: os.ErrClosed}
	}
	if r.ctx.Err() != nil {
		return 0, ended(r.ctx, "read", r.path, nil)
	}
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.s.kill(err)
		err = failed(r.ctx, "read", r.path, err, reading)
	}
	return n, err
}

// Close ends reading. A second one does nothing.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.r.Close()
	r.release()
	if err != nil {
		return failed(r.ctx, "close", r.path, err, reading)
	}
	return nil
}

func (r *reader) release() {
	r.stop()
	r.pool.give(r.s)
}
