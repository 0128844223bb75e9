package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Publish moves the file with rename2 and no option to overwrite: it is the
// NameNode that refuses to replace.
func (d *Driver) Publish(ctx context.Context, file fs.Info, final string, o fs.PublishOptions) error {
	from, to := file.Path, final
	if err := checkPath("publish", to); err != nil {
		return err
	}
	return d.change(ctx, "publish", from, func(s *session) error {
		st, err := getFileInfo(s.x, from)
		if err == nil && !isDir(st) && file.ID != "" && identity(st) != file.ID {
			err = fmt.Errorf("%w: another file is there", errNothing)
		}
		if err != nil {
			return publishFailed(ctx, from, to, err, reading)
		}
		if isDir(st) {
			return &fs.Error{Op: "publish", Path: from, Class: fs.Path, Err: errors.New("it is a directory")}
		}
		if err := s.ensureDir("publish", path.Dir(to), o.DirMode); err != nil {
			return err
		}
		if err := renameNoReplace(s.x, from, to); err != nil {
			return s.refused(ctx, from, to, identity(st), err)
		}
		return nil
	})
}

// refused is a rename of the file id that failed. Some answers are looked into,
// now that the call can't take effect any more: what the NameNode doesn't find
// may be either file's name or the new one's directory, and for other refusals
// it has no name. As long as the file still is at from, nothing has happened.
func (s *session) refused(ctx context.Context, from, to string, id fs.FileID, err error) error {
	var remote hdfs.Error
	if !errors.As(err, &remote) || s.broken.Load() {
		return publishFailed(ctx, from, to, err, changing)
	}
	v := judge(remote, changing)
	if v.class != fs.Missing && remote.Exception() != ioException {
		return publishFailed(ctx, from, to, err, changing)
	}
	st, statErr := getFileInfo(s.x, from)
	if statErr != nil || identity(st) != id {
		return publishFailed(ctx, from, to, err, changing)
	}
	class := fs.Path
	if _, statErr := getFileInfo(s.x, to); statErr == nil {
		class = fs.Exists // a directory
	}
	return &fs.Error{Op: "publish", Path: from, Class: class, Err: fmt.Errorf("as %s: %w", to, &remoteError{err, remote, ""})}
}

func publishFailed(ctx context.Context, from, to string, err error, e effect) error {
	err = failed(ctx, "publish", from, err, e)
	var wrapped *fs.Error
	if errors.As(err, &wrapped) {
		wrapped.Err = fmt.Errorf("as %s: %w", to, wrapped.Err)
	}
	return err
}
