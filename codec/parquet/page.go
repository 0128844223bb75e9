package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pager makes pages. Its memory is shared by all columns of all files that are
// written one after the other.
type pager struct {
	compressor *compressor
	body       []byte
	packed     []byte
	indexes    hybrid
	header     []byte
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
	encoding := format.Plain
	if c.useDict && c.dict.len() > 0 { // fastparquet fails on a dictionary page without entries
		encoding = format.RLEDictionary
		p.index(c)
		c.dictPages++
	} else {
		p.body = append(p.body, c.values...)
	}
	entries := c.entries
	err := p.page(c, pageHeader{Type: format.DataPage, Data: thrift.New(dataPageHeader{
		NumValues: int32(entries), Encoding: encoding, DefinitionLevels: format.RLE, RepetitionLevels: format.RLE,
	})})
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
	err := p.page(c, pageHeader{Type: format.DictionaryPage, Dictionary: thrift.New(format.DictionaryPageHeader{
		NumValues: int32(n), Encoding: format.Plain,
	})})
	if err != nil {
		return nil, err
	}
	page := c.pages[len(c.pages)-1]
	c.pages, c.pageSize = pages, size
	return page, nil
}

// page compresses the body, puts its header before it and adds it to the
// column's pages.
func (p *pager) page(c *column, h pageHeader) error {
	packed, err := p.compressor.encode(p.packed, p.body)
	if err != nil {
		return fmt.Errorf("compress %d bytes of column %v: %w", len(p.body), c.leaf.path, err)
	}
	p.packed = packed
	h.Raw, h.Packed, h.CRC = int32(len(p.body)), int32(len(packed)), int32(crc32.ChecksumIEEE(packed))
	if p.header, err = appendStruct(p.header[:0], &h); err != nil {
		return fmt.Errorf("end a page of column %v: %w", c.leaf.path, err)
	}
	page := make([]byte, 0, len(p.header)+len(packed))
	page = append(append(page, p.header...), packed...)
	c.pages = append(c.pages, page)
	c.pageSize += int64(len(page))
	c.rawSize += int64(len(p.header) + len(p.body))
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
