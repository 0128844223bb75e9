package fs

import (
	"fmt"
	"io"
)

// Source is the content of an Upload, read once from 0 to Size by ReadAt. If it
// also has a method OSFile() *os.File, a driver may let the kernel copy.
type Source interface {
	io.ReaderAt
	Size() int64 // bytes
}

// SourceError says that an Upload's content could not be read at a byte. It says
// nothing about the target.
type SourceError struct {
	Offset int64
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("read what is to be written, at byte %d: %v", e.Offset, e.Err)
}
func (e *SourceError) Unwrap() error { return e.Err }

// ReadSlice reads the next bytes of src into p, from off on, for a driver that
// uploads it. Of what follows the content p gets nothing. The n bytes are good
// even with an error, which is a *SourceError: no more of src will come.
func ReadSlice(src Source, p []byte, off int64) (n int, err error) {
	n, err = src.ReadAt(p[:min(int64(len(p)), src.Size()-off)], off)
	off += int64(n)
	switch {
	case off == src.Size() && (err == nil || err == io.EOF):
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case err == nil && n == 0:
		err = io.ErrNoProgress
	}
	if err != nil {
		return n, &SourceError{off, err}
	}
	return n, nil
}
