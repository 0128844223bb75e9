package journal

import (
	"encoding/binary"
	"errors"
	"time"
)

// errPayload says that a payload isn't what its kind says.
var errPayload = errors.New("malformed payload")

// The payloads are sequences of varints and of strings with a varint length.
// A value has one encoding, so that what is decoded encodes to the same bytes.

func putUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func putInt(b []byte, v int64) []byte   { return binary.AppendVarint(b, v) }

func putString[S ~string | ~[]byte](b []byte, s S) []byte {
	return append(putUint(b, uint64(len(s))), s...)
}

// putTime keeps any time to the nanosecond, without its zone.
func putTime(b []byte, t time.Time) []byte {
	return putUint(putInt(b, t.Unix()), uint64(t.Nanosecond()))
}

// reader takes a payload apart. After the first failure everything it answers
// is zero and err is set.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// upTo is a number that is at most limit.
func (r *reader) upTo(limit uint64) uint64 {
	v := r.uint()
	if v > limit {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) uint32() uint32 { return uint32(r.upTo(1<<32 - 1)) }
func (r *reader) uint8() uint8   { return uint8(r.upTo(1<<8 - 1)) }

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
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
	return r.take(int(n))
}

// take is the next n bytes, which alias the payload.
func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) time() time.Time {
	sec, nsec := r.int(), r.upTo(1e9-1)
	if t := time.Unix(sec, int64(nsec)); r.err == nil && !t.IsZero() {
		return t
	}
	return time.Time{}
}

func (r *reader) key() (k originKey) {
	copy(k[:], r.take(len(k)))
	return k
}

// count is a number of elements of at least min bytes each that still follow,
// so it can be used to allocate.
func (r *reader) count(min int) int { return int(r.upTo(uint64(len(r.b) / min))) }

func (r *reader) fail() {
	if r.err == nil {
		r.err = errPayload
	}
	r.b = nil
}

// end is the error of reading, and an error if anything is left.
func (r *reader) end() error {
	if len(r.b) > 0 {
		r.fail()
	}
	return r.err
}
