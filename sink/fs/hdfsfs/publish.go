package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Publish moves the file with rename2 and without the option to overwrite: it is
// the NameNode that refuses to replace. What its answer means is decided here
// alone:
//
//	answer to rename2                          the file is still at from   class
//	success                                                                nil
//	FileAlreadyExistsException                                             Exists
//	FileNotFoundException                      no                          Missing
//	IOException, which is any other reason     no                          Unclear
//	either of these two                        yes, nothing is at final    Path
//	either of these two                        yes, something is at final  Exists
//	permission, quota, a name's length, …                                  Path
//	safe mode, standby, busy                                               Target
//	any other exception                                                    Unclear
//	none: the connection failed, or ctx ended                              Unclear
//	none: no connection was made                                           Target
//
// The classes of exceptions are those of the table exceptions. Two of them say
// too little: what FileNotFoundException doesn't find may be the file or the new
// name's directory, and IOException has all reasons that have no name of their
// own. After those the NameNode is asked where the file is. As long as it still
// is at from nothing has happened, and nothing will, since the answer has come.
func (d *Driver) Publish(ctx context.Context, file fs.Info, final string, o fs.PublishOptions) error {
	from := file.Path
	if err := checkPath("publish", final); err != nil {
		return err
	}
	return d.change(ctx, "publish", from, func(s *session) error {
		st, err := getFileInfo(s.x, from)
		if err == nil && !isDir(st) && file.ID != "" && identity(st) != file.ID {
			err = fmt.Errorf("%w: another file is there", errNothing)
		}
		if err != nil {
			return publishFailed(ctx, from, final, err, reading)
		}
		if isDir(st) {
			return &fs.Error{Op: "publish", Path: from, Class: fs.Path, Err: errors.New("it is a directory")}
		}
		if err := s.ensureDir("publish", path.Dir(final), o.DirMode); err != nil {
			return err
		}
		return s.rename(ctx, from, final, identity(st))
	})
}

// rename renames the file with the identity, and says what the answer means.
func (s *session) rename(ctx context.Context, from, final string, id fs.FileID) error {
	err := renameNoReplace(s.x, from, final)
	if err == nil {
		return nil
	}
	var remote hdfs.Error
	answered := errors.As(err, &remote) && !s.broken.Load()
	if !answered || !saysTooLittle(remote) || !s.has(from, id) {
		return publishFailed(ctx, from, final, err, changing)
	}
	class := fs.Path
	if _, err := getFileInfo(s.x, final); err == nil {
		class = fs.Exists
	}
	return &fs.Error{Op: "publish", Path: from, Class: class, Err: fmt.Errorf("as %s: %w", final, &remoteError{err, remote, ""})}
}

// saysTooLittle is true for the two answers to rename2 that Publish describes.
func saysTooLittle(remote hdfs.Error) bool {
	return remote.Exception() == ioException || judge(remote, changing).class == fs.Missing
}

// has reports whether the file with the identity is at p for sure.
func (s *session) has(p string, id fs.FileID) bool {
	st, err := getFileInfo(s.x, p)
	return err == nil && identity(st) == id
}

// publishFailed is failed, with both names.
func publishFailed(ctx context.Context, from, final string, err error, e effect) error {
	err = failed(ctx, "publish", from, err, e)
	var wrapped *fs.Error
	if errors.As(err, &wrapped) {
		wrapped.Err = fmt.Errorf("as %s: %w", final, wrapped.Err)
	}
	return err
}
