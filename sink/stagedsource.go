package sink

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// stagedError says that a staged file isn't what was journaled.
type stagedError struct{ err error }

func (e *stagedError) Error() string { return e.err.Error() }
func (e *stagedError) Unwrap() error { return e.err }

// stagedSource is a staged file to be uploaded. It checks what is read of it on
// the way: the read that completes the content fails with a *stagedError if that
// isn't what was journaled, so that no driver gets a wrong file whole.
type stagedSource struct {
	disk.File
	size int64
	crc  uint32 // of the content that was journaled

	at  int64  // bytes read so far, from the beginning on
	sum uint32 // of them
}

// Size implements fs.Source.
func (s *stagedSource) Size() int64 { return s.size }

// ReadAt implements fs.Source.
func (s *stagedSource) ReadAt(b []byte, off int64) (int, error) {
	n, err := s.File.ReadAt(b, off)
	if off == 0 { // also when a driver begins once more
		s.at, s.sum = 0, 0
	}
	if off != s.at || n == 0 {
		return n, err
	}
	s.at += int64(n)
	s.sum = crc32.Update(s.sum, castagnoli, b[:n])
	if s.at == s.size && s.sum != s.crc {
		return 0, s.damaged()
	}
	return n, err
}

func (s *stagedSource) damaged() error {
	return &stagedError{fmt.Errorf("its %d bytes have the checksum %08x and not %08x", s.size, s.sum, s.crc)}
}

// checked reports whether all of the content was read and is what was journaled.
func (s *stagedSource) checked() bool { return s.at == s.size && s.sum == s.crc }

// OSFile lets a driver have the kernel copy; nil if there is no such file. What
// the kernel copies nobody sees, so the content is checked before. If it is
// wrong or can't be read, whoever reads it himself finds out why.
func (s *stagedSource) OSFile() *os.File {
	f, ok := s.File.(interface{ OSFile() *os.File })
	if !ok || f.OSFile() == nil {
		return nil
	}
	if !s.checked() {
		sum, n, err := checksum(s.File, s.size)
		if err != nil || n != s.size || sum != s.crc {
			return nil
		}
		s.at, s.sum = n, sum
	}
	return f.OSFile()
}

// asideDir receives staged files that aren't what was journaled.
const asideDir = "aside"

// openStaged opens a part's staged file.
func (s *Sink) openStaged(p journal.Part) (*stagedSource, error) {
	f, err := s.disk.Open(p.Staged)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &stagedError{fmt.Errorf("it is missing: %w", err)}
		}
		return nil, fmt.Errorf("open staged file: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read staged file %s: %w", p.Staged, err), f.Close())
	}
	if size != p.Length {
		_ = f.Close()
		return nil, &stagedError{fmt.Errorf("it has %d bytes and not %d", size, p.Length)}
	}
	return &stagedSource{File: f, size: p.Length, crc: p.CRC}, nil
}

// setAside moves a wrong staged file out of the way, and answers where it is
// then: where it was, if it is missing there and wasn't set aside before.
func (s *Sink) setAside(p journal.Part) (string, error) {
	aside := fmt.Sprintf("%s/%d", asideDir, p.Number)
	err := errors.Join(s.disk.Mkdir(asideDir), s.disk.Rename(p.Staged, aside))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if f, err := s.disk.Open(aside); err == nil {
			return s.cfg.StateDir + "/" + aside, f.Close()
		}
		return s.cfg.StateDir + "/" + p.Staged, nil
	case err != nil:
		return "", fmt.Errorf("set a damaged staged file aside: %w", err)
	}
	return s.cfg.StateDir + "/" + aside, nil
}

// checksum reads the first size bytes, and fewer if there are no more.
func checksum(f io.ReaderAt, size int64) (sum uint32, n int64, err error) {
	buf := make([]byte, min(256<<10, size))
	for n < size {
		k, err := f.ReadAt(buf[:min(int64(len(buf)), size-n)], n)
		sum = crc32.Update(sum, castagnoli, buf[:k])
		n += int64(k)
		if errors.Is(err, io.EOF) {
			return sum, n, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return sum, n, nil
}
