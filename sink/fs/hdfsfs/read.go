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
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// List describes the entries of a directory. A big one is listed in several
// steps, between which it may change.
func (d *Driver) List(ctx context.Context, p string) (infos []fs.Info, err error) {
	err = d.read(ctx, "list", p, func(s *session) error {
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
func (d *Driver) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	s, err := d.take(ctx, "open", p, time.Now().Add(takeover))
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, path: p, pool: d.pool, s: s, stop: s.until(ctx)}
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
