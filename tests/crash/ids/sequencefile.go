package ids

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errSequenceFile is wrapped where bytes aren't what Hadoop's SequenceFile,
// version 6, has there.
var errSequenceFile = errors.New("no SequenceFile")

// sequence reads a SequenceFile of LongWritable and Text, compressed in blocks
// by Hadoop's DefaultCodec or not at all, as its documentation describes it.
// The first error sticks: later reads give nothing.
type sequence struct {
	b     []byte
	at    int
	sync  []byte
	codec bool
	err   error
	ids   []uint64
}

func sequenceFile(content []byte) ([]uint64, error) {
	s := &sequence{b: content}
	s.head()
	for s.err == nil && s.at < len(s.b) {
		if s.codec {
			s.block()
		} else {
			s.record()
		}
	}
	return s.ids, s.err
}

func (s *sequence) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: at byte %d: %s", errSequenceFile, s.at, fmt.Sprintf(format, args...))
	}
}

// take cuts the next n bytes off.
func (s *sequence) take(n int64) []byte {
	if n < 0 || n > int64(len(s.b)-s.at) {
		s.fail("%d bytes are asked for and %d left", n, len(s.b)-s.at)
	}
	if s.err != nil {
		return nil
	}
	s.at += int(n)
	return s.b[s.at-int(n) : s.at]
}

func (s *sequence) int32() int64 {
	b := s.take(4)
	if b == nil {
		return 0
	}
	return int64(int32(binary.BigEndian.Uint32(b)))
}

// vint is WritableUtils.readVLong.
func (s *sequence) vint() (v int64) {
	b := s.take(1)
	if b == nil {
		return 0
	}
	first := int8(b[0])
	if first >= -112 {
		return int64(first)
	}
	size := -112 - int64(first)
	if first < -120 {
		s.fail("a negative number")
	}
	for _, c := range s.take(size) {
		v = v<<8 | int64(c)
	}
	return v
}

func (s *sequence) text() string { return string(s.take(s.vint())) }

func (s *sequence) expect(what, got, want string) {
	if s.err == nil && got != want {
		s.fail("%s is %q instead of %q", what, got, want)
	}
}

func (s *sequence) head() {
	s.expect("the magic", string(s.take(4)), "SEQ\x06")
	s.expect("the key's class", s.text(), "org.apache.hadoop.io.LongWritable")
	s.expect("the value's class", s.text(), "org.apache.hadoop.io.Text")
	switch flags := string(s.take(2)); flags {
	case "\x01\x01":
		s.codec = true
		s.expect("the codec", s.text(), "org.apache.hadoop.io.compress.DefaultCodec")
	case "\x00\x00":
	default:
		s.fail("the compression's flags are %q", flags)
	}
	for range s.int32() {
		s.text()
		s.text()
		if s.err != nil {
			return
		}
	}
	s.sync = s.take(16)
}

func (s *sequence) marker() {
	if got := s.take(16); s.err == nil && !bytes.Equal(got, s.sync) {
		s.fail("another sync marker")
	}
}

func (s *sequence) value(text []byte) {
	id, err := inJSON(text)
	if err != nil {
		s.fail("%v", err)
		return
	}
	s.ids = append(s.ids, id)
}

func (s *sequence) record() {
	n := s.int32()
	if n == -1 {
		s.marker()
		return
	}
	s.expect("a key's length", string(s.take(4)), "\x00\x00\x00\x08")
	s.take(8)
	v := sequence{b: s.take(n - 8)}
	text := v.take(v.vint())
	if s.err == nil && (v.err != nil || v.at != len(v.b)) {
		s.fail("a value's length is wrong (%v)", v.err)
	}
	if s.err == nil {
		s.value(text)
	}
}

func (s *sequence) block() {
	if s.int32() != -1 {
		s.fail("a block without a sync marker")
	}
	s.marker()
	n := s.vint()
	keyLengths, keys, lengths, values := s.buffer(), s.buffer(), s.buffer(), s.buffer()
	for i := int64(0); i < n && s.err == nil; i++ {
		if keyLengths.vint() != 8 {
			s.fail("a key that is no long")
		}
		keys.take(8)
		before := values.at
		text := values.take(values.vint())
		if lengths.vint() != int64(values.at-before) {
			s.fail("a value's length is wrong")
		}
		if values.err == nil {
			s.value(text)
		}
	}
	for _, b := range []*sequence{keyLengths, keys, lengths, values} {
		if s.err == nil && (b.err != nil || b.at != len(b.b)) {
			s.fail("a buffer of a block doesn't hold %d records (%v)", n, b.err)
		}
	}
}

func (s *sequence) buffer() *sequence {
	r, err := zlib.NewReader(bytes.NewReader(s.take(s.vint())))
	if err != nil {
		s.fail("a buffer of a block: %v", err)
		return &sequence{}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		s.fail("a buffer of a block: %v", err)
	}
	return &sequence{b: b}
}
