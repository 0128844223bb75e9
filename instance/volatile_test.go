package instance

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCheckVolatile(t *testing.T) {
	const ext4 = unix.EXT4_SUPER_MAGIC
	for _, tc := range []struct {
		name  string
		disks map[string]int64 // what exists, and on what
		asked []string
		err   error
	}{
		{"a disk", map[string]int64{"/var/lib/out_hdfs": ext4}, []string{"/var/lib/out_hdfs"}, nil},
		{"a volume on a container's layer", map[string]int64{"/": unix.OVERLAYFS_SUPER_MAGIC, "/var/lib/out_hdfs": unix.XFS_SUPER_MAGIC}, []string{"/var/lib/out_hdfs"}, nil},
		{"tmpfs", map[string]int64{"/var/lib/out_hdfs": unix.TMPFS_MAGIC}, []string{"/var/lib/out_hdfs"}, ErrVolatile},
		{"ramfs, its number negative as 32 bits", map[string]int64{"/var/lib/out_hdfs": -0x7a7ba70a}, []string{"/var/lib/out_hdfs"}, ErrVolatile},
		{"not made yet, on a disk", map[string]int64{"/var": ext4, "/": unix.TMPFS_MAGIC}, []string{"/var/lib/out_hdfs", "/var/lib", "/var"}, nil},
		{"not made yet, a container's layer", map[string]int64{"/": unix.OVERLAYFS_SUPER_MAGIC}, []string{"/var/lib/out_hdfs", "/var/lib", "/var", "/"}, ErrVolatile},
		{"nothing exists", nil, []string{"/var/lib/out_hdfs", "/var/lib", "/var", "/"}, os.ErrNotExist},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked []string
			err := CheckVolatile("/var/lib/out_hdfs", func(path string) (int64, error) {
				asked = append(asked, path)
				if kind, ok := tc.disks[path]; ok {
					return kind, nil
				}
				return 0, &os.PathError{Op: "statfs", Path: path, Err: syscall.ENOENT}
			})
			if !errors.Is(err, tc.err) || !slices.Equal(asked, tc.asked) {
				t.Errorf("error %v after asking for %v", err, asked)
			}
		})
	}
}

func TestAnErrorOfTheHostIsNoVerdict(t *testing.T) {
	err := CheckVolatile("/var/lib/out_hdfs", func(string) (int64, error) { return 0, syscall.EACCES })
	if !errors.Is(err, syscall.EACCES) || errors.Is(err, ErrVolatile) {
		t.Errorf("error is %v", err)
	}
}

func TestStatfsOfThisHost(t *testing.T) {
	if kind, err := Statfs("/proc"); err != nil || kind != unix.PROC_SUPER_MAGIC {
		t.Errorf("/proc is %#x, error %v", kind, err)
	}
	if _, err := Statfs(t.TempDir() + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}
