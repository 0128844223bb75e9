package codectest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// tester is what tests and properties have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// How a share comes to a file.
type how string

const (
	byWrite how = "Write"
	byBlock how = "a block"
	joining how = "joins the next block"
)

// ways are those that the format has.
func (h *Harness) ways() []how {
	if h.Blocks {
		return []how{byWrite, byBlock, joining}
	}
	return []how{byWrite}
}

// file is a file that is written as the sink does, and what should be in it.
type file struct {
	tester
	h    *Harness
	w    codec.Writer
	enc  codec.BlockEncoder
	out  output
	keys []string // of the records that it should hold

	block   []byte  // not written yet
	joined  []share // what it holds
	records int     // how many
}

// output is what was written, and where each call began.
type output struct {
	bytes.Buffer
	calls []int
}

func (o *output) Write(b []byte) (int, error) {
	o.calls = append(o.calls, o.Len())
	return o.Buffer.Write(b)
}

// writes are where in the file each call of the io.Writer began, and where the
// last ended.
func (x *file) writes() []int { return append(x.out.calls, x.out.Len()) }

var meta = codec.Meta{WriterID: "host-1", Part: 7, Created: time.Unix(1767225600, 7)}

// begin begins a file.
func (h *Harness) begin(t tester, f codec.Format) *file {
	x := &file{tester: t, h: h}
	x.w = h.writer(t, f, &x.out)
	if b, ok := f.(codec.BlockFormat); ok {
		x.enc = b.NewBlockEncoder()
	}
	return x
}

func (h *Harness) writer(t tester, f codec.Format, to io.Writer) codec.Writer {
	t.Helper()
	w, err := f.NewWriter(to, meta)
	if err != nil {
		t.Fatalf("begin a file: %v", err)
	}
	return w
}

// add writes a share, and demands that its bad events, and no others, are
// rejected in their order.
func (x *file) add(s share, by how) {
	x.Helper()
	if by == byWrite {
		x.flush()
		rejects, err := x.w.Write(s.batch)
		if err != nil {
			x.Fatalf("Write: %v", err)
		}
		x.rejected(s, rejects)
	} else {
		var rejects []codec.Reject
		before := len(x.block)
		x.block, rejects = x.enc.Encode(x.block, s.batch)
		if len(s.keys) == 0 && len(x.block) > before {
			x.Errorf("no record became %d bytes of a block", len(x.block)-before)
		}
		x.rejected(s, rejects)
		x.joined, x.records = append(x.joined, s), x.records+len(s.keys)
		if by == byBlock {
			x.flush()
		}
	}
	if x.w.Size() < int64(x.out.Len()) || x.w.Buffered() < 0 {
		x.Errorf("%d bytes are written, Size says %d, Buffered %d", x.out.Len(), x.w.Size(), x.w.Buffered())
	}
	x.keys = append(x.keys, s.keys...)
}

// learn writes shares, so that the format has learned all that it will of them,
// and ends the file.
func (x *file) learn(shares []share) {
	x.Helper()
	for _, s := range shares {
		x.add(s, byWrite)
	}
	x.check()
}

// rejected demands that the share's bad events were rejected.
func (x *file) rejected(s share, rejects []codec.Reject) {
	x.Helper()
	var got []*event.Event
	for _, r := range rejects {
		if got = append(got, r.Event); r.Reason == "" {
			x.Errorf("event %d was rejected without a reason", r.Event.Ordinal)
		}
	}
	if !slices.Equal(got, s.bad) {
		x.Errorf("%d events were rejected, and should be %d: %v", len(got), len(s.bad), rejects)
	}
}

// flush writes the block. What has another schema is written as events, without
// those that are rejected already.
func (x *file) flush() {
	x.Helper()
	if x.h.Blocks {
		err := x.w.(codec.BlockWriter).WriteBlock(x.block, x.records)
		if errors.Is(err, codec.ErrOtherSchema) {
			err = nil
			for _, s := range x.joined {
				left := *s.batch
				left.Events = slices.DeleteFunc(slices.Clone(left.Events), func(e *event.Event) bool { return slices.Contains(s.bad, e) })
				rejects, again := x.w.Write(&left)
				if err = errors.Join(err, again); len(rejects) > 0 {
					x.Errorf("an event is rejected under one schema only: %s", rejects[0].Reason)
				}
			}
		}
		if err != nil {
			x.Fatalf("WriteBlock: %v", err)
		}
	}
	x.block, x.joined, x.records = nil, nil, 0
}

// close ends the file, and demands that it is as long as Size says and has as
// many records as its Counter.
func (x *file) close() []byte {
	x.Helper()
	x.flush()
	if err := x.w.Close(); err != nil {
		x.Fatalf("Close: %v", err)
	}
	if got := x.w.Size(); got != int64(x.out.Len()) {
		x.Errorf("Size says %d of a file of %d bytes", got, x.out.Len())
	}
	if c, ok := x.w.(codec.Counter); ok && c.Records() != int64(len(x.keys)) {
		x.Errorf("Records says %d of a file of %d", c.Records(), len(x.keys))
	}
	return x.out.Bytes()
}

// check ends the file and demands that it holds its records.
func (x *file) check() []byte {
	x.Helper()
	b := x.close()
	got := x.read(b)
	if !slices.Equal(got, x.keys) {
		x.Fatalf("%d records became %d; they differ at %d", len(x.keys), len(got), differ(got, x.keys))
	}
	return b
}

func (x *file) read(b []byte) []string {
	x.Helper()
	if len(x.keys) == 0 && !x.h.Head {
		if len(b) > 0 {
			x.Errorf("a file without records has %d bytes", len(b))
		}
		return nil
	}
	got, err := x.h.Read(b)
	if err != nil {
		x.Fatalf("a file of %d bytes and %d records can't be read: %v", len(b), len(x.keys), err)
	}
	return got
}

func differ(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

var _ tester = testing.TB(nil)
