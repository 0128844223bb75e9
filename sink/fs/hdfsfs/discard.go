package hdfsfs

import (
	"context"
	"errors"
	"path"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Discard deletes a file, also one that somebody holds for writing, whose writer
// then fails. That it has deleted the file is acknowledged as an edit. That there
// was nothing to delete is none, and a NameNode that was deposed and doesn't know
// it yet would say so of a file that was made since: so it counts only between
// two edits, as in Locate.
func (d *Driver) Discard(ctx context.Context, p string) error {
	return d.change(ctx, "discard", p, func(s *session) error {
		st, err := getFileInfo(s.x, p)
		if err != nil && !nothingThere(err) {
			return failed(ctx, "discard", p, err, reading)
		}
		if err == nil && isDir(st) {
			return &fs.Error{Op: "discard", Path: p, Class: fs.Path, Err: errors.New("it is a directory")}
		}
		if err == nil {
			if was, err := remove(s.x, p); err != nil || was {
				return err
			}
		}
		return s.missing(ctx, p)
	})
}

// missing is errNothing once it is certain that there is nothing at p.
func (s *session) missing(ctx context.Context, p string) error {
	place, err := s.locate(ctx, "", path.Dir(p), []string{p})
	if err != nil {
		return err
	}
	if place.Names[0].Exists {
		return &fs.Error{Op: "discard", Path: p, Class: fs.Unclear, Err: errors.New("there was nothing, and a file appeared meanwhile")}
	}
	return errNothing
}
