package log

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Dir is the log's directory on the disk.
const Dir = "journal"

// Options configure a Log.
type Options struct {
	Disk disk.Disk
	Log  *slog.Logger
	// SegmentSize is what a segment is allocated with, in bytes.
	SegmentSize int64
	// KindName names a kind in texts.
	KindName func(Kind) string
}

// Log is the segments of one directory.
type Log struct {
	disk        disk.Disk
	log         *slog.Logger
	segmentSize int64
	kindName    func(Kind) string

	prep chan struct{} // capacity 1: a spare is wanted, or closing
	done sync.WaitGroup

	spareNumber atomic.Uint64 // of the last spare

	mu       sync.Mutex
	segments map[uint64]Info // on the disk
	aside    int64           // bytes in DamagedDir
	spares   []string        // of segmentSize each, the last one made last
	closing  bool
	// spareErr is why the last spare could not be made; spareTries counts the
	// attempts, and spareTried, on mu, tells of each, and of a spare had otherwise.
	spareErr   error
	spareTries int
	spareEnd   bool // no spare will be made any more
	spareTried *sync.Cond

	// The writer's own.
	cur    *segment
	nextID uint64
	// before is where the segment before the current one ended for its snapshot; its
	// file is kept. Before Begin it is Continue's.
	before Place
	linked bool // all that its frames said is known
}

// Info is what is known of a segment on the disk.
type Info struct {
	Size int64
	Room int64 // for frames behind the snapshot
	Salt uint64
}

// New returns the log of a disk. It reads and writes nothing yet.
func New(o Options) *Log {
	l := &Log{
		disk: o.Disk, log: o.Log, segmentSize: o.SegmentSize, kindName: o.KindName,
		prep: make(chan struct{}, 1), segments: map[uint64]Info{}, nextID: 1,
	}
	l.spareTried = sync.NewCond(&l.mu)
	return l
}

// MakeDir makes the log's directory, durably.
func (l *Log) MakeDir() error { return errors.Join(l.disk.Mkdir(Dir), l.disk.SyncDir(".")) }

// Start starts the goroutine that makes spares.
func (l *Log) Start() {
	l.done.Go(l.prepare)
	signal(l.prep)
}

// Close stops that goroutine and closes the current segment.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	signal(l.prep)
	l.done.Wait()
	if l.cur == nil {
		return nil
	}
	return l.cur.file.Close()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Info is what is known of a segment, zero if it isn't there.
func (l *Log) Info(id uint64) Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segments[id]
}

// Has reports whether a segment is there.
func (l *Log) Has(id uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.segments[id]
	return ok
}

// SetSalt says what a header that can't be read would say.
func (l *Log) SetSalt(id, salt uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, ok := l.segments[id]; ok {
		info.Salt = salt
		l.segments[id] = info
	}
}

// Usage is the bytes that segments and spares take on the disk.
func (l *Log) Usage() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := int64(len(l.spares)) * l.segmentSize
	for _, s := range l.segments {
		total += s.Size
	}
	return total
}

// Current is the number of the segment that is appended to, 0 before Begin.
func (l *Log) Current() uint64 {
	if l.cur == nil {
		return 0
	}
	return l.cur.id
}

// Synced is up to which offset the current segment is durable.
func (l *Log) Synced() int64 { return l.cur.synced }

// Room is the bytes of frames that the current segment still takes, 0 if it has
// ended.
func (l *Log) Room() int64 {
	if l.cur.bad != nil {
		return 0
	}
	return l.cur.room()
}

// Ended reports whether the current segment takes no frame any more.
func (l *Log) Ended() bool { return l.cur.bad != nil }

// Continue says which segment the first one of Begin follows, and up to where its
// frames count.
func (l *Log) Continue(segment uint64, end int64) {
	l.before, l.linked = Place{l.Info(segment).Salt, segment, end}, true
}

// Unlink says that not all is known that the segment said which Continue named.
func (l *Log) Unlink() { l.linked = false }

// Append writes the entries at the end of the current segment, in order, and
// syncs them. After an error the segment has ended.
func (l *Log) Append(entries []*Entry) error { return l.cur.write(entries) }

// Begin starts a new segment with a snapshot and room for frames of request
// bytes. Only after its directory is synced is it the current one. state names
// what the segments belong to.
func (l *Log) Begin(state [16]byte, snapshot *Entry, request int64) error {
	id := l.nextID
	l.nextID++ // a segment that fails to begin may still appear: its number is used up
	seg, name, err := l.openSpare(FrameSize(snapshot.Len()), request)
	if err != nil {
		return err
	}
	seg.id = id
	before, linked := l.before, l.linked
	if l.cur != nil {
		before, linked = Place{l.cur.salt, l.cur.id, l.cur.synced}, true
	}
	previous := uint32(0)
	if linked {
		previous = before.Seed()
	}
	if err := seg.start(newHeader(id, state, previous), snapshot); err != nil {
		_ = seg.file.Close()
		l.discard(name)
		return err
	}
	err = l.disk.Rename(name, SegmentName(id))
	if err == nil {
		err = l.disk.SyncDir(Dir)
	}
	if err != nil {
		l.disown(seg, name, err)
		return err
	}
	old := l.cur
	l.cur, l.before, l.linked = seg, before, linked
	l.mu.Lock()
	l.segments[id] = Info{Size: seg.size, Room: seg.room(), Salt: seg.salt}
	l.mu.Unlock()
	signal(l.prep)
	if old != nil {
		_ = old.file.Close() // synced: it has nothing left to fail with
	}
	return nil
}

// disown removes a segment of which it isn't known whether a crash would leave
// its name. If it did, the segment would be the newest, and what its
// predecessor got from now on would be lost: so that one gets nothing more.
func (l *Log) disown(seg *segment, name string, err error) {
	if l.cur != nil && l.cur.bad == nil {
		l.cur.bad = fmt.Errorf("its successor %s could not be begun: %w", SegmentName(seg.id), err)
	}
	_ = seg.file.Close()
	l.discard(name, SegmentName(seg.id))
}

// Old are the numbers, in order, of the segments that may go: those before the
// current one and before the one that makes its snapshot again.
func (l *Log) Old() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []uint64
	for id := range l.segments {
		if id != l.cur.id && id != l.before.Segment {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Retire turns old segments in which nothing is live into spares, or removes
// them. At a start they are removed: a crash may have left such a file under the
// name of a spare too. What can't be removed the next start finds dead again.
func (l *Log) Retire(dead []uint64, reuse bool) {
	for _, id := range dead {
		l.retire(id, reuse)
	}
}

func (l *Log) retire(id uint64, reuse bool) {
	l.mu.Lock()
	reuse = reuse && len(l.spares) < MaxSpares && l.segments[id].Size == l.segmentSize
	delete(l.segments, id)
	l.mu.Unlock()
	if reuse {
		name := l.spareName()
		err := l.disk.Rename(SegmentName(id), name)
		if err == nil {
			l.mu.Lock()
			l.spares = append(l.spares, name)
			l.spareTried.Broadcast()
			l.mu.Unlock()
			return
		}
		l.discard(name) // it may have been renamed all the same
	}
	l.discard(SegmentName(id))
}

// discard removes files that are of no use. What can't be removed now, the next
// start removes.
func (l *Log) discard(names ...string) {
	for _, name := range names {
		if err := l.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("journal: a file of no use can't be removed; the next start tries again",
				"file", name, "error", err)
		}
	}
}
