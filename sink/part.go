package sink

import (
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
	shares  []journal.Share
	records int64
	first   time.Time // arrival of the oldest record's chunk
	oldest  uint64    // lowest sequence among the shares
	last    time.Time // last write
	held    int64     // what the applier counts of buffered
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

// buffered is the memory that the part holds.
func (p *part) buffered() int64 {
	n := int64(cap(p.file.buf))
	if p.writer != nil {
		n += p.writer.Buffered()
	}
	return n
}

// add writes a job's share. Its rejects go to the job's letters. An error
// spoils the file.
func (p *part) add(j *job, sh *share) (err error) {
	if panicked := safely(func() { err = p.write(j, sh) }); panicked != "" {
		return fmt.Errorf("encode a share of chunk %d: %s", j.seq, panicked)
	}
	if err != nil || sh.records.Count() == 0 {
		return err
	}
	now := time.Now()
	if p.records == 0 || j.arrival.Before(p.first) {
		p.first = minTime(j.arrival, now)
	}
	if len(p.shares) == 0 || j.seq < p.oldest {
		p.oldest = j.seq
	}
	p.last = now
	p.records += int64(sh.records.Count())
	p.shares = append(p.shares, journal.Share{
		Seq: j.seq, Records: j.records, Count: sh.records.Count(), Runs: sh.records.Bytes(),
	})
	return nil
}

func (p *part) write(j *job, sh *share) error {
	if p.writer == nil {
		_, err := p.file.Write(sh.block)
		return err
	}
	if sh.encoded {
		return p.writer.(codec.BlockWriter).WriteBlock(sh.block, int(sh.records.Count()))
	}
	rejects, err := p.writer.Write(&sh.batch)
	if err != nil {
		return err
	}
	sh.account(rejects)
	j.reject(rejects)
	return nil
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
