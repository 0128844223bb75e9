package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// found is a segment on the disk.
type found struct {
	id     uint64
	header segmentHeader
	bad    error // why the header can't be used
	second bool  // only the header's copy can
	cut    bool  // the header can, but its copy isn't at the end
	start  [headerSize]byte
}

// list finds the segments, by number, and the spares.
func (j *Journal) list() (segments []found, spares []string, err error) {
	names, err := j.disk.List(Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the journal: %w", err)
	}
	j.nextID = 1
	for _, name := range names {
		if isSpare(name) {
			spares = append(spares, Dir+"/"+name)
			continue
		}
		id, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		f, err := j.find(id)
		if err != nil {
			return nil, nil, err
		}
		segments = append(segments, f)
		j.nextID = id + 1
	}
	return segments, spares, nil
}

// find reads a segment's header. It fails on what says nothing about the
// segment's content: a file that can't be opened, or that is a newer
// release's.
func (j *Journal) find(id uint64) (found, error) {
	f, err := j.disk.Open(segmentName(id))
	if err != nil {
		return found{}, fmt.Errorf("open %s: %w", segmentName(id), err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return found{}, fmt.Errorf("find the size of %s: %w", segmentName(id), err)
	}
	out := found{id: id}
	readStart(f, out.start[:])
	out.header, out.bad = readHeader(f, 0, size, id)
	copied, err := readHeader(f, size-headerSize, size, id)
	switch {
	case out.bad != nil && err == nil:
		out.header, out.second = copied, true
	case out.bad == nil && err != nil:
		out.cut = true
	}
	var v *VersionError
	if errors.As(out.bad, &v) {
		return found{}, fmt.Errorf("%s: %w", segmentName(id), v)
	}
	info := segmentInfo{size: size, room: size, salt: out.header.salt}
	var h [frameHeaderSize]byte
	if readFull(f, h[:], headerSize) == nil {
		if snapshot, ok := getFrameHeader(&h, place{info.salt, id, headerSize}, size); ok {
			info.room = size - 2*headerSize - snapshot.size()
		}
	}
	j.segments[id] = info
	return out, nil
}

// readStart fills b with a file's first bytes, and zeros if there are none.
func readStart(f disk.File, b []byte) {
	if readFull(f, b, 0) != nil {
		clear(b)
	}
}

func readHeader(f disk.File, at, size int64, id uint64) (segmentHeader, error) {
	if at < 0 || at >= size {
		return segmentHeader{}, errNoHeader
	}
	b := make([]byte, min(maxHeader, size-at))
	if err := readFull(f, b, at); err != nil {
		return segmentHeader{}, fmt.Errorf("its header can't be read: %w", err)
	}
	h, err := decodeSegmentHeader(b)
	if err == nil && h.segment != id {
		return segmentHeader{}, fmt.Errorf("its header is that of segment %d", h.segment)
	}
	return h, err
}

// readable reports whether the segment's frames can be checked.
func (f found) readable() bool { return f.bad == nil || f.second }

// load rebuilds the state from the newest segment, and returns what of it
// isn't known to be durable. If its snapshot can't be read, the newest before
// it that can is the base, and whatever is readable in the segments after that
// is applied on top: what they lost is delivered again.
func (j *Journal) load(segments []found, report *Report) ([]tail, error) {
	base, snapshotEnd, err := j.loadBase(segments)
	if err != nil {
		return nil, err
	}
	nothing := base < 0
	if nothing {
		j.loadNothing(segments, report)
		base = 0
	}
	j.takeSalts()
	var tails []tail
	for i, f := range segments[base:] {
		switch {
		case f.cut:
			report.damage("%s is cut short, or its end is damaged: what it told last may be lost", segmentName(f.id))
		case f.bad != nil && f.second:
			report.damage("%s: %v, the copy at its end is used", segmentName(f.id), f.bad)
		case f.bad != nil:
			report.damage("%s: %v, so nothing in it can be read", segmentName(f.id), f.bad)
		}
		if i > 0 {
			report.damage("the snapshot of %s can't be read: what the segments that are gone told is lost, "+
				"and records of chunks that were finished there may be delivered again", segmentName(f.id))
		}
		if f.bad != nil || f.cut || i > 0 || nothing {
			report.aside = append(report.aside, f.id)
		}
		t, err := j.loadFrames(f.id, report)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			t.from = max(t.from, snapshotEnd)
		}
		tails = append(tails, t)
	}
	return tails, j.loadSeen(report)
}

