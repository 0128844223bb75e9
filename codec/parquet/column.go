package parquet

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/parquet-go/parquet-go/encoding/plain"

	"github.com/out-hdfs/out_hdfs/codec/schema"
)

const (
	// pageBytes is how many bytes of values make a page. Readers decompress a
	// page at a time; below some 64 KiB snappy and zstd compress worse.
	pageBytes = 128 << 10
	// pageRows bounds a page of small values, as in parquet-mr.
	pageRows = 20000
)

// column is a column of the row group that is being built. Values come in
// plain encoding or, while they repeat, as indexes into a dictionary.
type column struct {
	leaf *leaf

	// The page at hand.
	defs, reps hybrid
	entries    int      // nulls included
	values     []byte   // plain
	bits       int      // booleans in values
	indexes    []uint16 // into the dictionary, if it is in use
	plainSize  int      // what the indexed values would take

	// The column chunk.
	dict      dictionary
	useDict   bool
	probed    bool
	pages     [][]byte // finished, headers included; as long as they must be
	pageSize  int64    // of all pages
	rawSize   int64    // before compression, headers included
	dictPages int      // how many of the pages are indexes
	total     int64    // entries of finished pages
	continued int64    // entries that don't begin a row, of the page at hand too
	nulls     int64
	bounds    bounds
}

func (c *column) init(l *leaf) {
	c.leaf = l
	c.defs.reset(bitsFor(int(l.maxDef)))
	c.reps.reset(bitsFor(int(l.maxRep)))
	c.dict.seed = maphash.MakeSeed()
	c.dict.fixed = l.width()
	c.useDict = l.physical != physicalBoolean
}

// width is how many bytes each plain value takes, 0 if that differs.
func (l *leaf) width() int {
	switch l.physical {
	case physicalInt32, physicalFloat:
		return 4
	case physicalInt64, physicalDouble:
		return 8
	case physicalFixed:
		return l.size
	}
	return 0
}

func (l *leaf) isUTF8() bool { return l.typ.Kind == schema.String || l.typ.Kind == schema.Enum }

// bitsFor is how many bits the numbers up to n take.
func bitsFor(n int) (bits int) {
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}

// take adds the cells of whole rows.
func (c *column) take(in *cells) {
	count := len(in.texts) + len(in.numbers)
	if c.leaf.maxDef == 0 {
		c.entries += count
	} else {
		c.entries += len(in.defs)
		c.nulls += int64(len(in.defs) - count)
		putLevels(&c.defs, in.defs, count, c.leaf.maxDef)
	}
	for _, r := range in.reps {
		if r > 0 {
			c.continued++
		}
		c.reps.put(uint32(r))
	}
	if c.useDict && c.dict.full(count) {
		c.leaveDictionary()
	}
	switch {
	case c.leaf.isText() && c.useDict:
		for _, v := range in.texts {
			c.indexes = append(c.indexes, c.dict.text(v))
			c.plainSize += len(v) + 4
		}
	case c.leaf.isText():
		c.takeTexts(in.texts)
	case c.useDict:
		c.indexNumbers(in.numbers)
	default:
		c.takeNumbers(in.numbers)
	}
	if c.useDict && !c.probed && len(c.indexes) >= probeAfter {
		c.probed = true
		if c.plainSize < c.dictSize() {
			c.leaveDictionary()
		}
	}
}

// dictSize is about what the page at hand takes with the dictionary, the
// dictionary included.
func (c *column) dictSize() int {
	return len(c.dict.bytes) + (len(c.indexes)*bitsFor(c.dict.len())+7)/8
}

// putLevels takes a shortcut where nothing is null.
func putLevels(h *hybrid, defs []uint8, values int, most uint8) {
	if len(defs) == values {
		h.repeat(uint32(most), values)
		return
	}
	for _, d := range defs {
		h.put(uint32(d))
	}
}

func (c *column) takeTexts(texts [][]byte) {
	fixed := c.leaf.physical == physicalFixed
	for _, v := range texts {
		if fixed {
			c.values = append(c.values, v...)
			continue
		}
		c.values = plain.AppendByteArray(c.values, v)
		c.bounds.text(v)
	}
}

