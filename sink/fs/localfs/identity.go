package localfs

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// statMask is what an Info needs.
const statMask = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_NLINK | unix.STATX_INO | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_BTIME

// statx describes p itself, or what it leads to if follow is set. A network
// file system asks its server instead of its cache.
func statx(p string, follow bool) (unix.Statx_t, error) {
	flags := unix.AT_STATX_FORCE_SYNC
	if !follow {
		flags |= unix.AT_SYMLINK_NOFOLLOW
	}
	var st unix.Statx_t
	err := again(func() error { return unix.Statx(unix.AT_FDCWD, p, flags, statMask, &st) })
	return st, err
}

func isDir(st unix.Statx_t) bool     { return st.Mode&unix.S_IFMT == unix.S_IFDIR }
func isSymlink(st unix.Statx_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFLNK }

// identity is frozen: it is in journals.
func identity(st unix.Statx_t) fs.FileID {
	if st.Mask&unix.STATX_BTIME == 0 {
		return fs.FileID(fmt.Sprintf("i%d", st.Ino))
	}
	return fs.FileID(fmt.Sprintf("i%d.%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec))
}

// info is what st says of p. Whether a local file still has a writer can't be
// known, and doesn't matter: what was closed or not is on the disk alike.
func info(p string, st unix.Statx_t) fs.Info {
	i := fs.Info{
		Path: p, ID: identity(st), ModTime: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)).UTC(),
		Dir: isDir(st), Closed: true,
	}
	if !i.Dir {
		i.Length = int64(st.Size)
	}
	return i
}
