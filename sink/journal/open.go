package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
		"If the original is gone and nothing was published from it since, run `out-hdfs adopt --state-dir DIR`",
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

	aside []uint64 // segments to keep a copy of
}

func (r *Report) damage(format string, a ...any) {
	r.Damage = append(r.Damage, fmt.Sprintf(format, a...))
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

// Open takes the directory's lock, recovers the state and begins a new
// segment. It fails if another process has the directory (*disk.LockedError),
// if a newer release wrote it (*VersionError), or if it was moved
// (*MovedError); then nothing was changed. Damage is reported and doesn't fail
// it.
func Open(o Options) (*Journal, *Report, error) {
	lock, err := o.Disk.Lock(o.Owner)
	if err != nil {
		return nil, nil, err
	}
	j := newJournal(o)
	j.lock = lock
	report, err := j.recover(o)
	if err != nil {
		if j.cur != nil {
			err = errors.Join(err, j.cur.file.Close())
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
		inflight: map[originKey]*request{}, segments: map[uint64]segmentInfo{},
		unread: map[location]bool{}, stuck: map[uint64]bool{},
	}
	if j.segmentSize == 0 {
		j.segmentSize = DefaultSegmentSize
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
	j.refuse = ErrClosed
	segments, _, err := j.list()
	if err != nil {
		return nil, nil, err
	}
	if len(segments) == 0 {
		return nil, nil, fmt.Errorf("no journal: %w", fs.ErrNotExist)
	}
	report := &Report{}
	if _, err := j.load(segments, report); err != nil {
		return nil, nil, err
	}
	j.dropUnreachable(report)
	report.count(j.st)
	return j, report, nil
}

func (r *Report) count(s *state) {
	r.Chunks, r.Parts = len(s.chunks), len(s.parts)
	for _, c := range s.chunks {
		r.Bytes += int64(c.loc.length)
	}
}

// recover makes the journal ready for its writer. Until it knows that the
// directory is the instance's own it writes nothing but the directory itself.
func (j *Journal) recover(o Options) (*Report, error) {
	if err := errors.Join(j.disk.Mkdir(Dir), j.disk.SyncDir(".")); err != nil {
		return nil, fmt.Errorf("make the journal's directory: %w", err)
	}
	segments, spares, err := j.list()
	if err != nil {
		return nil, err
	}
	report := &Report{}
	tails, err := j.load(segments, report)
	if err != nil {
		return nil, err
	}
	if err := j.identify(o, report); err != nil {
		return nil, err
	}
	j.dropUnreachable(report)
	for _, id := range report.aside {
		if err := j.setAside(id); err != nil {
			report.damage("%s could not be copied to %s: %v", segmentName(id), damagedDir, err)
		}
	}
	for _, t := range tails {
		if err := j.settle(t); err != nil {
			return nil, err
		}
	}
	if !o.Tool {
		j.st.beginProcess()
	}
	j.baseRunning = j.st.running
	j.adoptSpares(spares, segments)
	if err := j.begin(0); err != nil {
		return nil, fmt.Errorf("begin a journal segment: %w", err)
	}
	j.retireDead(false)
	report.count(j.st)
	return report, nil
}

// tail is what a segment holds beyond what is known to be durable.
type tail struct {
	segment  uint64
	from, to int64
}

// settle writes a tail once more and syncs it. A killed process leaves frames
// that can be read and aren't durable. After a failed sync the kernel takes
// their pages for clean, so that a sync alone wouldn't do.
func (j *Journal) settle(t tail) error {
	if t.from >= t.to {
		return nil
	}
	err := j.scan(t.segment, func(s *scanner) error {
		for at := t.from; at < t.to; {
			n := int(min(scanWindow, t.to-at))
			b := s.at(at, n)
			if b == nil {
				return s.why(errNoFrame)
			}
			if _, err := s.file.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(n)
		}
		return s.file.Sync()
	})
	if err != nil {
		return fmt.Errorf("make what the last process wrote durable in %s: %w", segmentName(t.segment), err)
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
