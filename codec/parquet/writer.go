package parquet

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// writer writes one file.
type writer struct {
	format  *files
	out     codec.Output
	meta    codec.Meta
	tree    *tree // nil until the first records
	columns []column
	footer  footer
	rows    int64 // of the row group that is being built
	closed  bool
	err     error // the first, which is final

	// Of finished pages, for the estimate of what the open ones will take.
	raw, packed int64

	leave   *atomic.Int64 // 1 while the file counts as open
	cleanup runtime.Cleanup
}

func newWriter(f *files, w io.Writer, m codec.Meta) *writer {
	p := &writer{format: f, out: codec.Output{W: w}, meta: m, leave: new(atomic.Int64)}
	f.open.Add(1)
	p.leave.Store(1)
	// A file that is given up is dropped without Close: it counts as open, and
	// makes the others' row groups smaller, only until its memory is freed.
	p.cleanup = runtime.AddCleanup(p, func(l *atomic.Int64) { f.open.Add(-l.Swap(0)) }, p.leave)
	return p
}

// begin settles the file's schema.
func (p *writer) begin(b *event.Batch) error {
	t, err := p.format.treeOf(p.format.options.Schemas.Begin(b))
	if err != nil {
		return p.fail(err)
	}
	p.tree = t
	p.columns = make([]column, len(t.leaves))
	for i := range p.columns {
		p.columns[i].init(&t.leaves[i])
	}
	if p.out.Size > 0 { // a batch without records came before
		return nil
	}
	return p.put([]byte(magic))
}

func (p *writer) fail(err error) error {
	p.err = err
	return err
}

func (p *writer) put(b []byte) error {
	if _, err := p.out.Write(b); err != nil {
		return p.fail(fmt.Errorf("write %d bytes behind byte %d of a Parquet file: %w", len(b), p.out.Size, err))
	}
	return nil
}

const (
	// mostRows and mostSize are how many rows are taken apart before the
	// columns take them: enough to be quick, few enough that their cells stay
	// in the processor's cache, and that the file's share of the memory isn't
	// exceeded by much.
	mostRows = 256
	mostSize = 256 << 10
)

// Write implements codec.Writer.
func (p *writer) Write(b *event.Batch) (rejects []codec.Reject, err error) {
	if p.err != nil {
		return nil, p.err
	}
	if p.tree == nil {
		if err := p.begin(b); err != nil {
			return nil, err
		}
	}
	s, ok := p.tree.scratch.Get().(*shredder)
	if !ok {
		s = newShredder(p.tree)
	}
	pages := p.format.pagers.Get().(*pager)
	most := min(mostSize, int(p.share()/8))
	for _, e := range b.Events {
		if reason := s.add(e, b); reason != "" {
			rejects = append(rejects, codec.Reject{Event: e, Reason: reason})
			continue
		}
		if s.rows >= mostRows || s.size >= most {
			if err := p.take(s, pages); err != nil {
				return nil, err
			}
		}
	}
	if err := p.take(s, pages); err != nil {
		return nil, err
	}
	p.format.options.Schemas.Learn(s.learn())
	p.tree.scratch.Put(s)
	p.format.pagers.Put(pages)
	if p.rows == 0 && p.footer.rows == 0 {
		p.tree = nil // only records settle the schema
	}
	return rejects, nil
}

// take moves the cells into the columns, and ends what is full.
func (p *writer) take(s *shredder, pages *pager) error {
	if s.rows == 0 {
		return nil
	}
	for i := range p.columns {
		c := &p.columns[i]
		c.take(&s.cells[i])
		if c.pageFull() {
			if err := p.endPage(c, pages); err != nil {
				return err
			}
		}
	}
	p.rows += int64(s.rows)
	s.reset()
	if p.groupFull() {
		return p.endGroup(pages)
	}
	return nil
}

func (p *writer) endPage(c *column, pages *pager) error {
	raw, packed := c.rawSize, c.pageSize
	if err := pages.finish(c); err != nil {
		return p.fail(err)
	}
	p.raw += c.rawSize - raw
	p.packed += c.pageSize - packed
	return nil
}

// groupFull reports whether the row group has its size, or the file its share
// of the memory.
func (p *writer) groupFull() bool {
	return p.building() >= p.share() || p.encoded() >= p.format.options.RowGroup
}