// loadBase loads the newest snapshot that can be read, and returns which
// segment it begins and where it ends; -1 if there is none.
func (j *Journal) loadBase(segments []found) (base int, end int64, err error) {
	for i := len(segments) - 1; i >= 0; i-- {
		if !segments[i].readable() {
			continue
		}
		err := j.scan(segments[i].id, func(s *scanner) error {
			f, err := s.frame(headerSize)
			if err != nil || f.kind != KindSnapshot {
				return nil
			}
			if st, err := decodeSnapshot(f.payload); err == nil {
				j.st, end = st, f.end()
			}
			return nil
		})
		if err != nil || j.st != nil {
			return i, end, err
		}
	}
	return -1, 0, nil
}

// loadNothing begins with an empty state, because there is none or because no
// snapshot is readable.
func (j *Journal) loadNothing(segments []found, report *Report) {
	j.st = newState()
	rand.Read(j.st.id[:]) // never fails
	if len(segments) == 0 {
		report.New = true
		return
	}
	report.damage("no snapshot is readable: every readable chunk is delivered, also those that were finished before")
	// Numbers that were given out are lost with the snapshot. Published names
	// are never replaced, so a gap only spares attempts in vain.
	j.st.nextPart = uint64(max(1, time.Now().Unix()))
	for _, f := range segments {
		if f.readable() {
			j.st.id = f.header.state
		}
	}
}

// takeSalts takes from the snapshot what headers that can't be read would say.
func (j *Journal) takeSalts() {
	for id, o := range j.st.older {
		if info, ok := j.segments[id]; ok {
			info.salt = o.salt
			j.segments[id] = info
		}
	}
}

func (j *Journal) scan(id uint64, with func(*scanner) error) error {
	f, err := j.disk.Open(segmentName(id))
	if err != nil {
		return fmt.Errorf("open %s: %w", segmentName(id), err)
	}
	defer f.Close()
	info := j.segments[id]
	return with(&scanner{file: f, id: id, salt: info.salt, size: info.size})
}

// loadFrames applies a segment's frames.
func (j *Journal) loadFrames(id uint64, report *Report) (tail, error) {
	var r replayed
	var odd []string
	err := j.scan(id, func(s *scanner) error {
		r = s.replay(func(f scanned) {
			if f.kind == KindSnapshot {
				return
			}
			frame, err := decodeFrame(f.kind, f.payload)
			if err != nil {
				odd = append(odd, fmt.Sprintf("the %v frame at offset %d: %v", f.kind, f.offset, err))
				return
			}
			frame.apply(j.st, f.location(id))
		})
		return nil
	})
	for _, b := range r.bad {
		report.damage("%s at offset %d: %v; if it said that a part was rolled, "+
			"or which chunks were seen, records of those chunks are delivered at least once; "+
			"if it was a chunk, its records are lost unless Fluent Bit still has them", segmentName(id), b.offset, b.err)
	}
	for _, o := range append(odd, j.st.odd...) {
		report.damage("%s: %s", segmentName(id), o)
	}
	j.st.odd = nil
	if len(r.bad) > 0 && !slices.Contains(report.aside, id) {
		report.aside = append(report.aside, id)
	}
	return tail{segment: id, from: r.durable, to: r.end}, err
}

// loadSeen reads the identities that frames in the segments hold.
func (j *Journal) loadSeen(report *Report) error {
	for _, seq := range sortedKeys(j.st.batches) {
		b := j.st.batches[seq]
		if b.keys != nil {
			continue
		}
		f, err := j.openSegment(b.loc)
		if err == nil {
			b.keys, err = readSeen(f, b.loc, j.segments[b.loc.segment].salt)
		} else if !errors.As(err, new(*DamageError)) {
			return err
		}
		if err != nil {
			report.damage("identities of chunks whose files are gone can't be read (%v): "+
				"such a chunk, delivered once more, would be taken for new", err)
			j.st.dropLive(b.loc)
			delete(j.st.batches, seq)
		}
	}
	return nil
}

// readSeen reads a batch's identities and closes the file.
func readSeen(f disk.File, loc location, salt uint64) ([]originKey, error) {
	defer f.Close()
	payload, err := readFrame(f, loc, salt, nil)
	if err != nil {
		return nil, err
	}
	r := &reader{b: payload}
	return decodeSeen(r).keys, r.end()
}

// dropUnreachable drops live chunks whose segment is gone or too short.
func (j *Journal) dropUnreachable(report *Report) {
	lost := map[uint64]int{}
	for seq, c := range j.st.chunks {
		if c.loc.offset+c.loc.size() > j.segments[c.loc.segment].size {
			j.st.loseChunk(seq)
			lost[c.loc.segment]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		report.damage("%s is missing or cut short: %d chunks are lost unless Fluent Bit still has them", segmentName(id), lost[id])
		if _, ok := j.segments[id]; ok && !slices.Contains(report.aside, id) {
			report.aside = append(report.aside, id)
		}
	}
}
