package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

const (
	// seenBatchSize is how many identities whose files are gone make a frame.
	seenBatchSize = 4096
	// rememberFor is how much longer than its file an identity is remembered,
	// in running time: a file whose removal a power loss undid comes back with
	// the machine, not a day later.
	rememberFor = 24 * time.Hour
)

// Origin is where Fluent Bit keeps a chunk: its file, which outlives retries
// and restarts, and what identifies the content. The zero Origin means that
// the chunk has no file, and then nothing is remembered of it.
type Origin struct {
	Dir    string // directory of the chunk file
	Name   string
	Length uint32
	CRC    uint32 // CRC-32C of the content
}

// originKey stands for an Origin where many are kept.
type originKey [16]byte

func (o Origin) key() originKey {
	h := sha256.New()
	h.Write([]byte(o.Dir))
	h.Write([]byte{0})
	h.Write([]byte(o.Name))
	h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(o.Length)<<32|uint64(o.CRC)))
	return originKey(h.Sum(nil)[:16])
}

// present is an identity whose file may still exist.
type present struct{ dir, name string }

// seenBatch is a frame of identities whose files are gone.
type seenBatch struct {
	loc   log.Location
	since time.Duration // the state's running time when it was written
	keys  []originKey   // sorted
}

// known reports whether the identity was accepted before.
func (s *state) known(k originKey) bool {
	if _, ok := s.present[k]; ok {
		return true
	}
	for _, b := range s.batches {
		if _, ok := slices.BinarySearchFunc(b.keys, k, compareKeys); ok {
			return true
		}
	}
	return false
}

// compareKeys orders keys as bytes.Compare does.
func compareKeys(a, b originKey) int {
	if c := cmp.Compare(binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8])); c != 0 {
		return c
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}

// MarkGone looks which chunk files of a directory are gone. list answers the
// names of those that exist; it is called at most once, and its error is
// returned. Identities whose files are gone are moved to a frame of their own
// once there are enough of them, and forgotten after a day of running time.
func (j *Journal) MarkGone(dir string, list func() ([]string, error)) error {
	// Before the listing: a chunk that is accepted meanwhile may be missing in
	// it, and its file exists.
	gone := j.presentIn(dir)
	if len(gone) < seenBatchSize {
		return nil
	}
	names, err := list()
	if err != nil {
		return err
	}
	exists := make(map[string]bool, len(names))
	for _, n := range names {
		exists[n] = true
	}
	maps.DeleteFunc(gone, func(_ originKey, name string) bool { return exists[name] })
	if len(gone) < seenBatchSize {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(gone), compareKeys)
	j.mu.Lock()
	f := &seenFrame{seq: j.st.nextSeq, since: j.runningLocked(), keys: keys}
	j.st.nextSeq++
	j.mu.Unlock()
	return j.Append(f)
}

// forget forgets the identities whose time is over.
func (s *state) forget() {
	for seq, b := range s.batches {
		if s.running-b.since > rememberFor {
			s.dropLive(b.loc)
			delete(s.batches, seq)
		}
	}
}

// seenFrame moves identities whose files are gone into a frame of their own.
type seenFrame struct {
	seq   uint64
	since time.Duration
	keys  []originKey // sorted
}

func (*seenFrame) kind() Kind { return KindSeen }

func (f *seenFrame) encode(b []byte) []byte {
	b = putInt(putUint(b, f.seq), int64(f.since))
	b = putUint(b, uint64(len(f.keys)))
	for _, k := range f.keys {
		b = append(b, k[:]...)
	}
	return b
}

func (f *seenFrame) apply(s *state, loc log.Location) {
	s.nextSeq = max(s.nextSeq, f.seq+1)
	if b := s.batches[f.seq]; b != nil { // copied forward
		s.dropLive(b.loc)
	}
	s.addLive(loc)
	s.batches[f.seq] = &seenBatch{loc: loc, since: f.since, keys: f.keys}
	for _, k := range f.keys {
		delete(s.present, k)
	}
}

func decodeSeen(r *reader) *seenFrame {
	f := &seenFrame{seq: r.uint(), since: time.Duration(r.int())}
	for range r.count(len(originKey{})) {
		f.keys = append(f.keys, r.key())
	}
	return f
}
