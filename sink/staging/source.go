package staging

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// WrongError says that a staged file isn't what was journaled.
type WrongError struct{ Err error }

func (e *WrongError) Error() string { return e.Err.Error() }
func (e *WrongError) Unwrap() error { return e.Err }

// Source is a staged file to be uploaded. It checks what is read of it on the
// way: the read that completes the content fails with a *WrongError if that isn't
// what was journaled, so that no driver gets a wrong file whole.
type Source struct {
	disk.File
	size int64
	crc  uint32 // of the content that was journaled

	at  int64  // bytes read so far, from the beginning on
	sum uint32 // of them
}

// Open opens a pending part's staged file. The error is a *WrongError if the
// file is missing or too short. What follows the content is no part of the Source.
func (a *Area) Open(s Staged) (*Source, error) {
	f, err := a.disk.Open(s.Name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &WrongError{fmt.Errorf("it is missing: %w", err)}
		}
		return nil, fmt.Errorf("open staged file: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read staged file %s: %w", s.Name, err), f.Close())
	}
	if size < s.Length {
		_ = f.Close()
		return nil, &WrongError{fmt.Errorf("it has %d bytes and not %d", size, s.Length)}
	}
	return &Source{File: f, size: s.Length, crc: s.CRC}, nil
}

// Size is the length of the content, in bytes.
func (s *Source) Size() int64 { return s.size }

// ReadAt implements io.ReaderAt.
func (s *Source) ReadAt(b []byte, off int64) (int, error) {
	if off >= s.size {
		return 0, io.EOF
	}
	short := int64(len(b)) > s.size-off
	n, err := s.File.ReadAt(b[:min(int64(len(b)), s.size-off)], off)
	if err == nil && short {
		err = io.EOF
	}
	if off == 0 { // also when a driver begins once more
		s.at, s.sum = 0, 0
	}
	if off != s.at || n == 0 {
		return n, err
	}
	s.at += int64(n)
	s.sum = crc32.Update(s.sum, castagnoli, b[:n])
	if s.at == s.size && s.sum != s.crc {
		return 0, s.wrong()
	}
	return n, err
}

// ErrMisread says that a staged file was read wrong, and is right on the disk.
var ErrMisread = errors.New("the staged file was read wrong, and right once more from the disk: check the machine's memory")

// wrong is what to say of a content with another checksum. That isn't believed
// before the disk itself was asked.
func (s *Source) wrong() error {
	sum, n, err := checksum(direct{s.File}, s.size)
	switch {
	case err != nil:
		return fmt.Errorf("read staged file once more from the disk: %w", err)
	case n == s.size && sum == s.crc:
		return ErrMisread
	}
	return &WrongError{fmt.Errorf("its %d bytes have the checksum %08x and not %08x", s.size, s.sum, s.crc)}
}

// direct reads a file from the disk itself.
type direct struct{ disk.File }

func (d direct) ReadAt(b []byte, off int64) (int, error) { return d.ReadDirect(b, off) }

// Checked reports whether all of the content was read and is what was journaled.
func (s *Source) Checked() bool { return s.at == s.size && s.sum == s.crc }

// OSFile lets a driver have the kernel copy; nil if there is no such file. What
// the kernel copies nobody sees, so the content is checked before. If it is
// wrong or can't be read, whoever reads it himself finds out why.
func (s *Source) OSFile() *os.File {
	f, ok := s.File.(interface{ OSFile() *os.File })
	if !ok || f.OSFile() == nil {
		return nil
	}
	if !s.Checked() {
		sum, n, err := checksum(s.File, s.size)
		if err != nil || n != s.size || sum != s.crc {
			return nil
		}
		s.at, s.sum = n, sum
	}
	return f.OSFile()
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
