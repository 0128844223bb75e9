package hdfsfs

import (
	"context"
	"errors"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Discard deletes a file, also one that somebody holds for writing, whose writer
// then fails.
func (d *Driver) Discard(ctx context.Context, p string) error {
	return d.change(ctx, "discard", p, func(s *session) error {
		st, err := getFileInfo(s.x, p)
		if err != nil {
			return failed(ctx, "discard", p, err, reading)
		}
		if isDir(st) {
			return &fs.Error{Op: "discard", Path: p, Class: fs.Path, Err: errors.New("it is a directory")}
		}
		was, err := remove(s.x, p)
		if err == nil && !was {
			return errNothing
		}
		return err
	})
}
