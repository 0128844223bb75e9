// Package chunk is what travels from the journal to the parts: the records of a
// chunk that are owed, the job of decoding them, and the shares into which they
// are sorted. It holds data and the rules by which records are counted, and no
// goroutine.
//
// A record of a job is at any time in exactly one of these: a share's batch, a
// share's block, or the letters. That is why Owed can say what is left when a
// job could not be applied as a whole.
package chunk

import (
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/memory"
)

// RetryAfter is how long records wait that could not be applied, before they are
// decoded again.
const RetryAfter = time.Second

// Owed is a chunk with records that are to be decoded.
type Owed struct {
	Seq     uint64
	Size    int64
	Tag     string    // valid with Payload
	Arrival time.Time // valid with Payload
	// Payload is nil if the chunk is to be read back from the journal.
	Payload *memory.Payload
	// Only restricts the chunk to these records, which a part that could not be
	// finished held. nil means every record that is in no rolled part.
	Only *journal.Coverage
	// Alone is set for a chunk that a process died over: it is decoded with no
	// other beside it.
	Alone bool
	// Failed is how many parts in a row that held these records the format
	// could not finish, and Why is the last one's reason.
	Failed int
	Why    string
}

// MaxDeaths is after how many process deaths in a row a chunk is held.
const MaxDeaths = 3

// Held reports whether the chunk waits for an operator.
func Held(c journal.Live) bool { return c.Deaths >= MaxDeaths }

// Job is a chunk on its way through a worker to the buckets. The worker owns it
// until Done is closed, then whoever applies it.
type Job struct {
	Owed
	room *memory.Room
	Done chan struct{} // closed when the worker is through with it

	// What the worker made. Its bytes live until the job is released.
	Records uint32 // of the whole chunk
	Shares  []*Share
	Letters []Letter
	// LetterShare is the letters' share, once it is made. It is kept here so
	// that a panic doesn't hide that it is in a part.
	LetterShare *Share
	Data        []byte // the payload, lent if Payload is nil
	Blocks      []byte // the shares' blocks, lent
	Err         error  // why the chunk could not be read
	// Undecoded is set for a chunk that goes undecoded to the dead letters.
	Undecoded bool
	// Published is how many of such a chunk's records are in rolled parts.
	Published uint32
}

// NewJob begins a job that has taken room for o.Memory bytes.
func NewJob(o Owed, room *memory.Room) *Job {
	return &Job{Owed: o, room: room, Done: make(chan struct{})}
}

// Release gives the job's buffers back. What the job says is worthless then.
func (j *Job) Release(m *memory.Pool) {
	m.Give(j.Blocks)
	if j.Payload != nil {
		m.Release(j.Payload)
	} else {
		m.Give(j.Data)
	}
	j.room.Leave()
	j.Data, j.Blocks, j.Shares, j.Letters, j.LetterShare = nil, nil, nil, nil, nil
}

// Letter makes a record a dead letter.
func (j *Job) Letter(e *event.Event, reason string) {
	j.Letters = append(j.Letters, Letter{e, reason})
}

// Reject makes letters of records that the format refused.
func (j *Job) Reject(rejects []codec.Reject) {
	for _, r := range rejects {
		j.Letter(r.Event, r.Reason)
	}
}

// Unapplied are the job's records that are in no part, nil if there are none.
func (j *Job) Unapplied() *journal.Coverage {
	var left []uint32
	for _, sh := range j.Shares {
		left = append(left, sh.unapplied()...)
	}
	if j.LetterShare == nil || !j.LetterShare.Applied {
		for _, l := range j.Letters {
			left = append(left, l.Event.Ordinal)
		}
		if j.Undecoded {
			left = append(left, 0)
		}
	}
	if len(left) == 0 {
		return nil
	}
	c := journal.CoverageOf(runsOf(left))
	return &c
}

// runsOf encodes ordinals in any order.
func runsOf(ordinals []uint32) []byte {
	slices.Sort(ordinals)
	var r journal.Ranges
	for _, o := range slices.Compact(ordinals) {
		r.Add(o)
	}
	return r.Bytes()
}

// Share is the records of one chunk that go to one bucket.
type Share struct {
	Bucket  string
	Batch   event.Batch
	Block   []byte // encoded, if the format does that ahead of the file
	Encoded bool
	Records journal.Ranges // of the block, or of what was written of the batch
	Letter  bool           // the dead letters' share
	Applied bool           // it is in a part, or nothing of it needs to be
}

// Account notes which of the share's records were encoded: those that weren't
// rejected.
func (sh *Share) Account(rejects []codec.Reject) {
	rejected := map[uint32]bool{}
	for _, r := range rejects {
		rejected[r.Event.Ordinal] = true
	}
	for _, e := range sh.Batch.Events {
		if len(rejected) == 0 || !rejected[e.Ordinal] {
			sh.Records.Add(e.Ordinal)
		}
	}
}

// DropBlock gives the share's block up for the events that it holds, which are
// then encoded in the file.
func (sh *Share) DropBlock() {
	encoded := journal.CoverageOf(sh.Records.Bytes())
	sh.Batch.Events = slices.DeleteFunc(sh.Batch.Events, func(e *event.Event) bool { return !encoded.Has(e.Ordinal) })
	sh.Records, sh.Block, sh.Encoded = journal.Ranges{}, nil, false
}

// unapplied are the records of a share that wasn't applied. Those that were
// rejected ahead aren't among them: they are letters.
func (sh *Share) unapplied() (ordinals []uint32) {
	if sh.Applied {
		return nil
	}
	encoded := journal.CoverageOf(sh.Records.Bytes())
	for _, e := range sh.Batch.Events {
		if !sh.Encoded || encoded.Has(e.Ordinal) {
			ordinals = append(ordinals, e.Ordinal)
		}
	}
	return ordinals
}
