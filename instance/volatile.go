package instance

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/conf"
)

// ErrVolatile is in the error of a directory that doesn't survive.
var ErrVolatile = errors.New("it doesn't survive a restart")

// Statfs answers with the type of the file system that holds path, as Linux's
// statfs(2) numbers it. It is how CheckVolatile looks at the host.
func Statfs(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	return int64(st.Type), nil
}

// CheckVolatile tells whether dir, which needn't exist yet, would be on a file
// system that is gone after a restart: memory, or a container's own layer. The
// error then wraps ErrVolatile. It is for a state directory that nobody chose
// (conf.StateSettings.DirIsDefault); who names one may have reasons.
func CheckVolatile(dir string, statfs func(path string) (int64, error)) error {
	for at := dir; ; at = path.Dir(at) {
		kind, err := statfs(at)
		if errors.Is(err, os.ErrNotExist) && at != "/" && at != "." {
			continue
		}
		if err != nil {
			return fmt.Errorf("find out where %s would be: %w", dir, err)
		}
		// As integers of every width: some of these don't fit an int32.
		switch uint32(kind) {
		case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
			return fmt.Errorf("%s %s is in memory (tmpfs): %w; set %s to a directory on a disk", conf.KeyStateDir, dir, ErrVolatile, conf.KeyStateDir)
		case unix.OVERLAYFS_SUPER_MAGIC:
			return fmt.Errorf("%s %s is on the container's own layer (overlayfs): %w; mount a volume and set %s to a directory on it",
				conf.KeyStateDir, dir, ErrVolatile, conf.KeyStateDir)
		}
		return nil
	}
}
