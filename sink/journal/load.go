package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// loader rebuilds the state from the log.
type loader struct {
	log    *log.Log
	st     *state
	report *Report
	// letters is Options.Letters.
	letters func(bucket string) bool
}

// load rebuilds the state from the newest segment, and returns what of it
// isn't known to be durable. If its snapshot can't be read, the newest before
// it that can is the base, and whatever is readable in the segments after that
// is applied on top: what they lost is delivered again.
func (l *loader) load(segments []log.Found) ([]log.Tail, error) {
	base, snapshotEnd, err := l.loadBase(segments)
	if err != nil {
		return nil, err
	}
	nothing := base < 0
	if nothing {
		l.loadNothing(segments)
		base = 0
	}
	l.st.letters = l.letters
	l.takeSalts()
	var tails []log.Tail
	for i, f := range segments[base:] {
		switch {
		case f.Cut:
			l.report.damage("%s is cut short, or its end is damaged: what it told last may be lost", log.SegmentName(f.ID))
		case f.Bad != nil && f.Second:
			l.report.damage("%s: %v, the copy at its end is used", log.SegmentName(f.ID), f.Bad)
		case f.Bad != nil:
			l.report.damage("%s: %v, so nothing in it can be read", log.SegmentName(f.ID), f.Bad)
		}
		if i > 0 {
			l.report.damage("the snapshot of %s can't be read: what the segments that are gone told is lost, "+
				"and records of chunks that were finished there may be delivered again", log.SegmentName(f.ID))
		}
		if f.Bad != nil || f.Cut || i > 0 || nothing {
			l.report.aside = append(l.report.aside, f.ID)
		}
		t, err := l.loadFrames(f.ID)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			t.From = max(t.From, snapshotEnd)
		}
		tails = append(tails, t)
	}
	return tails, l.loadSeen()
}

// loadBase loads the newest snapshot that can be read, and returns which
// segment it begins and where it ends; -1 if there is none.
func (l *loader) loadBase(segments []log.Found) (base int, end int64, err error) {
	for i := len(segments) - 1; i >= 0; i-- {
		if !segments[i].Readable() {
			continue
		}
		f, behind, ok, err := l.log.First(segments[i].ID)
		if ok && f.Kind == log.Kind(KindSnapshot) {
			st, err := decodeSnapshot(f.Payload)
			if newer := new(log.VersionError); errors.As(err, &newer) {
				return 0, 0, fmt.Errorf("%s: %w", log.SegmentName(segments[i].ID), newer)
			}
			if err == nil {
				l.st, end = st, behind
			}
		}
		if err != nil || l.st != nil {
			return i, end, err
		}
	}
	return -1, 0, nil
}

// loadNothing begins with an empty state, because there is none or because no
// snapshot is readable.
func (l *loader) loadNothing(segments []log.Found) {
	l.st = newState()
	rand.Read(l.st.id[:]) // never fails
	if len(segments) == 0 {
		l.report.New = true
		return
	}
	l.report.damage("no snapshot is readable: every readable chunk is delivered, also those that were finished before")
	// Numbers that were given out are lost with the snapshot. Published names
	// are never replaced, so a gap only spares attempts in vain.
	l.st.nextPart = uint64(max(1, time.Now().Unix()))
	for _, f := range segments {
		if f.Readable() {
			l.st.id = f.State
		}
	}
}

// takeSalts takes from the snapshot what headers that can't be read would say.
func (l *loader) takeSalts() {
	for id, o := range l.st.older {
		l.log.SetSalt(id, o.salt)
	}
}

// loadFrames applies a segment's frames.
func (l *loader) loadFrames(id uint64) (log.Tail, error) {
	var odd []string
	var newer *log.VersionError
	r, err := l.log.Replay(id, func(f log.Frame) {
		if f.Kind == log.Kind(KindSnapshot) {
			return
		}
		if k := Kind(f.Kind); k.unknown() {
			if !k.skippable() {
				newer = &log.VersionError{Found: log.Version, Needs: fmt.Sprintf("frames of %v", k)}
			}
			return
		}
		frame, err := decodeFrame(Kind(f.Kind), f.Payload)
		if err != nil {
			odd = append(odd, fmt.Sprintf("the %v frame at offset %d: %v", Kind(f.Kind), f.At.Offset, err))
			return
		}
		frame.apply(l.st, f.At)
	})
	if newer != nil {
		return log.Tail{}, fmt.Errorf("%s: %w", log.SegmentName(id), newer)
	}
	for _, b := range r.Bad {
		l.report.damage("%s at offset %d: %v; if it said that a part was rolled, "+
			"or which chunks were seen, records of those chunks are delivered at least once; "+
			"if it was a chunk, its records are lost unless Fluent Bit still has them", log.SegmentName(id), b.Offset, b.Err)
	}
	for _, o := range append(odd, l.st.odd...) {
		l.report.damage("%s: %s", log.SegmentName(id), o)
	}
	l.st.odd = nil
	if len(r.Bad) > 0 && !slices.Contains(l.report.aside, id) {
		l.report.aside = append(l.report.aside, id)
	}
	return log.Tail{Segment: id, From: r.Durable, To: r.End}, err
}

// loadSeen reads the identities that a snapshot of log.Version 1 has in frames.
func (l *loader) loadSeen() error {
	for _, loc := range l.st.seen {
		payload, err := l.log.Read(loc, nil)
		if err == nil {
			r := &reader{b: payload}
			f := decodeSeen(r)
			if err = r.end(); err == nil {
				f.apply(l.st, loc)
			}
		} else if !errors.As(err, new(*DamageError)) {
			return err
		}
		if err != nil {
			l.report.damage("identities of chunks whose files are gone can't be read (%v): "+
				"such a chunk, delivered once more, would be taken for new", err)
		}
	}
	l.st.seen = nil
	return nil
}

// dropUnreachable drops live chunks whose segment is gone or too short.
func (l *loader) dropUnreachable() {
	lost := map[uint64]int{}
	for seq, c := range l.st.chunks {
		if c.loc.Offset+c.loc.Size() > l.log.Info(c.loc.Segment).Size {
			l.st.loseChunk(seq)
			lost[c.loc.Segment]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		l.report.damage("%s is missing or cut short: %d chunks are lost unless Fluent Bit still has them", log.SegmentName(id), lost[id])
		if l.log.Has(id) && !slices.Contains(l.report.aside, id) {
			l.report.aside = append(l.report.aside, id)
		}
	}
}
