package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// MovedError says that the state directory isn't where its state was made: it
// was copied, moved to another file system or restored. If the original lives
// on, both would publish the same records.
type MovedError struct{ Was, Is disk.Identity }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the state directory was made as inode %d of %s and is now inode %d of %s: it was copied or restored. "+
		"If the original is gone and nothing was published from it since, run `out-hdfs adopt`",
		e.Was.Inode, e.Was.Birth.Format(time.RFC3339), e.Is.Inode, e.Is.Birth.Format(time.RFC3339))
}

// Report says what Open found.
type Report struct {
	New    bool // the state is new
	Chunks int  // live chunks
	Bytes  int64
	Parts  int
	// Damage describes what could not be read, an entry each. What was readable
	// around it counts.
	Damage []string

	inspect bool // nothing may be written
}

// found is a segment on the disk.
type found struct {
	id     uint64
	header segmentHeader
	bad    error // why the header can't be used
}

// Open takes the directory's lock, recovers the state and begins a new
// segment. It fails if another process has the directory (*disk.LockedError),
// if a newer release wrote it (*VersionError), or if it was moved
// (*MovedError). Damage is reported and doesn't fail it.
func Open(o Options) (*Journal, *Report, error) {
	if o.SegmentSize == 0 {
		o.SegmentSize = DefaultSegmentSize
	}
	lock, err := o.Disk.Lock(o.Owner)
	if err != nil {
		return nil, nil, err
	}
	j := newJournal(o)
	j.lock = lock
	report, err := j.recover(o)
	if err != nil {
		if j.cur != nil {
			_ = j.cur.file.Close()
		}
		return nil, nil, errors.Join(err, lock.Close())
	}
	j.done.Add(2)
	go j.run()
	go j.prepare()
	signal(j.prep)
	return j, report, nil
}

func newJournal(o Options) *Journal {
	j := &Journal{
		disk: o.Disk, log: o.Log, segmentSize: o.SegmentSize, opened: time.Now(),
		wake: make(chan struct{}, 1), prep: make(chan struct{}, 1),
		inflight: map[originKey]*request{}, spares: map[string]int64{}, sizes: map[uint64]int64{},
		unread: map[location]bool{},
	}
	j.spareTried = sync.NewCond(&j.mu)
	return j
}

// Inspect reads the state without taking the lock and without writing
// anything, for a look at it: nothing can be appended, and Close does nothing.
// A process that has the directory may change it meanwhile; the answer is then
// as old as the call, or an error.
func Inspect(o Options) (*Journal, *Report, error) {
	j := newJournal(o)
	j.closing = true
	segments, _, err := j.list()
	if err != nil {
		return nil, nil, err
	}
	if len(segments) == 0 {
		return nil, nil, fmt.Errorf("no journal: %w", fs.ErrNotExist)
	}
	report := &Report{inspect: true}
	return j, report, j.load(segments, report)
}

func (j *Journal) recover(o Options) (*Report, error) {
	if err := errors.Join(j.disk.Mkdir(Dir), j.disk.SyncDir(".")); err != nil {
		return nil, fmt.Errorf("make the journal's directory: %w", err)
	}
	segments, spares, err := j.list()
	if err != nil {
		return nil, err
	}
	report := &Report{}
	if err := j.load(segments, report); err != nil {
		return nil, err
	}
	if err := j.identify(o, report); err != nil {
		return nil, err
	}
	if err := j.checkLive(report); err != nil {
		return nil, err
	}
	if !o.Tool {
		j.st.beginProcess()
	}
	j.baseRunning = j.st.running
	for _, name := range spares {
		j.discard(name)
	}
	if err := j.begin(0); err != nil {
		return nil, fmt.Errorf("begin a journal segment: %w", err)
	}
	j.tidy()
	report.Chunks, report.Parts = len(j.st.chunks), len(j.st.parts)
	for _, c := range j.st.chunks {
		report.Bytes += int64(c.loc.length)
	}
	return report, nil
}

