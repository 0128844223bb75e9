package sink

import (
	"errors"
	"syscall"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

// badWriteback is a file on a disk that fails early, and says so once.
type badWriteback struct {
	disk.File
	told bool
}

func (f *badWriteback) Writeback(int64, int64) error {
	if f.told {
		return nil
	}
	f.told = true
	return syscall.EIO
}

// TestAWritebackThatFails spoils the part: the kernel has dropped what it could
// not write, and no sync says so.
func TestAWritebackThatFails(t *testing.T) {
	staged, err := createStaged(crashdisk.New(), "part", func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	staged.file = &badWriteback{File: staged.file}
	if _, err := staged.Write(make([]byte, 3*writebackEvery)); err != nil {
		t.Fatal(err)
	}
	if _, err := staged.Write(make([]byte, writebackEvery)); err != nil {
		t.Fatal(err)
	}
	if err := new(Sink).end(t.Context(), &part{file: staged}); !errors.Is(err, syscall.EIO) {
		t.Errorf("the part ended with %v", err)
	}
}