func (c *column) takeNumbers(numbers []uint64) {
	switch c.leaf.physical {
	case physicalBoolean:
		for _, v := range numbers {
			c.putBit(v)
			c.bounds.integer(int64(v))
		}
	case physicalInt32:
		for _, v := range numbers {
			c.values = plain.AppendInt32(c.values, int32(v))
			c.bounds.integer(int64(int32(v)))
		}
	case physicalInt64:
		for _, v := range numbers {
			c.values = plain.AppendInt64(c.values, int64(v))
			c.bounds.integer(int64(v))
		}
	case physicalFloat:
		for _, v := range numbers {
			c.values = plain.AppendInt32(c.values, int32(v))
			c.bounds.float(float64(math.Float32frombits(uint32(v))))
		}
	case physicalDouble:
		for _, v := range numbers {
			c.values = plain.AppendInt64(c.values, int64(v))
			c.bounds.float(math.Float64frombits(v))
		}
	}
}

func (c *column) putBit(v uint64) {
	if c.bits%8 == 0 {
		c.values = append(c.values, 0)
	}
	c.values[len(c.values)-1] |= byte(v) << (c.bits % 8)
	c.bits++
}

func (c *column) indexNumbers(numbers []uint64) {
	var b [8]byte
	width := c.dict.fixed
	for _, v := range numbers {
		binary.LittleEndian.PutUint64(b[:], v)
		c.indexes = append(c.indexes, c.dict.text(b[:width]))
	}
	c.plainSize += width * len(numbers)
}

// leaveDictionary goes on in plain encoding for the rest of the row group. The
// page at hand becomes plain; finished pages of indexes keep the dictionary.
func (c *column) leaveDictionary() {
	c.useDict = false
	for _, i := range c.indexes {
		v := c.dict.entry(int(i))
		if c.dict.fixed == 0 {
			c.values = plain.AppendByteArray(c.values, v)
		} else {
			c.values = append(c.values, v...)
		}
	}
	c.indexes, c.plainSize = nil, 0
	c.boundDictionary()
	if c.dictPages == 0 {
		c.dict.release()
	}
}

// boundDictionary takes the dictionary's entries into the bounds: each is a
// value of the column.
func (c *column) boundDictionary() {
	for i := range c.dict.len() {
		v := c.dict.entry(i)
		switch c.leaf.physical {
		case physicalByteArray:
			c.bounds.text(v)
		case physicalInt32:
			c.bounds.integer(int64(int32(binary.LittleEndian.Uint32(v))))
		case physicalInt64:
			c.bounds.integer(int64(binary.LittleEndian.Uint64(v)))
		case physicalFloat:
			c.bounds.float(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
		case physicalDouble:
			c.bounds.float(math.Float64frombits(binary.LittleEndian.Uint64(v)))
		}
	}
}

// open is how many bytes the page at hand has before compression.
func (c *column) open() int {
	if c.useDict {
		return (len(c.indexes)*bitsFor(c.dict.len()) + 7) / 8
	}
	return len(c.values)
}

// pageFull reports whether the page at hand is to be finished.
func (c *column) pageFull() bool { return c.entries >= pageRows || c.open() >= pageBytes }

// memory is what the column holds, in bytes.
func (c *column) memory() int64 {
	return columnSize + int64(cap(c.defs.buf)+cap(c.reps.buf)+cap(c.values)+2*cap(c.indexes)) +
		c.dict.memory() + c.pageSize + int64(cap(c.pages))*24 +
		int64(cap(c.bounds.lowText)+cap(c.bounds.highText))
}

// columnSize is that of a column itself.
const columnSize = 640

// nextGroup begins a new row group. keep says that buffers are kept for it.
func (c *column) nextGroup(keep bool) {
	if keep {
		c.dict.reset()
		c.values, c.indexes = c.values[:0], c.indexes[:0]
		c.pages = c.pages[:0]
	} else {
		c.dict.release()
		c.values, c.indexes, c.pages = nil, nil, nil
		c.defs.buf, c.reps.buf = nil, nil
		c.bounds.lowText, c.bounds.highText = nil, nil
	}
	c.useDict, c.probed = c.leaf.physical != physicalBoolean, false
	c.pageSize, c.rawSize, c.dictPages, c.total, c.continued, c.nulls = 0, 0, 0, 0, 0, 0
	c.bounds.reset()
}
