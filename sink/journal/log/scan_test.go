package log

import (
	"bytes"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// memory is a file for a scanner, which only reads.
type memory struct{ *bytes.Reader }

var _ disk.File = memory{}

func (m memory) ReadDirect(b []byte, off int64) (int, error) { return m.ReadAt(b, off) }

func (memory) WriteAt([]byte, int64) (int, error) { panic("a scanner doesn't write") }
func (memory) WriteVec([][]byte, int64) error     { panic("a scanner doesn't write") }
func (memory) Allocate(int64) error               { panic("a scanner doesn't write") }
func (memory) Truncate(int64) error               { panic("a scanner doesn't write") }
func (memory) Sync() error                        { panic("a scanner doesn't sync") }
func (memory) Writeback(int64, int64) error       { return nil }
func (m memory) Size() (int64, error)             { return m.Reader.Size(), nil }
func (memory) Close() error                       { return nil }

func inMemory(content []byte) disk.File { return memory{bytes.NewReader(content)} }