// list finds the segments, by number, and the spares.
func (j *Journal) list() (segments []found, spares []string, err error) {
	names, err := j.disk.List(Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list the journal: %w", err)
	}
	for _, name := range names {
		if isSpare(name) {
			spares = append(spares, Dir+"/"+name)
			continue
		}
		id, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		f := found{id: id}
		f.header, f.bad = j.readHeader(id)
		if v := (*VersionError)(nil); errors.As(f.bad, &v) {
			return nil, nil, v
		}
		segments = append(segments, f)
		j.nextID = max(j.nextID, id+1)
	}
	j.nextID = max(j.nextID, 1)
	return segments, spares, nil
}

func (j *Journal) readHeader(id uint64) (segmentHeader, error) {
	f, err := j.disk.Open(segmentName(id))
	if err != nil {
		return segmentHeader{}, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return segmentHeader{}, err
	}
	j.sizes[id] = size
	b := make([]byte, headerSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return segmentHeader{}, err
	}
	h, err := decodeSegmentHeader(b)
	if err == nil && h.segment != id {
		err = fmt.Errorf("header is that of segment %d", h.segment)
	}
	return h, err
}

// load rebuilds the state from the newest segment. If its snapshot can't be
// read, the newest before it that can is the base, and whatever is readable in
// the segments after that is applied on top: what they lost is delivered again.
func (j *Journal) load(segments []found, report *Report) error {
	base := -1
	for i := len(segments) - 1; i >= 0 && base < 0; i-- {
		if segments[i].bad != nil {
			continue
		}
		st, err := j.loadSnapshot(segments[i].id)
		if err != nil {
			return err
		}
		if st != nil {
			j.st, base = st, i
		}
	}
	if base < 0 {
		if err := j.loadNothing(segments, report); err != nil {
			return err
		}
		base = 0
	}
	for i, f := range segments[base:] {
		if i > 0 {
			report.damage("the snapshot of segment %d can't be read: what it alone told is lost, "+
				"and records of chunks that were finished there may be delivered again", f.id)
		}
		if err := j.loadFrames(f.id, report); err != nil {
			return err
		}
	}
	return j.loadSeen(report)
}

func (r *Report) damage(format string, a ...any) {
	r.Damage = append(r.Damage, fmt.Sprintf(format, a...))
}

// loadNothing begins with an empty state, because there is none or because no
// snapshot is readable.
func (j *Journal) loadNothing(segments []found, report *Report) error {
	j.st = newState()
	if len(segments) == 0 {
		report.New = true
		_, err := rand.Read(j.st.id[:])
		return err
	}
	report.damage("no snapshot is readable: every readable chunk is delivered, also those that were finished before")
	// Numbers that were given out are lost with the snapshot. Published names
	// are never replaced, so a gap only spares attempts in vain.
	j.st.nextPart = 1 << 20
	for _, f := range segments {
		if f.bad == nil {
			j.st.id = f.header.state
		}
	}
	return nil
}

func (j *Journal) scan(id uint64, with func(*scanner) error) error {
	f, err := j.disk.Open(segmentName(id))
	if err != nil {
		return fmt.Errorf("open %s: %w", segmentName(id), err)
	}
	defer f.Close()
	return with(&scanner{file: f, id: id, size: j.sizes[id]})
}

// loadSnapshot returns nil without an error if the snapshot is damaged.
func (j *Journal) loadSnapshot(id uint64) (st *state, err error) {
	err = j.scan(id, func(s *scanner) error {
		f, ok := s.frame(headerSize)
		if !ok || f.kind != KindSnapshot {
			return nil
		}
		if decoded, err := decodeSnapshot(f.payload); err == nil {
			st = decoded
		}
		return nil
	})
	return st, err
}

// loadFrames applies a segment's frames.
func (j *Journal) loadFrames(id uint64, report *Report) error {
	err := j.scan(id, func(s *scanner) error {
		damage := s.replay(headerSize, func(f scanned) {
			if f.kind == KindSnapshot {
				return
			}
			frame, err := decodeFrame(f.kind, f.payload)
			if err != nil {
				report.damage("%s at offset %d: %v frame can't be decoded: %v", segmentName(id), f.offset, f.kind, err)
				return
			}
			frame.apply(j.st, f.location(id))
		})
		for _, at := range damage {
			report.damage("%s at offset %d: a durable frame is damaged; if it said that a part was rolled, "+
				"or which chunks were seen, records of those chunks are delivered at least once; "+
				"if it was a chunk, its records are lost unless Fluent Bit still has them", segmentName(id), at)
		}
		if len(damage) > 0 {
			j.setAside(id, report)
		}
		return nil
	})
	for _, odd := range j.st.odd {
		report.damage("%s: %s", segmentName(id), odd)
	}
	j.st.odd = nil
	return err
}

