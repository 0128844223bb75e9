package localfs

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// failed wraps what an operation met. changed says that the operation had
// begun to change something, so that an error which doesn't say what happened
// leaves that open.
func failed(op, p string, err error, changed bool) error {
	class, advice := classify(err, changed)
	if advice != "" {
		err = fmt.Errorf("%w; %s", err, advice)
	}
	return &fs.Error{Op: op, Path: p, Class: class, Err: err}
}

// unclear wraps an error behind which the operation may have taken effect,
// whatever the error itself would mean elsewhere.
func unclear(op, p string, err error) error {
	return &fs.Error{Op: op, Path: p, Class: fs.Unclear, Err: err}
}

// classify says what an errno means, and what an operator can do.
func classify(err error, changed bool) (fs.Class, string) {
	if errors.Is(err, errModeRefused) {
		return fs.Path, "set `file_mode none` and `dir_mode none`"
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fs.Unclear, ""
	}
	switch errno {
	case syscall.ENOENT:
		return fs.Missing, ""
	case syscall.EEXIST:
		return fs.Exists, ""
	case syscall.EACCES, syscall.EPERM:
		return fs.Path, fmt.Sprintf("give user id %d write and search permission on the directories above, or remove what protects them", os.Geteuid())
	case syscall.EROFS:
		return fs.Path, "remount the file system for writing, or choose another path"
	case syscall.EDQUOT:
		return fs.Path, "raise the quota or make room below it"
	case syscall.ENAMETOOLONG:
		return fs.Path, "shorten the bucket's or the part's name"
	case syscall.ENOTDIR:
		return fs.Path, "a file is where a directory should be: move it away"
	case syscall.EISDIR:
		return fs.Path, "a directory is where a file should be: move it away"
	case syscall.ELOOP, syscall.EMLINK, syscall.EINVAL, syscall.EILSEQ, syscall.EBUSY, syscall.ETXTBSY, syscall.EFBIG:
		return fs.Path, ""
	case syscall.ENOSPC:
		return fs.Target, "make room on the file system"
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return fs.Target, "raise the limit of open files or memory of this process"
	case syscall.EXDEV, syscall.ENOSYS, syscall.EOPNOTSUPP:
		return fs.Unsupported, ""
	case syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ECONNREFUSED, syscall.ENOTCONN:
		// The server of a network file system is away.
		if !changed {
			return fs.Target, "bring the server of this mount back, or mount it again"
		}
	}
	return fs.Unclear, ""
}
