package staging

import (
	"fmt"
	"hash/crc32"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

const (
	// bufferSize is how many bytes a staged file gathers before it writes them:
	// 256 open buckets hold 16 MiB.
	bufferSize = 64 << 10
	// largestBuffer is what a staged file keeps of its buffer: a share may be
	// larger than bufferSize, and appended to a buffer nearly full.
	largestBuffer = 4 * bufferSize
	// writebackEvery is how many bytes are written before the disk is asked to
	// begin with them, so that the sync at the roll, and the journal's syncs
	// meanwhile, find little to do.
	writebackEvery = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File is the staged file of an in-progress part. Write never fails, so that no
// encoder sees an error of the disk: what can't be written stays in memory until
// Flush succeeds.
type File struct {
	area  *Area
	name  string
	file  disk.File
	buf   []byte
	at    int64  // bytes written to the file
	crc   uint32 // CRC-32C of them
	begun int64  // bytes whose writeback was asked for
	err   error  // of the last attempt to write
	lost  error  // why what was written can't be trusted, whatever a sync says
	done  bool   // it is synced and closed
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	f.area.bytes.Add(int64(len(b))) // also what is written later: it will take that space
	if f.err == nil && len(f.buf) == 0 && len(b) >= bufferSize {
		if f.err = f.put(b); f.err == nil {
			return len(b), nil
		}
	}
	f.buf = append(f.buf, b...)
	if f.err == nil && len(f.buf) >= bufferSize {
		_ = f.Flush()
	}
	return len(b), nil
}

// Flush writes what is in memory. It may be called again after an error.
func (f *File) Flush() error {
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

func (f *File) put(b []byte) error {
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

// MakeDurable syncs and closes the file, which must be flushed, and syncs its
// folder. After an error the file can't be trusted: a failed sync can't be
// repeated. The exception is openfiles.Exhausted, of the folder that could not be
// opened: call it again.
func (f *File) MakeDurable() error {
	if f.lost != nil {
		return f.lost
	}
	if !f.done {
		if err := f.file.Sync(); err != nil {
			return fmt.Errorf("sync staged file: %w", err)
		}
		if err := f.file.Close(); err != nil {
			return fmt.Errorf("close staged file: %w", err)
		}
		f.done = true
	}
	if err := f.area.disk.SyncDir(dir); err != nil {
		return fmt.Errorf("sync the staging directory: %w", err)
	}
	return nil
}

// Err is why the last write failed, nil if it didn't.
func (f *File) Err() error { return f.err }

// Size is the bytes of the file and of what is still in memory.
func (f *File) Size() int64 { return f.at + int64(len(f.buf)) }

// Buffered is the memory that the file holds.
func (f *File) Buffered() int64 { return int64(cap(f.buf)) }

// Staged describes what is written of the file.
func (f *File) Staged() Staged { return Staged{f.name, f.at, f.crc} }

// Close closes a file that stays unfinished. The next start removes it.
func (f *File) Close() error { return f.file.Close() }
