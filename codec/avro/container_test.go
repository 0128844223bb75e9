package avro_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// container is a file taken apart as Avro's specification has it.
type container struct {
	keys     []string // of the metadata, in their order
	metadata map[string][]byte
	marker   []byte
	blocks   []fileBlock
}

type fileBlock struct {
	records int64
	data    []byte
}

// split reads a container file; nothing but whole blocks may follow the header.
func split(file []byte) (c container, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("behind block %d: %v", len(c.blocks), r)
		}
	}()
	rest := file
	take := func(n int64) []byte {
		if n < 0 || n > int64(len(rest)) {
			panic(fmt.Sprintf("%d bytes are said to follow, there are %d", n, len(rest)))
		}
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	long := func() int64 {
		v, n := binary.Varint(rest)
		if n <= 0 {
			panic("a number is cut short")
		}
		take(int64(n))
		return v
	}
	if string(take(4)) != "Obj\x01" {
		panic("the magic is missing")
	}
	c.metadata = map[string][]byte{}
	for n := long(); n != 0; n = long() {
		for range n {
			key := string(take(long()))
			c.keys = append(c.keys, key)
			c.metadata[key] = take(long())
		}
	}
	c.marker = take(16)
	for len(rest) > 0 {
		b := fileBlock{records: long()}
		b.data = take(long())
		if !bytes.Equal(take(16), c.marker) {
			panic("a block doesn't end with the file's marker")
		}
		c.blocks = append(c.blocks, b)
	}
	return c, nil
}

// splitOf is split of a file that must be sound.
func splitOf(tb testing.TB, file []byte) container {
	tb.Helper()
	c, err := split(file)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

var errCodec = errors.New("a codec that this package's files don't have")

// records are all blocks' records, one behind the other.
func (c container) records(block func(b fileBlock, records []byte)) error {
	name, ok := map[string]string{
		"null": compress.None, "deflate": compress.RawDeflate, "snappy": compress.SnappyChecked,
		"zstandard": compress.Zstd, "bzip2": compress.Bzip2,
	}[string(c.metadata["avro.codec"])]
	if !ok {
		return fmt.Errorf("%w: %q", errCodec, c.metadata["avro.codec"])
	}
	for i, b := range c.blocks {
		records, err := codectest.Decompress(name, b.data)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		block(b, records)
	}
	return nil
}

// uncompressed is the same file with the codec null.
func (c container) uncompressed() ([]byte, error) {
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	file := binary.AppendVarint([]byte("Obj\x01"), int64(len(c.keys)))
	for _, key := range c.keys {
		value := string(c.metadata[key])
		if key == "avro.codec" {
			value = "null"
		}
		file = text(text(file, key), value)
	}
	file = append(append(file, 0), c.marker...)
	err := c.records(func(b fileBlock, records []byte) {
		file = append(text(binary.AppendVarint(file, b.records), string(records)), c.marker...)
	})
	return file, err
}

// TestCompressions: each compression's blocks hold the same records as those
// that aren't compressed.
func TestCompressions(t *testing.T) {
	plain := contents(t, compress.None)
	for _, name := range avro.Compressions() {
		t.Run(name, func(t *testing.T) {
			if got := contents(t, name); !bytes.Equal(got, plain) {
				t.Fatalf("%d bytes of records, %d without compression", len(got), len(plain))
			}
		})
	}
}

func contents(t *testing.T, compression string) (all []byte) {
	t.Helper()
	f := newFile(t, formatOf(t, compression, "", false))
	for range 3 {
		f.write(batch(Kubernetes(2000)))
		f.write(batch(Plain(20)))
	}
	err := splitOf(t, f.close()).records(func(_ fileBlock, records []byte) { all = append(all, records...) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecordsOfNoBytes: records that hold only nulls take no bytes, and are counted
// all the same.
func TestRecordsOfNoBytes(t *testing.T) {
	for _, name := range avro.Compressions() {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, formatOf(t, name, `{"type":"record","name":"r","fields":[{"name":"log","type":{"type":"record","name":"inner","fields":[{"name":"n","type":"null"}]}}]}`, false))
			for range 15 {
				f.write(batch(Pack(Event(At(1767225600, 0), Map{}, Map{"log", Map{}}))))
			}
			if blocks := splitOf(t, f.close()).blocks; len(blocks) != 1 || blocks[0].records != 15 {
				t.Errorf("got %v", blocks)
			}
		})
	}
}
