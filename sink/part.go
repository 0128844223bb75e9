package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// part is an in-progress part: a staged file and what it holds. The applier
// owns it until it is rolled, then the sealer.
type part struct {
	number  uint64
	bucket  string
	suffix  string
	file    *stagedFile
	writer  codec.Writer // nil for dead letters, whose blocks go straight to the file
	shares  []partShare
	runs    int64 // bytes of the shares' ordinals
	records int64
	first   time.Time // when its oldest record's chunk arrived, see add
	oldest  uint64    // lowest sequence among the shares
	last    time.Time // last write
	held    int64     // what the applier counts of buffered
}

// partShare is what a part holds of a chunk, and how often that could not be
// finished before.
type partShare struct {
	journal.Share
	failed int
}

func (p *part) info() rolling.PartInfo {
	return rolling.PartInfo{Size: p.size(), Records: p.records, FirstWrite: p.first, LastWrite: p.last}
}

func (p *part) size() int64 {
	if p.writer != nil {
		return p.writer.Size()
	}
	return p.file.size()
}

// shareSize is about what a share takes besides its ordinals.
const shareSize = 64

// buffered is the memory that the part holds.
func (p *part) buffered() int64 {
	n := int64(cap(p.file.buf)) + p.runs + shareSize*int64(len(p.shares))
	if p.writer != nil {
		n += p.writer.Buffered()
	}
	return n
}

// maxShares bounds the bytes of a part's shares, which one journal frame
// lists: a bucket that gets every other record of billions is rolled by it.
const maxShares = 8 << 20

// full reports whether the part must be rolled whatever the policy says.
func (p *part) full() bool { return p.runs+shareSize*int64(len(p.shares)) >= maxShares }

// add writes a job's share. Its rejects go to the job's letters. After an
// error, which a panic is too, the file's end may belong to no share: the part
// can't be used.
func (p *part) add(j *job, sh *share) (err error) {
	if panicked := safely(func() { err = p.write(j, sh) }); panicked != "" {
		err = errors.New(panicked)
	}
	if err != nil {
		return &formatError{fmt.Errorf("encode a share of chunk %d: %w", j.seq, err)}
	}
	sh.applied = true
	if sh.records.Count() == 0 {
		return nil
	}
	// The age counts by the process's own clock from here on, whatever becomes
	// of the wall clock. A chunk from the future has just arrived.
	now := time.Now()
	arrived := now.Add(-max(0, now.Sub(j.arrival)))
	if p.records == 0 || arrived.Before(p.first) {
		p.first = arrived
	}
	if len(p.shares) == 0 || j.seq < p.oldest {
		p.oldest = j.seq
	}
	p.last = now
	p.records += int64(sh.records.Count())
	p.runs += int64(len(sh.records.Bytes()))
	p.shares = append(p.shares, partShare{journal.Share{
		Seq: j.seq, Records: j.records, Count: sh.records.Count(), Runs: sh.records.Bytes(),
	}, j.failed})
	return nil
}

func (p *part) write(j *job, sh *share) (err error) {
	if p.writer == nil {
		_, err = p.file.Write(sh.block)
		return err
	}
	if sh.encoded {
		err = p.writer.(codec.BlockWriter).WriteBlock(sh.block, int(sh.records.Count()))
		if !errors.Is(err, codec.ErrOtherSchema) {
			return err
		}
		sh.decoded()
	}
	rejects, err := p.writer.Write(&sh.batch)
	if err != nil {
		return err
	}
	sh.account(rejects)
	j.reject(rejects)
	return nil
}

// formatError says that a format could not finish a file: what it was given
// may be the reason, and the disk isn't.
type formatError struct{ err error }

func (e *formatError) Error() string { return e.err.Error() }
func (e *formatError) Unwrap() error { return e.err }
