package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
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
func LogReport(logger *slog.Logger, r *Report) {
	for _, d := range r.Damage {
		logger.Error("the state directory is damaged", "what", d,
			"kept", log.DamagedDir, "do", "check the disk; what is readable is delivered")
	}
	if r.Chunks > 0 || r.Parts > 0 {
		logger.Info("going on with what was unfinished", "chunks", r.Chunks, "bytes", r.Bytes, "pending_parts", r.Parts)
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
	w := newWriter(j)
	report, err := w.recover(o)
	if err != nil {
		return nil, nil, errors.Join(err, j.log.Close(), lock.Close())
	}
	j.done.Go(w.run)
	j.log.Start()
	return j, report, nil
}

func newJournal(o Options) *Journal {
	if o.SegmentSize == 0 {
		o.SegmentSize = DefaultSegmentSize
	}
	return &Journal{
		queries: queries{opened: time.Now()},
		log: log.New(log.Options{
			Disk: o.Disk, Log: o.Log, SegmentSize: o.SegmentSize, KindName: func(k log.Kind) string { return Kind(k).String() },
		}),
		logger: o.Log, wake: make(chan struct{}, 1), inflight: map[originKey]*request{},
	}
}

// Inspect reads the state without taking the lock and without writing
// anything, for a look at it: nothing can be appended, and Close does nothing.
// A process that has the directory may change it meanwhile; the answer is then
// as old as the call, or an error.
func Inspect(o Options) (*Journal, *Report, error) {
	j := newJournal(o)
	j.refuse = ErrClosed
	segments, _, err := j.log.List()
	if err != nil {
		return nil, nil, err
	}
	if len(segments) == 0 {
		return nil, nil, fmt.Errorf("no journal: %w", fs.ErrNotExist)
	}
	report := &Report{}
	l := loader{log: j.log, report: report, letters: o.Letters}
	if _, err := l.load(segments); err != nil {
		return nil, nil, err
	}
	l.dropUnreachable()
	j.st = l.st
	report.count(j.st)
	return j, report, nil
}

func (r *Report) count(s *state) {
	r.Chunks, r.Parts = len(s.chunks), len(s.parts)
	for _, c := range s.chunks {
		r.Bytes += int64(c.loc.Length)
	}
}

// recover makes the journal ready for its writer. Until it knows that the
// directory is the instance's own it writes nothing but the directory itself.
func (w *writer) recover(o Options) (*Report, error) {
	if err := w.log.MakeDir(); err != nil {
		return nil, fmt.Errorf("make the journal's directory: %w", err)
	}
	segments, spares, err := w.log.List()
	if err != nil {
		return nil, err
	}
	report := &Report{}
	l := loader{log: w.log, report: report, letters: o.Letters}
	tails, err := l.load(segments)
	if err != nil {
		return nil, err
	}
	w.st = l.st
	if err := w.identify(o, report); err != nil {
		return nil, err
	}
	l.dropUnreachable()
	for _, id := range report.aside {
		if err := w.log.SetAside(id); err != nil {
			report.damage("%s could not be copied to %s: %v", log.SegmentName(id), log.DamagedDir, err)
		}
	}
	for _, t := range tails {
		if err := w.log.MakeDurable(t); err != nil {
			return nil, err
		}
	}
	if !o.Tool {
		w.st.beginProcess()
	}
	w.earlier = w.st.running
	w.log.AdoptSpares(spares, segments)
	if err := w.begin(0); err != nil {
		return nil, fmt.Errorf("begin a journal segment: %w", err)
	}
	w.retire(false)
	report.count(w.st)
	return report, nil
}

// identify compares the directory with the one the state was made in, and
// settles the writer id.
func (w *writer) identify(o Options, report *Report) error {
	is, err := o.Disk.Identity()
	if err != nil {
		return fmt.Errorf("identify the state directory: %w", err)
	}
	was := disk.Identity{Inode: w.st.dirInode, Birth: w.st.dirBirth}
	unknown := report.New || was.Inode == 0
	if !unknown && !o.Adopt && (was.Inode != is.Inode || !was.Birth.Equal(is.Birth)) {
		return &MovedError{Was: was, Is: is}
	}
	w.st.dirInode, w.st.dirBirth = is.Inode, is.Birth
	switch {
	case o.WriterID != "":
		w.st.writerID = o.WriterID
	case w.st.writerID == "" && o.DefaultWriterID != nil:
		w.st.writerID = o.DefaultWriterID(w.st.id)
	}
	return nil
}