// setAside keeps a copy of a damaged segment for whoever wants to look at it.
// The segment itself stays until nothing in it is live.
func (j *Journal) setAside(id uint64, report *Report) {
	if report.inspect {
		return
	}
	if err := j.copySegment(id); err != nil {
		report.damage("%s could not be copied to %s: %v", segmentName(id), damagedDir, err)
	}
}

// GiveUp ends a chunk that Read found damaged, after a copy of its segment was
// set aside.
func (j *Journal) GiveUp(seq uint64) error {
	j.mu.Lock()
	c := j.st.chunks[seq]
	j.mu.Unlock()
	if c == nil {
		return nil
	}
	if err := j.copySegment(c.loc.segment); err != nil {
		return fmt.Errorf("set aside %s: %w", segmentName(c.loc.segment), err)
	}
	return j.Append(Void{seq})
}

func (j *Journal) copySegment(id uint64) (err error) {
	if err := j.disk.Mkdir(damagedDir); err != nil {
		return err
	}
	out, err := j.disk.Create(fmt.Sprintf("%s/%016x", damagedDir, id))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return j.scan(id, func(s *scanner) error {
		for at := int64(0); at < s.size; at += scanWindow {
			if _, err := out.WriteAt(s.at(at, int(min(scanWindow, s.size-at))), at); err != nil {
				return err
			}
		}
		return out.Sync()
	})
}

// loadSeen reads the identities that frames in the segments hold.
func (j *Journal) loadSeen(report *Report) error {
	for seq, b := range j.st.batches {
		if b.keys != nil {
			continue
		}
		payload, err := j.readAt(b.loc, nil)
		if err == nil {
			r := &reader{b: payload}
			f := decodeSeen(r)
			b.keys, err = f.keys, r.err
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

// identify compares the directory with the one the state was made in, and
// settles the writer id.
func (j *Journal) identify(o Options, report *Report) error {
	is, err := j.disk.Identity()
	if err != nil {
		return fmt.Errorf("identify the state directory: %w", err)
	}
	was := disk.Identity{Inode: j.st.dirInode, Birth: j.st.dirBirth}
	unknown := report.New || was.Inode == 0
	if !unknown && !o.Adopt && (was.Inode != is.Inode || !was.Birth.Equal(is.Birth)) {
		return &MovedError{Was: was, Is: is}
	}
	j.st.dirInode, j.st.dirBirth = is.Inode, is.Birth
	switch {
	case o.WriterID != "":
		j.st.writerID = o.WriterID
	case j.st.writerID == "" && o.DefaultWriterID != nil:
		j.st.writerID = o.DefaultWriterID(j.st.id)
	}
	return nil
}

// checkLive drops live chunks whose segment is gone.
func (j *Journal) checkLive(report *Report) error {
	for _, id := range slices.Sorted(maps.Keys(j.st.live)) {
		if _, ok := j.sizes[id]; ok {
			continue
		}
		lost := 0
		for seq, c := range j.st.chunks {
			if c.loc.segment == id {
				j.st.dropChunk(seq)
				lost++
			}
		}
		report.damage("%s is missing: %d chunks are lost", segmentName(id), lost)
	}
	return nil
}

// LogReport logs what Open found.
func LogReport(log *slog.Logger, r *Report) {
	for _, d := range r.Damage {
		log.Error("the state directory is damaged", "what", d,
			"kept", damagedDir, "do", "check the disk; what is readable is delivered")
	}
	if r.Chunks > 0 || r.Parts > 0 {
		log.Info("going on with what was unfinished", "chunks", r.Chunks, "bytes", r.Bytes, "pending_parts", r.Parts)
	}
}
