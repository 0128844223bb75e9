package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Encodings and page types (parquet.thrift).
const (
	encodingPlain   = 0
	encodingRLE     = 3
	encodingIndexes = 8 // RLE_DICTIONARY

	dataPage       = 0
	dictionaryPage = 2
)

// pager makes pages. Its memory is shared by all columns of all files that are
// written one after the other.
type pager struct {
	compressor *compressor
	body       []byte
	packed     []byte
	indexes    hybrid
	header     thrift
}

// finish ends the page at hand, if it has entries.
func (p *pager) finish(c *column) error {
	if c.entries == 0 {
		return nil
	}
	p.body = p.body[:0]
	if c.leaf.maxRep > 0 {
		p.level(c.reps.finish())
	}
	if c.leaf.maxDef > 0 {
		p.level(c.defs.finish())
	}
	encoding := int32(encodingPlain)
	if c.useDict {
		encoding = encodingIndexes
		p.index(c)
		c.dictPages++
	} else {
		p.body = append(p.body, c.values...)
	}
	entries := c.entries
	err := p.page(c, dataPage, func(t *thrift) {
		outer := t.begin(5)
		t.i32(1, int32(entries))
		t.i32(2, encoding)
		t.i32(3, encodingRLE)
		t.i32(4, encodingRLE)
		t.end(outer)
	})
	c.total += int64(entries)
	c.entries, c.bits, c.plainSize = 0, 0, 0
	c.values, c.indexes = c.values[:0], c.indexes[:0]
	c.defs.reset(c.defs.width)
	c.reps.reset(c.reps.width)
	return err
}

// level appends levels as version 1 of a data page has them: their length, then
// the runs.
func (p *pager) level(runs []byte) {
	p.body = binary.LittleEndian.AppendUint32(p.body, uint32(len(runs)))
	p.body = append(p.body, runs...)
}

// index appends the width of the indexes, then the runs.
func (p *pager) index(c *column) {
	width := bitsFor(max(c.dict.len()-1, 0))
	p.indexes.reset(width)
	for _, i := range c.indexes {
		p.indexes.put(uint32(i))
	}
	p.body = append(p.body, byte(width))
	p.body = append(p.body, p.indexes.finish()...)
}

// dictionary makes the dictionary page of the column. It isn't among its pages.
func (p *pager) dictionary(c *column) ([]byte, error) {
	p.body = append(p.body[:0], c.dict.bytes...)
	n, pages := c.dict.len(), c.pages
	size := c.pageSize
	err := p.page(c, dictionaryPage, func(t *thrift) {
		outer := t.begin(7)
		t.i32(1, int32(n))
		t.i32(2, encodingPlain)
		t.end(outer)
	})
	if err != nil {
		return nil, err
	}
	page := c.pages[len(c.pages)-1]
	c.pages, c.pageSize = pages, size
	return page, nil
}

// page compresses the body, puts its header before it and adds it to the
// column's pages.
func (p *pager) page(c *column, kind int32, fields func(*thrift)) error {
	packed, err := p.compressor.append(p.packed[:0], p.body)
	if err != nil {
		return fmt.Errorf("end a page of column %v: %w", c.leaf.path, err)
	}
	p.packed = packed
	p.header.b, p.header.last = p.header.b[:0], 0
	t := &p.header
	t.i32(1, kind)
	t.i32(2, int32(len(p.body)))
	t.i32(3, int32(len(packed)))
	t.i32(4, int32(crc32.ChecksumIEEE(packed)))
	fields(t)
	t.end(0)
	page := make([]byte, 0, len(t.b)+len(packed))
	page = append(append(page, t.b...), packed...)
	c.pages = append(c.pages, page)
	c.pageSize += int64(len(page))
	c.rawSize += int64(len(t.b) + len(p.body))
	p.shed()
	return nil
}

// keepPage is how much of its memory a pager keeps, in bytes.
const keepPage = 4 << 20

func (p *pager) shed() {
	if cap(p.body) > keepPage {
		p.body = nil
	}
	if cap(p.packed) > keepPage {
		p.packed = nil
	}
}
