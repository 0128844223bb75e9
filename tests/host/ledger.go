package host

import (
	"fmt"
	"maps"
	"slices"
)

// Ledger adds up what runs over one storage folder were answered. Its zero
// value is empty. It isn't safe for concurrent use.
type Ledger struct {
	chunks  map[string]span            // by chunk
	ok      map[string]map[string]bool // by output, then chunk
	dropped map[string]map[string]bool
}

// span is a chunk's records: ids from first on.
type span struct{ first, records uint64 }

// Add takes over what a run reported.
func (l *Ledger) Add(events []Event) {
	if l.chunks == nil {
		l.chunks = map[string]span{}
		l.ok = map[string]map[string]bool{}
		l.dropped = map[string]map[string]bool{}
	}
	mark := func(in map[string]map[string]bool, e Event) {
		if in[e.Output] == nil {
			in[e.Output] = map[string]bool{}
		}
		in[e.Output][e.Chunk] = true
	}
	for _, e := range events {
		switch {
		case e.Event == "chunk":
			l.chunks[e.Chunk] = span{e.First, e.Records}
		case e.Event == "answer" && e.Answer == OK:
			mark(l.ok, e)
		case e.Event == "drop":
			mark(l.dropped, e)
		}
	}
}

// Sent is the ids of all records that were ingested, in order.
func (l *Ledger) Sent() []uint64 {
	return ids(l.chunks, func(string) bool { return true })
}

// Promised is the ids of the records that the output answered OK for, in
// order: those that it must have written exactly once.
func (l *Ledger) Promised(output string) []uint64 {
	return ids(l.chunks, func(chunk string) bool { return l.ok[output][chunk] })
}

// Dropped is the ids of the records that Fluent Bit would have given up.
func (l *Ledger) Dropped(output string) []uint64 {
	return ids(l.chunks, func(chunk string) bool { return l.dropped[output][chunk] })
}

func ids(chunks map[string]span, counts func(chunk string) bool) []uint64 {
	var all []uint64
	for _, chunk := range slices.Sorted(maps.Keys(chunks)) {
		if s := chunks[chunk]; counts(chunk) {
			for id := s.first; id < s.first+s.records; id++ {
				all = append(all, id)
			}
		}
	}
	slices.Sort(all)
	return all
}

// ExactlyOnce compares the ids that were written with those that were sent and
// those that were promised: every promised one is there once, every other sent
// one at most once, and no other is.
func ExactlyOnce(sent, promised, written []uint64) error {
	count := make(map[uint64]int, len(written))
	for _, id := range written {
		count[id]++
	}
	var missing, twice, unknown []uint64
	for _, id := range promised {
		if count[id] == 0 {
			missing = append(missing, id)
		}
	}
	known := make(map[uint64]bool, len(sent))
	for _, id := range sent {
		known[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(count)) {
		if count[id] > 1 {
			twice = append(twice, id)
		}
		if !known[id] {
			unknown = append(unknown, id)
		}
	}
	if len(missing)+len(twice)+len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("of %d records promised %d are missing %v, %d are there more than once %v, %d were never sent %v",
		len(promised), len(missing), few(missing), len(twice), few(twice), len(unknown), few(unknown))
}

func few(ids []uint64) []uint64 { return ids[:min(len(ids), 5)] }
