// Package codectest checks that a format keeps the promises of package codec:
// one call for each format and compression. What a format makes of values is
// its own tests' to say; here each record has a text by which it is known again
// (see Key), and what counts is that it is in the file once, in its order, or
// rejected without a trace, whichever way it came and whatever fails.
package codectest

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
)

// Key is the top-level field of the suite's records that has the text by which
// they are known. The text has no control characters and no blanks at its ends.
const Key = "log"

// Harness is a format under test.
type Harness struct {
	// New makes the format. What one has learned the next doesn't know.
	New func() codec.Format
	// Read reads a whole file by other code than the format's own, and returns
	// the text of each record's Key in the file's order, "" of one without Key.
	Read func(file []byte) ([]string, error)
	// Choosing makes the format so that it writes chosen fields only, Key among
	// them, and nothing that lies outside the record. nil is for a format that
	// always writes all of a record.
	Choosing func() codec.Format
	// Extension is that of the format's files.
	Extension string

	// What the format declares.

	// Blocks says that it is a codec.BlockFormat.
	Blocks bool
	// Counts says that its writers are codec.Counters.
	Counts bool
	// Head says that a file without records isn't empty, but one that Read reads.
	Head bool
	// Spreads says that records with other texts than the suite's may take more
	// than one record of Read's, so that they can't be counted.
	Spreads bool
	// Slow says that compressing takes so long that there must be less to do.
	Slow bool
	// SameBut takes what is drawn by chance out of a file: two files of the same
	// records must be the same then. nil takes nothing.
	SameBut func(file []byte) []byte
	// Rounding is by how much Size may be off before Close, as a share of the
	// size afterwards, for a file of some hundred kilobytes of records. 0 is a
	// fifth.
	Rounding float64
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	if h.SameBut == nil {
		h.SameBut = func(file []byte) []byte { return file }
	}
	if h.Rounding == 0 {
		h.Rounding = 0.2
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"it declares what it is", declares},
		{"files hold their records in order", filesHoldTheirRecords},
		{"small and large batches", smallAndLarge},
		{"no records", noRecords},
		{"a huge record", hugeRecord},
		{"rows that say nothing", rowsThatSayNothing},
		{"rejects leave no trace", rejectsLeaveNoTrace},
		{"hostile chunks", hostileChunks},
		{"any record", anyRecord},
		{"nothing given is kept", nothingGivenIsKept},
		{"encoders on many goroutines", manyEncoders},
		{"files on many goroutines", manyFiles},
		{"size", size},
		{"memory", memory},
		{"files that are given up", givenUp},
		{"the first error is final", firstErrorIsFinal},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
}

func declares(t *testing.T, h Harness) {
	f := h.New()
	if got := f.Extension(); got != h.Extension {
		t.Errorf("its extension is %q", got)
	}
	if _, ok := f.(codec.BlockFormat); ok != h.Blocks {
		t.Errorf("that it is a BlockFormat is %v", ok)
	}
	w := h.begin(t, f).w
	if _, ok := w.(codec.BlockWriter); ok != h.Blocks {
		t.Errorf("that its writers are BlockWriters is %v", ok)
	}
	if _, ok := w.(codec.Counter); ok != h.Counts {
		t.Errorf("that its writers are Counters is %v", ok)
	}
}
