package journal

import (
	"encoding/binary"
	"errors"
	"time"
)

var errShort = errors.New("payload ends early")

// The payloads are sequences of varints and of strings with a varint length.

func putUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func putInt(b []byte, v int64) []byte   { return binary.AppendVarint(b, v) }

func putString[S ~string | ~[]byte](b []byte, s S) []byte {
	return append(putUint(b, uint64(len(s))), s...)
}

// putTime keeps nanoseconds; the zero time is kept as such.
func putTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return putInt(b, 0)
	}
	return putInt(b, t.UnixNano())
}

// reader takes a payload apart. After the first failure everything it answers
// is zero and err is set.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes aliases the payload.
func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) time() time.Time {
	if n := r.int(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// count is a number of elements of at least min bytes each that still follow,
// so it can be used to allocate.
func (r *reader) count(min int) int {
	n := r.uint()
	if n > uint64(len(r.b)/min) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errShort
	}
	r.b = nil
}
