package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// Origin is where Fluent Bit keeps a chunk: its file, which outlives retries
// and restarts, and what identifies the content. The zero Origin means that
// the chunk has no file, and then nothing is remembered of it.
type Origin struct {
	Dir    string // directory of the chunk file
	Name   string
	Length uint32
	CRC    uint32 // CRC-32C of the content
	// In is the very directory that the file was seen in, zero if that isn't
	// known. It isn't part of the identity.
	In disk.Identity
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

// compareKeys orders keys as bytes.Compare does.
func compareKeys(a, b originKey) int { return bytes.Compare(a[:], b[:]) }

// originDir is a directory of chunk files: of two that were at one path, one
// after the other, each is its own.
type originDir struct {
	path string
	id   disk.Identity // zero if it isn't known
}

func compareDirs(a, b *originDir) int {
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.id.Inode, b.id.Inode), a.id.Birth.Compare(b.id.Birth))
}

// identity is an accepted chunk's file, as far as it may still be delivered.
type identity struct {
	dir  *originDir
	name string
	// absent is the running time since when the file isn't seen, 0 if it is.
	absent time.Duration
}

// known reports whether the identity was accepted before.
func (s *state) known(k originKey) bool {
	_, ok := s.identities[k]
	return ok
}

// originDir is the directory at a path, as it was noted last.
func (s *state) originDir(path string) *originDir {
	d := s.dirs[path]
	if d == nil {
		d = &originDir{path: path}
		s.dirs[path] = d
	}
	return d
}

// notes reports whether a frame must say which directory the chunk's file is in.
func (s *state) notes(o Origin) bool {
	d := s.dirs[o.Dir]
	return d == nil && o.In != (disk.Identity{}) || d != nil && d.id != o.In
}

// directoryFrame notes which directory is at a path of chunk files from now on.
type directoryFrame struct{ dir originDir }

func (*directoryFrame) kind() Kind { return KindDirectory }

func (f *directoryFrame) encode(b []byte) []byte { return putDir(b, &f.dir) }

func (f *directoryFrame) apply(s *state, _ log.Location) {
	if d := s.dirs[f.dir.path]; d == nil || d.id != f.dir.id {
		s.dirs[f.dir.path] = &f.dir
	}
}

func putDir(b []byte, d *originDir) []byte {
	return putTime(putUint(putString(b, d.path), d.id.Inode), d.id.Birth)
}

func (r *reader) dir() originDir {
	return originDir{r.string(), disk.Identity{Inode: r.uint(), Birth: r.time()}}
}

// seenFrame is what releases wrote up to log.Version 1: identities whose files
// were gone when the state had run for so long.
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

func (f *seenFrame) apply(s *state, _ log.Location) {
	s.nextSeq = max(s.nextSeq, f.seq+1)
	gone := &originDir{}
	for _, k := range f.keys {
		s.identities[k] = identity{dir: gone, absent: max(1, f.since)}
	}
}

func decodeSeen(r *reader) *seenFrame {
	f := &seenFrame{seq: r.uint(), since: time.Duration(r.int())}
	for range r.count(len(originKey{})) {
		f.keys = append(f.keys, r.key())
	}
	return f
}

// byDir groups the identities by directory, both in order.
func (s *state) byDir() (dirs []*originDir, keys map[*originDir][]originKey) {
	count := map[*originDir]int{}
	for _, id := range s.identities {
		count[id.dir]++
	}
	keys = make(map[*originDir][]originKey, len(count))
	for d, n := range count {
		dirs, keys[d] = append(dirs, d), make([]originKey, 0, n)
	}
	for k, id := range s.identities {
		keys[id.dir] = append(keys[id.dir], k)
	}
	// Two that nobody can tell apart are told by what they hold.
	for _, list := range keys {
		slices.SortFunc(list, compareKeys)
	}
	slices.SortFunc(dirs, func(a, b *originDir) int {
		return cmp.Or(compareDirs(a, b), compareKeys(keys[a][0], keys[b][0]))
	})
	return dirs, keys
}

// encodeIdentities appends the identities as log.Version 1 has them.
func (s *state) encodeIdentities(b []byte) []byte {
	dirs, keys := s.byDir()
	b = putUint(b, uint64(len(dirs)))
	for _, dir := range dirs {
		b = putUint(putString(b, dir.path), uint64(len(keys[dir])))
		for _, k := range keys[dir] {
			b = append(putString(b, s.identities[k].name), k[:]...)
		}
	}
	return b
}

// decodeIdentities is the inverse. Which directories they are, and whether the
// files are absent, is said by sections.
func (s *state) decodeIdentities(r *reader) (dirs []*originDir) {
	for range r.count(2) {
		dir := &originDir{path: r.string()}
		dirs = append(dirs, dir)
		for range r.count(17) {
			name := r.string()
			s.identities[r.key()] = identity{dir: dir, name: name}
		}
	}
	return dirs
}

// encodeDirs appends which directory each group of identities is in, in their
// order, and which one is at each path now.
func (s *state) encodeDirs(b []byte) []byte {
	dirs, _ := s.byDir()
	b = putUint(b, uint64(len(dirs)))
	for _, d := range dirs {
		b = putDir(b, d)
	}
	b = putUint(b, uint64(len(s.dirs)))
	for _, path := range sortedNames(s.dirs) {
		b = putDir(b, s.dirs[path])
	}
	return b
}

func (s *state) decodeDirs(r *reader, dirs []*originDir) {
	if n := r.count(4); n != len(dirs) {
		r.fail()
		return
	}
	of := map[originDir]*originDir{}
	for _, d := range dirs {
		*d = r.dir()
		of[*d] = d
	}
	for range r.count(4) {
		d := r.dir()
		if of[d] == nil {
			of[d] = &d
		}
		s.dirs[d.path] = of[d]
	}
}

// encodeAbsent appends the identities whose files are absent.
func (s *state) encodeAbsent(b []byte) []byte {
	var keys []originKey
	for k, id := range s.identities {
		if id.absent > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, compareKeys)
	for _, k := range keys {
		b = putInt(append(b, k[:]...), int64(s.identities[k].absent))
	}
	return b
}

func (s *state) decodeAbsent(r *reader) {
	for r.err == nil && len(r.b) > 0 {
		k, since := r.key(), time.Duration(r.int())
		id, ok := s.identities[k]
		if !ok || since <= 0 {
			r.fail()
			return
		}
		id.absent = since
		s.identities[k] = id
	}
}
