package journal

import (
	"maps"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// encodeSnapshot appends the whole state. Maps are written in key order, so
// that equal states have equal snapshots.
func (s *state) encodeSnapshot(b []byte) []byte {
	b = append(b, s.id[:]...)
	b = putTime(putUint(putString(b, s.writerID), s.dirInode), s.dirBirth)
	b = putInt(putUint(putUint(b, s.nextSeq), s.nextPart), int64(s.running))
	b = putUint(putUint(putUint(b, s.totals.Parts), s.totals.Records), s.totals.Bytes)

	b = putUint(b, uint64(len(s.older)))
	for _, id := range sortedKeys(s.older) {
		b = putUint(putInt(putUint(b, id), s.older[id].upTo), s.older[id].salt)
	}
	b = putUint(b, uint64(len(s.chunks)))
	for _, seq := range sortedKeys(s.chunks) {
		c := s.chunks[seq]
		b = putTime(putLocation(putUint(b, seq), c.loc), c.arrival)
		flags := uint64(c.deaths) << 1
		if c.asLetter {
			flags |= 1
		}
		b = append(putUint(b, flags), c.key[:]...)
		b = c.covered.encode(b)
	}
	b = putUint(b, uint64(len(s.parts)))
	for _, n := range sortedKeys(s.parts) {
		b = putPart(b, s.parts[n])
	}
	b = putUint(b, uint64(len(s.leftovers)))
	for _, l := range s.leftovers {
		b = putString(putString(b, l.Target), l.Temp)
	}
	b = putSeqs(b, s.decoding)
	b = putUint(b, 0) // log.Version 1 has frames of identities here
	return s.encodeSections(s.encodeIdentities(b))
}

func putLocation(b []byte, l log.Location) []byte {
	return putUint(putInt(putUint(b, l.Segment), l.Offset), uint64(l.Length))
}

func (r *reader) location() log.Location {
	return log.Location{Segment: r.uint(), Offset: r.int(), Length: uint32(r.upTo(log.MaxFrame))}
}

// decodeSnapshot is the inverse of encodeSnapshot.
func decodeSnapshot(payload []byte) (*state, error) {
	r := &reader{b: payload}
	s := newState()
	s.id = r.key()
	s.writerID, s.dirInode, s.dirBirth = r.string(), r.uint(), r.time()
	s.nextSeq, s.nextPart, s.running = r.uint(), r.uint(), time.Duration(r.int())
	s.totals = Totals{r.uint(), r.uint(), r.uint()}
	for range r.count(3) {
		id := r.uint()
		s.older[id] = older{upTo: r.int(), salt: r.uint()}
	}
	for range r.count(23) {
		seq := r.uint()
		c := &chunk{loc: r.location(), arrival: r.time()}
		flags := r.upTo(1<<9 - 1)
		c.deaths, c.asLetter = uint8(flags>>1), flags&1 != 0
		c.key = r.key()
		c.covered = r.coverage()
		s.chunks[seq] = c
		s.addLive(c.loc)
	}
	for range r.count(10) {
		p := r.part()
		s.parts[p.Number] = &p
	}
	for range r.count(2) {
		s.leftovers = append(s.leftovers, Leftover{r.string(), r.string()})
	}
	s.decoding = r.seqs()
	for range r.count(5) {
		_ = r.uint() // its sequence
		s.seen = append(s.seen, r.location())
		_ = r.int() // since when, as the frame has it
	}
	dirs := s.decodeIdentities(r)
	return s, s.decodeSections(r, dirs)
}

func sortedKeys[V any](m map[uint64]V) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
