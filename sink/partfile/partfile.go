// Package partfile begins and ends files of the configured format for those who
// must not be hurt by it: a panic of the format is an error here, and a file
// that doesn't hold what was written is one too.
package partfile

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/sink/run"
)

// Error says that the format could not finish a file: what it was given may be
// the reason, and the disk isn't.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Format is the configured format, and who writes files of it.
type Format struct {
	Format   codec.Format
	WriterID string
}

// Begin begins the file of a part.
func (f Format) Begin(w io.Writer, part uint64) (out codec.Writer, err error) {
	panicked := run.Safely(func() {
		out, err = f.Format.NewWriter(w, codec.Meta{WriterID: f.WriterID, Part: part, Created: time.Now()})
	})
	if panicked != "" {
		err = errors.New(panicked)
	}
	if err != nil {
		return nil, fmt.Errorf("begin part %d: %w", part, err)
	}
	return out, nil
}

// End has the format end a file, and checks that it holds the records that were
// written, as far as it tells. size is asked for the file's length afterwards.
func End(w codec.Writer, size func() int64, records int64) (err error) {
	if panicked := run.Safely(func() { err = w.Close() }); panicked != "" {
		return errors.New(panicked)
	}
	if err != nil {
		return err
	}
	if size() == 0 {
		return errEmpty
	}
	if c, counts := w.(codec.Counter); counts && c.Records() != records {
		return fmt.Errorf("%w: %d instead of %d", errCount, c.Records(), records)
	}
	return nil
}

var (
	// errCount is why a file isn't published whose footer or blocks don't count
	// the records that were written.
	errCount = errors.New("bug: the file counts other records than were written")
	// errEmpty is why a file isn't published that holds nothing of its records.
	errEmpty = errors.New("the format wrote nothing of the records")
)
