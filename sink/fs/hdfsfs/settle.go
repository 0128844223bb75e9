package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Settle makes an edit, calls view, and makes another edit, all on one
// connection. A NameNode acknowledges an edit only once a majority of the
// journal has it, which a NameNode that was deposed can't get: so whoever
// acknowledged both was the active one all the time between, and what it says
// is missing is missing.
//
// An edit is the creation of an empty file of fixed name, without a block, or
// the removal of one that is there, left by a crash or by somebody who settles
// at the same time: either proves the same.
func (f *FileSystem) Settle(ctx context.Context, dir string, view func(context.Context, fs.Viewer) error) error {
	return f.change(ctx, "settle", dir, func(s *session) error {
		dir, err := s.existing(dir)
		if err != nil {
			return failed(ctx, "settle", dir, err, reading)
		}
		marker := path.Join(dir, markerName(s.c.user))
		if err := s.edit(marker); err != nil {
			return settleFailed(ctx, marker, err)
		}
		connection := s.dials.Load()
		v := &viewer{s: s}
		err = view(ctx, v)
		v.over.Store(true)
		if err != nil {
			_, _ = remove(s.x, marker) // or the next time; the view's error counts
			return err
		}
		err = s.edit(marker)
		if err == nil {
			_, err = remove(s.x, marker)
		}
		if err != nil {
			return settleFailed(ctx, marker, err)
		}
		if s.dials.Load() != connection || s.broken.Load() {
			return &fs.Error{Op: "settle", Path: dir, Class: fs.Unclear, Err: errReconnected}
		}
		return nil
	})
}

var errReconnected = errors.New("the connection to the NameNode was replaced meanwhile, so the answers may be of two NameNodes")

// settleFailed is the error of a bracket. Whatever it means for the marker, it
// says nothing about the path that is settled.
func settleFailed(ctx context.Context, marker string, err error) error {
	err = failed(ctx, "settle", marker, err, changing)
	var wrapped *fs.Error
	if errors.As(err, &wrapped) && (wrapped.Class == fs.Missing || wrapped.Class == fs.Exists) {
		wrapped.Class = fs.Unclear
	}
	return err
}

// markerName is the same for all that settle as one user, who may remove each
// other's files.
func markerName(user string) string {
	return ".out_hdfs.settle." + strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, user)
}

// existing is dir, or what is left above it.
func (s *session) existing(dir string) (string, error) {
	for {
		st, err := getFileInfo(s.x, dir)
		if err == nil && isDir(st) {
			return dir, nil
		}
		if err != nil && !nothingThere(err) || dir == "/" {
			return dir, err
		}
		dir = path.Dir(dir)
	}
}

// nothingThere says that a path leads to nothing: it isn't there, or it goes on
// below a file.
func nothingThere(err error) bool {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		name := remote.Exception()
		return exceptions[name].class == fs.Missing || name == parentNotDirectory
	}
	return errors.Is(err, errNothing)
}

// maxEdits bounds the tries of an edit. Each that comes to nothing is one in
// which somebody else settled.
const maxEdits = 20

// edit returns nil after one acknowledged edit. The marker exists then or not.
func (s *session) edit(marker string) error {
	for range maxEdits {
		replication, blockSize, err := s.shape(fs.PutOptions{})
		if err != nil {
			return err
		}
		_, err = s.client.CreateFile(marker, replication, blockSize, 0o600)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return err
		}
		if was, err := remove(s.x, marker); err != nil || was {
			return err
		}
	}
	return fmt.Errorf("others made and removed the marker %d times meanwhile", maxEdits)
}

// viewer looks through one session, as long as it is settled.
type viewer struct {
	s    *session
	over atomic.Bool
}

func (v *viewer) Stat(ctx context.Context, p string) (fs.Info, error) {
	return v.look(ctx, "stat", p, func() (fs.Info, error) { return stat(v.s.x, p) })
}

func (v *viewer) Find(ctx context.Context, id fs.FileID) (fs.Info, error) {
	return v.look(ctx, "find", inodePath(id), func() (fs.Info, error) { return find(v.s.x, id) })
}

func (v *viewer) look(ctx context.Context, op, p string, f func() (fs.Info, error)) (fs.Info, error) {
	switch {
	case v.over.Load():
		return fs.Info{}, fs.Closed(op, p)
	case ctx.Err() != nil:
		return fs.Info{}, ended(ctx, op, p, nil)
	}
	if err := checkPath(op, p); err != nil {
		return fs.Info{}, err
	}
	info, err := f()
	if err != nil {
		return fs.Info{}, failed(ctx, op, p, err, reading)
	}
	return info, nil
}
