package hdfsfs

import (
	"errors"
	"path"
	"strconv"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// HdfsFileStatusProto's flags, since Hadoop 3, and the bits beside the
// permissions that Hadoop 2 had for them.
const (
	flagEncrypted = 0x02
	flagErasure   = 0x04
	bitEncrypted  = 1 << 13
	bitErasure    = 1 << 14
	// modeBits are those that chmod takes.
	modeBits = 0o1777
)

const (
	adviceEncrypted = "the path is in an encryption zone, which this plugin can't write to: choose a directory outside of it"
	adviceErasure   = "the directory is erasure coded, which this plugin can't write to: choose another, or run hdfs ec -setPolicy -replicate -path on it"
)

func isDir(st *hdfs.FileStatus) bool { return st.GetFileType().String() == "IS_DIR" }

func modeOf(st *hdfs.FileStatus) uint32 { return st.GetPermission().GetPerm() & modeBits }

// identity is frozen: it is in journals. Inode numbers are given out once in a
// namespace.
func identity(st *hdfs.FileStatus) fs.FileID {
	return fs.FileID(strconv.FormatUint(st.GetFileId(), 10))
}

// inodePath is a path by which the NameNode finds a file wherever it is.
func inodePath(id fs.FileID) string { return "/.reserved/.inodes/" + string(id) }

// infoOf is what a status says of p. Whether a file is closed it doesn't say.
func infoOf(p string, st *hdfs.FileStatus) fs.Info {
	i := fs.Info{
		Path: p, ID: identity(st), ModTime: time.UnixMilli(int64(st.GetModificationTime())).UTC(),
		Dir: isDir(st), Closed: isDir(st),
	}
	if !i.Dir {
		i.Length = int64(st.GetLength())
	}
	return i
}

// stat describes p; errNothing if there is nothing.
func stat(x executor, p string) (fs.Info, error) {
	i, _, err := statMode(x, p)
	return i, err
}

// statMode is stat, and the permission bits.
func statMode(x executor, p string) (fs.Info, uint32, error) {
	st, err := getFileInfo(x, p)
	if err != nil {
		return fs.Info{}, 0, err
	}
	i := infoOf(p, st)
	if !i.Dir {
		// By its number, since there may be another file at p by now.
		i.Closed, err = isFileClosed(x, inodePath(i.ID))
	}
	return i, modeOf(st), err
}

// writable says whether files can be written in the directory that st is of.
func writable(st *hdfs.FileStatus) error {
	perm, flags := st.GetPermission().GetPerm(), st.GetFlags()
	switch {
	case flags&flagEncrypted != 0 || perm&bitEncrypted != 0 || st.GetFileEncryptionInfo() != nil:
		return errors.New(adviceEncrypted)
	case flags&flagErasure != 0 || perm&bitErasure != 0 || st.GetEcPolicy() != nil:
		return errors.New(adviceErasure)
	}
	return nil
}

// ensureDir makes p and its missing parents with mode, and checks that files
// can be written in p. Of directories that exist no mode is changed.
func (s *session) ensureDir(op, p string, mode uint32) error {
	st, err := getFileInfo(s.x, p)
	if errors.Is(err, errNothing) {
		if err := s.ensureDir(op, path.Dir(p), mode); err != nil {
			return err
		}
		st, err = s.makeDir(p, mode)
	}
	if err != nil {
		return directoryError(op, p, err)
	}
	if !isDir(st) {
		return &fs.Error{Op: op, Path: p, Class: fs.Path, Err: errors.New(adviceParent)}
	}
	if err := writable(st); err != nil {
		return &fs.Error{Op: op, Path: p, Class: fs.Unsupported, Err: err}
	}
	return nil
}

// makeDir makes a directory that wasn't there and gives it exactly mode, 0
// leaving it to the umask.
func (s *session) makeDir(p string, mode uint32) (*hdfs.FileStatus, error) {
	first := mode
	if mode == 0 {
		first = 0o777 &^ s.c.umask
	}
	if err := mkdirs(s.x, p, first); err != nil {
		return nil, err
	}
	st, err := getFileInfo(s.x, p)
	if err != nil || mode == 0 || !isDir(st) || modeOf(st) == mode || s.c.kerberos == nil && st.GetOwner() != s.c.user {
		return st, err // of another owner: somebody else made it at the same time
	}
	// A default ACL of the directory above took some of the mode away.
	err = setPermission(s.x, p, mode)
	var remote hdfs.Error
	if s.c.kerberos != nil && errors.As(err, &remote) && remote.Exception() == accessControl {
		// Of another owner: which that is the cluster decides by its
		// hadoop.security.auth_to_local, so that names can't be compared.
		err = nil
	}
	return st, err
}

// directoryError is what came between an operation and a directory that it
// needs. Whether that one is missing, or a file, is no answer about the
// operation's own path.
func directoryError(op, p string, err error) error {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		if v := judge(remote, changing); v.class == fs.Exists {
			return &fs.Error{Op: op, Path: p, Class: fs.Path, Err: &remoteError{err, remote, adviceParent}}
		} else if v.class == fs.Missing {
			return &fs.Error{Op: op, Path: p, Class: fs.Path, Err: &remoteError{err, remote, "a directory above was removed meanwhile"}}
		}
	}
	if errors.Is(err, errNothing) {
		return &fs.Error{Op: op, Path: p, Class: fs.Path, Err: errors.New("the directory was removed meanwhile")}
	}
	return err
}
