package conf

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const defaultStateDir = "/var/lib/out_hdfs"

// DefaultStateDir is where an instance without state_dir keeps its state.
// stateDirectory is $STATE_DIRECTORY, see Environment.
func DefaultStateDir(stateDirectory string) string {
	if first, _, _ := strings.Cut(stateDirectory, ":"); first != "" {
		return first
	}
	return defaultStateDir
}

func stateDirOption(env Environment) Option {
	fallback := DefaultStateDir(env.StateDirectory)
	o := Option{Key: KeyStateDir, Kind: Path, DefaultText: "`$STATE_DIRECTORY`, else `" + defaultStateDir + "`",
		Help: "Where journal and staged parts are kept: a disk that survives a restart, one directory for each instance, made if it is missing. " +
			"The default is refused on tmpfs and on a container's own layer.",
		Example: defaultStateDir}.text(func(s *Settings) *string { return &s.StateDir }, absolute)
	o.Default = fallback
	given := o.render
	o.render = func(s *Settings) (string, bool) {
		text, ok := given(s)
		return text, ok && !s.StateDirDefault
	}
	return o
}

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
// (Settings.StateDirDefault); who names one may have reasons.
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
			return fmt.Errorf("%s %s is in memory (tmpfs): %w; set %s to a directory on a disk", KeyStateDir, dir, ErrVolatile, KeyStateDir)
		case unix.OVERLAYFS_SUPER_MAGIC:
			return fmt.Errorf("%s %s is on the container's own layer (overlayfs): %w; mount a volume and set %s to a directory on it",
				KeyStateDir, dir, ErrVolatile, KeyStateDir)
		}
		return nil
	}
}
