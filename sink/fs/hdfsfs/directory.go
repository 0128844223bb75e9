package hdfsfs

import (
	"context"
	"errors"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// MkdirAll makes p and its missing parents. Directories that files can't be
// written to are refused.
func (f *FileSystem) MkdirAll(ctx context.Context, p string, mode uint32) error {
	return f.change(ctx, "mkdir", p, func(s *session) error { return s.ensureDir("mkdir", p, mode) })
}

// Remove deletes a file, also one that somebody holds for writing, whose writer
// then fails.
func (f *FileSystem) Remove(ctx context.Context, p string) error {
	return f.change(ctx, "remove", p, func(s *session) error {
		st, err := getFileInfo(s.x, p)
		if err != nil {
			return failed(ctx, "remove", p, err, reading)
		}
		if isDir(st) {
			return &fs.Error{Op: "remove", Path: p, Class: fs.Path, Err: errors.New("it is a directory")}
		}
		was, err := remove(s.x, p)
		if err == nil && !was {
			return errNothing
		}
		return err
	})
}