// share is how much memory the row group may take. Below the floor it costs
// more in headers and lost compression than it saves.
func (p *writer) share() int64 {
	floor := int64(192<<10) + int64(len(p.columns))*6<<10
	return max(floor, p.format.options.Memory/max(p.format.open.Load(), 1)-int64(cap(p.footer.groups)))
}

// memory is what the file holds, in bytes.
func (p *writer) memory() int64 { return int64(writerSize+cap(p.footer.groups)) + p.building() }

// building is the memory of the row group.
func (p *writer) building() (n int64) {
	for i := range p.columns {
		n += p.columns[i].memory()
	}
	return n
}

// writerSize is that of a writer itself.
const writerSize = 256

// encoded estimates what the row group will take in the file.
func (p *writer) encoded() int64 {
	var done, open int64
	for i := range p.columns {
		c := &p.columns[i]
		done += c.pageSize
		open += int64(c.open() + len(c.dict.bytes))
	}
	if p.raw > 0 {
		open = int64(float64(open) * float64(p.packed) / float64(p.raw))
	} else {
		open /= 2
	}
	return done + open
}

// errRows is why a file isn't finished whose footer would count rows that its
// pages don't have.
var errRows = errors.New("bug: the pages of a column have other rows than were written")

// endGroup writes the row group.
func (p *writer) endGroup(pages *pager) error {
	if p.rows == 0 {
		return nil
	}
	start := p.out.Size
	chunks := make([]chunk, len(p.columns))
	for i := range p.columns {
		if err := p.putChunk(&p.columns[i], &chunks[i], pages); err != nil {
			return err
		}
		if c := &p.columns[i]; c.total-c.continued != p.rows {
			return p.fail(fmt.Errorf("%w: column %v has %d instead of %d", errRows, c.leaf.path, c.total-c.continued, p.rows))
		}
	}
	if err := p.footer.group(p.columns, chunks, p.format.compressor.codec, p.rows, start); err != nil {
		return p.fail(err)
	}
	p.rows = 0
	keep := p.building()-p.held() <= p.share()/4
	for i := range p.columns {
		p.columns[i].nextGroup(keep)
	}
	return nil
}

// held is the memory of the finished pages.
func (p *writer) held() (n int64) {
	for i := range p.columns {
		n += p.columns[i].pageSize
	}
	return n
}

// putChunk writes a column's pages, the dictionary's first.
func (p *writer) putChunk(c *column, at *chunk, pages *pager) error {
	if err := p.endPage(c, pages); err != nil {
		return err
	}
	begin := p.out.Size
	if c.dictPages > 0 {
		page, err := pages.dictionary(c)
		if err != nil {
			return p.fail(err)
		}
		at.dictionary = p.out.Size
		if err := p.put(page); err != nil {
			return err
		}
	}
	if c.useDict {
		c.boundDictionary()
	}
	at.data = p.out.Size
	for _, page := range c.pages {
		if err := p.put(page); err != nil {
			return err
		}
	}
	at.size = p.out.Size - begin
	return nil
}

// Size implements codec.Writer. It estimates what the pages at hand will take
// by what those before did.
func (p *writer) Size() int64 {
	if p.closed {
		return p.out.Size
	}
	return p.out.Size + p.encoded() + int64(len(p.footer.groups))
}

// Buffered implements codec.Writer.
func (p *writer) Buffered() int64 { return p.memory() }

// Records implements codec.Counter: the rows of the footer, which are those that
// begin in the pages of each column.
func (p *writer) Records() int64 { return p.footer.rows }

// Close implements codec.Writer.
func (p *writer) Close() error {
	if p.leave.Swap(0) == 1 {
		p.cleanup.Stop()
		p.format.open.Add(-1)
	}
	if p.err != nil || p.closed {
		return p.err
	}
	if p.tree == nil {
		if err := p.begin(nil); err != nil {
			return err
		}
	}
	pages := p.format.pagers.Get().(*pager)
	if err := p.endGroup(pages); err != nil {
		return err
	}
	p.format.pagers.Put(pages)
	p.closed, p.columns = true, nil
	end, err := p.footer.append(nil, p.tree, p.meta)
	if err != nil {
		return p.fail(err)
	}
	return p.put(end)
}
