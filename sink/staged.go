package sink

import (
	"fmt"
	"hash/crc32"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// stagedDir holds the staged files in the state directory.
const stagedDir = "staged"

const (
	// stagedBuffer is how many bytes a staged file gathers before it writes
	// them: 256 open buckets hold 16 MiB.
	stagedBuffer = 64 << 10
	// largestBuffer is what a staged file keeps of its buffer: a share may be
	// larger than stagedBuffer, and appended to a buffer nearly full.
	largestBuffer = 4 * stagedBuffer
	// writebackEvery is how many bytes are written before the disk is asked to
	// begin with them, so that the sync at the roll, and the journal's syncs
	// meanwhile, find little to do.
	writebackEvery = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stagedFile is the file of an in-progress part. Write never fails, so that no
// encoder sees an error of the disk: what can't be written stays in memory
// until flush succeeds.
type stagedFile struct {
	name  string
	file  disk.File
	buf   []byte
	at    int64  // bytes written to the file
	crc   uint32 // CRC-32C of them
	begun int64  // bytes whose writeback was asked for
	err   error  // of the last attempt to write
	lost  error  // why what was written can't be trusted, whatever a sync says
	count func(n int64)
}

// createStaged creates the file. count hears of the bytes that it takes.
func createStaged(d disk.Disk, name string, count func(n int64)) (*stagedFile, error) {
	f, err := d.Create(name)
	if err != nil {
		return nil, fmt.Errorf("create staged file: %w", err)
	}
	return &stagedFile{name: name, file: f, count: count}, nil
}

// Write implements io.Writer.
func (f *stagedFile) Write(b []byte) (int, error) {
	f.count(int64(len(b))) // also what is written later: it will take that space
	if f.err == nil && len(f.buf) == 0 && len(b) >= stagedBuffer {
		if f.err = f.put(b); f.err == nil {
			return len(b), nil
		}
	}
	f.buf = append(f.buf, b...)
	if f.err == nil && len(f.buf) >= stagedBuffer {
		_ = f.flush()
	}
	return len(b), nil
}

// flush writes what is in memory. It may be called again after an error.
func (f *stagedFile) flush() error {
	if len(f.buf) > 0 {
		if f.err = f.put(f.buf); f.err != nil {
			return f.err
		}
		if f.buf = f.buf[:0]; cap(f.buf) > largestBuffer {
			f.buf = nil // it grew while the disk could not be written
		}
	}
	f.err = nil
	return nil
}

func (f *stagedFile) put(b []byte) error {
	if _, err := f.file.WriteAt(b, f.at); err != nil {
		return fmt.Errorf("write staged file: %w", err)
	}
	f.at += int64(len(b))
	f.crc = crc32.Update(f.crc, castagnoli, b)
	if f.at-f.begun >= writebackEvery {
		if err := f.file.Writeback(f.begun, f.at-f.begun); err != nil && f.lost == nil {
			f.lost = fmt.Errorf("write back staged file: %w", err)
		}
		f.begun = f.at
	}
	return nil
}

// size is the bytes of the file and of what is still in memory.
func (f *stagedFile) size() int64 { return f.at + int64(len(f.buf)) }
