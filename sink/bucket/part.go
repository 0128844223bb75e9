package bucket

import (
	"errors"
	"fmt"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/partfile"
	"github.com/out-hdfs/out_hdfs/sink/run"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// part is an in-progress part: a staged file and what it holds. The applier
// owns it until it is rolled, then the sealer.
type part struct {
	number  uint64
	bucket  string
	suffix  string
	file    *staging.File
	writer  codec.Writer // nil for dead letters, whose blocks go straight to the file
	shares  []partShare
	runs    int64 // bytes of the shares' ordinals
	records int64
	first   time.Time // when its oldest record's chunk arrived, see add
	oldest  uint64    // lowest sequence among the shares
	last    time.Time // last write
	early   float64   // rolling.PartInfo.Early
	counted int64     // what the stage counts of buffered
	reason  rolling.Reason
}

// partShare is what a part holds of a chunk, and how often that could not be
// finished before.
type partShare struct {
	journal.Share
	failed int
}

func (p *part) info() rolling.PartInfo {
	return rolling.PartInfo{Size: p.size(), Records: p.records, FirstWrite: p.first, LastWrite: p.last, Early: p.early}
}

func (p *part) size() int64 {
	if p.writer != nil {
		return p.writer.Size()
	}
	return p.file.Size()
}

// shareSize is about what a share takes besides its ordinals.
const shareSize = 64

// buffered is the memory that the part holds.
func (p *part) buffered() int64 {
	n := p.file.Buffered() + p.runs + shareSize*int64(len(p.shares))
	if p.writer != nil {
		n += p.writer.Buffered()
	}
	return n
}

// maxShareList bounds the bytes of a part's shares, which one journal frame
// lists: a bucket that gets every other record of billions is rolled by it.
const maxShareList = 8 << 20

// full reports whether the part must be rolled whatever the policy says.
func (p *part) full() bool { return p.runs+shareSize*int64(len(p.shares)) >= maxShareList }

// add writes a job's share. Its rejects go to the job's letters. After an
// error, which a panic is too, the file's end may belong to no share: the part
// can't be used.
func (p *part) add(j *chunk.Job, sh *chunk.Share) (err error) {
	if panicked := run.Safely(func() { err = p.write(j, sh) }); panicked != "" {
		err = errors.New(panicked)
	}
	if err != nil {
		return formatFailed(j.Seq, err)
	}
	sh.Applied = true
	if sh.Records.Count() == 0 {
		return nil
	}
	// The age counts by the process's own clock from here on, whatever becomes
	// of the wall clock. A chunk from the future has just arrived.
	now := time.Now()
	arrived := now.Add(-max(0, now.Sub(j.Arrival)))
	if p.records == 0 || arrived.Before(p.first) {
		p.first = arrived
	}
	if len(p.shares) == 0 || j.Seq < p.oldest {
		p.oldest = j.Seq
	}
	p.last = now
	p.records += int64(sh.Records.Count())
	p.runs += int64(len(sh.Records.Bytes()))
	p.shares = append(p.shares, partShare{journal.Share{
		Seq: j.Seq, Records: j.Records, Count: sh.Records.Count(), Runs: sh.Records.Bytes(),
	}, j.Failed})
	return nil
}

// end has the format end the file.
func (p *part) end() error {
	if p.writer == nil {
		return nil
	}
	if err := partfile.End(p.writer, p.file.Size, p.records); err != nil {
		return &partfile.Error{Err: fmt.Errorf("end part %d: %w", p.number, err)}
	}
	return nil
}
