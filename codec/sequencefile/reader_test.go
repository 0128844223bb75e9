package sequencefile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/compress"
)

// file is a SequenceFile as the reader below finds it.
type file struct {
	keyClass, valueClass, codec string
	block                       bool
	metadata                    map[string]string
	records                     []record
	syncs                       []int // where the markers behind the header are
}

type record struct {
	key   int64
	value string // without its length
}

var errFile = errors.New("no SequenceFile")

// reader reads a SequenceFile by the documentation of
// org.apache.hadoop.io.SequenceFile, and shares no code with the writer.
type reader struct {
	b    []byte
	at   int
	sync []byte
	f    file
}

func read(b []byte) (f file, err error) {
	r := reader{b: b}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: at byte %d: %v", errFile, r.at, p)
		}
	}()
	r.header()
	for r.at < len(b) {
		if r.f.block {
			r.block()
		} else {
			r.record()
		}
	}
	return r.f, nil
}

func (r *reader) take(n int) []byte {
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) int() int { return int(int32(binary.BigEndian.Uint32(r.take(4)))) }

func (r *reader) vint() int64 {
	first := int8(r.take(1)[0])
	if first >= -112 {
		return int64(first)
	}
	n, negative := -113-int(first)+1, first < -120
	if negative {
		n -= 8
	}
	var v int64
	for _, c := range r.take(n) {
		v = v<<8 | int64(c)
	}
	if negative {
		return ^v
	}
	return v
}

func (r *reader) text() string { return string(r.take(int(r.vint()))) }

func (r *reader) header() {
	if string(r.take(4)) != "SEQ\x06" {
		panic("magic")
	}
	r.f.keyClass, r.f.valueClass = r.text(), r.text()
	compressed := r.take(1)[0] == 1
	r.f.block = r.take(1)[0] == 1
	if compressed {
		r.f.codec = r.text()
	}
	r.f.metadata = map[string]string{}
	for range r.int() {
		key := r.text()
		r.f.metadata[key] = r.text()
	}
	r.sync = r.take(16)
}

func (r *reader) marker() {
	r.f.syncs = append(r.f.syncs, r.at)
	if !bytes.Equal(r.take(16), r.sync) {
		panic("another sync marker")
	}
}

func (r *reader) record() {
	n := r.int()
	if n == -1 {
		r.marker()
		return
	}
	if r.int() != 8 {
		panic("a key that is no long")
	}
	key := int64(binary.BigEndian.Uint64(r.take(8)))
	value := reader{b: r.take(n - 8), f: r.f}
	if r.f.codec != "" {
		value.b = decompress(r.f.codec, value.b)
	}
	r.f.records = append(r.f.records, record{key, value.value()})
	if value.at != len(value.b) {
		panic("bytes behind the value")
	}
}

func (r *reader) value() string {
	if r.f.valueClass == "org.apache.hadoop.io.Text" {
		return r.text()
	}
	return string(r.take(r.int()))
}

func (r *reader) block() {
	if r.int() != -1 {
		panic("a block without a sync marker")
	}
	r.marker()
	n := int(r.vint())
	var buffers [4]reader
	for i := range buffers {
		buffers[i] = reader{b: decompress(r.f.codec, r.take(int(r.vint()))), f: r.f}
	}
	keyLengths, keys, valueLengths, values := &buffers[0], &buffers[1], &buffers[2], &buffers[3]
	for range n {
		if keyLengths.vint() != 8 {
			panic("a key that is no long")
		}
		key := int64(binary.BigEndian.Uint64(keys.take(8)))
		before := values.at
		r.f.records = append(r.f.records, record{key, values.value()})
		if int(valueLengths.vint()) != values.at-before {
			panic("a wrong length of a value")
		}
	}
	for i := range buffers {
		if buffers[i].at != len(buffers[i].b) {
			panic("bytes left in a buffer")
		}
	}
}

// decompress panics if it can't.
func decompress(class string, b []byte) []byte {
	name, ok := map[string]string{
		"DefaultCodec": compress.Deflate, "GzipCodec": compress.Gzip, "BZip2Codec": compress.Bzip2,
		"ZStandardCodec": compress.Zstd, "SnappyCodec": compress.Snappy, "Lz4Codec": compress.LZ4,
	}[strings.TrimPrefix(class, "org.apache.hadoop.io.compress.")]
	if !ok {
		panic("codec " + class)
	}
	out, err := codectest.Decompress(name, b)
	if err != nil {
		panic(err)
	}
	return out
}
