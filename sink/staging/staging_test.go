package staging

import (
	"bytes"
	"errors"
	"hash/crc32"
	"log/slog"
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
	area := New(crashdisk.New(), "/state", slog.New(slog.DiscardHandler))
	if err := area.Recover(nil); err != nil {
		t.Fatal(err)
	}
	staged, err := area.Create(1)
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
	if err := staged.MakeDurable(); !errors.Is(err, syscall.EIO) {
		t.Errorf("the part ended with %v", err)
	}
}

// TestASourceIsCheckedOnTheWay: whoever reads a staged file, or has the kernel
// read it, never gets a wrong one whole.
func TestASourceIsCheckedOnTheWay(t *testing.T) {
	root, err := disk.NewOS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("0123456789"), 100_000)
	file, err := disk.Guard(root, (&fence{}).pass, func() {}).Create("part")
	if err == nil {
		_, err = file.WriteAt(content, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := func(s *Source, from, slice int64) (err error) {
		buf := make([]byte, slice)
		for off := from; off < s.size && err == nil; {
			var n int
			n, err = s.ReadAt(buf[:min(slice, s.size-off)], off)
			off += int64(n)
		}
		return err
	}
	right := crc32.Checksum(content, castagnoli)
	for _, crc := range []uint32{right, right + 1} {
		fresh := func() *Source {
			return &Source{File: file, size: int64(len(content)), crc: crc}
		}
		s, ok := fresh(), crc == right
		if s.Checked() {
			t.Error("it is checked before it was read")
		}
		if got := s.OSFile() != nil; got != ok || s.Checked() != ok {
			t.Errorf("crc %08x: the kernel may copy: %v", crc, got)
		}
		s = fresh()
		if err := read(s, 0, 4096); (err == nil) != ok || s.Checked() != ok {
			t.Errorf("crc %08x: read: %v", crc, err)
		}
		if err := read(s, 0, 999); (err == nil) != ok || s.Checked() != ok {
			t.Errorf("crc %08x: read again: %v", crc, err)
		}
		s = fresh()
		if err := read(s, 10, 4096); err != nil || s.Checked() {
			t.Errorf("crc %08x: without its beginning: %v", crc, err)
		}
	}
}
