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

// stagedSource is a staged file to be uploaded.
type stagedSource struct {
	disk.File
	size int64
}

// Size implements fs.Source.
func (s *stagedSource) Size() int64 { return s.size }

// OSFile lets a driver have the kernel copy; nil if there is no such file.
func (s *stagedSource) OSFile() *os.File {
	if f, ok := s.File.(interface{ OSFile() *os.File }); ok {
		return f.OSFile()
	}
	return nil
}

// asideDir receives staged files that aren't what was journaled.
const asideDir = "aside"

// openStaged opens a part's staged file after checking every byte of it. A
// wrong one is set aside.
func (s *Sink) openStaged(p journal.Part) (*stagedSource, error) {
	f, err := s.disk.Open(p.Staged)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &stagedError{fmt.Errorf("the staged file is missing: %w", err)}
		}
		return nil, fmt.Errorf("open staged file: %w", err)
	}
	sum, n, err := checksum(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read staged file %s: %w", p.Staged, err), f.Close())
	}
	if n != p.Length || sum != p.CRC {
		_ = f.Close()
		aside := fmt.Sprintf("%s/%d", asideDir, p.Number)
		if err := errors.Join(s.disk.Mkdir(asideDir), s.disk.Rename(p.Staged, aside)); err != nil {
			return nil, fmt.Errorf("set a damaged staged file aside: %w", err)
		}
		return nil, &stagedError{fmt.Errorf("the staged file %s/%s is damaged: %d of %d bytes, checksum %08x and not %08x",
			s.cfg.StateDir, aside, n, p.Length, sum, p.CRC)}
	}
	return &stagedSource{f, p.Length}, nil
}

func checksum(f disk.File) (sum uint32, n int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		k, err := f.ReadAt(buf, n)
		sum = crc32.Update(sum, castagnoli, buf[:k])
		n += int64(k)
		if errors.Is(err, io.EOF) {
			return sum, n, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}
