package avro_test

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// container is a file taken apart as Avro's specification has it.
type container struct {
	metadata map[string][]byte
	head     []byte // up to and with the marker
	blocks   []fileBlock
}

type fileBlock struct {
	records int64
	data    []byte
}

// split reads a container file and demands that nothing but whole blocks
// follows the header.
func split(tb testing.TB, file []byte) container {
	tb.Helper()
	c := container{metadata: map[string][]byte{}}
	if !bytes.HasPrefix(file, []byte("Obj\x01")) {
		tb.Fatal("the magic is missing")
	}
	rest := file[4:]
	long := func() int64 {
		v, n := binary.Varint(rest)
		if n <= 0 {
			tb.Fatal("a number is cut short")
		}
		rest = rest[n:]
		return v
	}
	take := func(n int64) []byte {
		if n < 0 || n > int64(len(rest)) {
			tb.Fatalf("%d bytes are said to follow, there are %d", n, len(rest))
		}
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	for n := long(); n != 0; n = long() {
		for range n {
			key := string(take(long()))
			c.metadata[key] = take(long())
		}
	}
	marker := take(16)
	c.head = file[:len(file)-len(rest)]
	for len(rest) > 0 {
		b := fileBlock{records: long()}
		b.data = take(long())
		if !bytes.Equal(take(16), marker) {
			tb.Fatal("a block doesn't end with the file's marker")
		}
		c.blocks = append(c.blocks, b)
	}
	return c
}

// TestCompressions: each compression's blocks hold the same records as those
// that aren't compressed.
func TestCompressions(t *testing.T) {
	readers := map[string]struct {
		codec string
		read  func([]byte) ([]byte, error)
	}{
		compress.None:    {"null", func(b []byte) ([]byte, error) { return b, nil }},
		compress.Deflate: {"deflate", func(b []byte) ([]byte, error) { return io.ReadAll(flate.NewReader(bytes.NewReader(b))) }},
		compress.Bzip2:   {"bzip2", func(b []byte) ([]byte, error) { return io.ReadAll(bzip2.NewReader(bytes.NewReader(b))) }},
		compress.Snappy: {"snappy", func(b []byte) ([]byte, error) {
			raw, err := snappy.Decode(nil, b[:len(b)-4])
			if err == nil && crc32.ChecksumIEEE(raw) != binary.BigEndian.Uint32(b[len(b)-4:]) {
				t.Error("snappy: the checksum is wrong")
			}
			return raw, err
		}},
		compress.Zstd: {"zstandard", func(b []byte) ([]byte, error) {
			r, err := zstd.NewReader(nil)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return r.DecodeAll(b, nil)
		}},
	}
	plain := contents(t, compress.None, nil)
	for _, name := range avro.Compressions() {
		t.Run(name, func(t *testing.T) {
			r, ok := readers[name]
			if !ok {
				t.Fatal("no reader")
			}
			if got := contents(t, name, r.read); !bytes.Equal(got, plain) {
				t.Fatalf("%d bytes of records, %d without compression", len(got), len(plain))
			}
		})
	}
}

func contents(t *testing.T, compression string, read func([]byte) ([]byte, error)) (all []byte) {
	t.Helper()
	f := newFile(t, formatOf(t, compression, "", false))
	for range 3 {
		f.write(batch(Kubernetes(2000)))
		f.write(batch(Plain(20)))
	}
	for _, b := range split(t, f.close()).blocks {
		data := b.data
		if read != nil {
			var err error
			if data, err = read(data); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, data...)
	}
	return all
}

// TestRecordsOfNoBytes: records of a schema that has only nulls take no bytes, and
// are counted all the same.
func TestRecordsOfNoBytes(t *testing.T) {
	for _, name := range avro.Compressions() {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, formatOf(t, name, `{"type":"record","name":"r","fields":[{"name":"n","type":"null"}]}`, false))
			for range 3 {
				f.write(batch(Plain(5)))
			}
			if blocks := split(t, f.close()).blocks; len(blocks) != 1 || blocks[0].records != 15 {
				t.Errorf("got %v", blocks)
			}
		})
	}
}
