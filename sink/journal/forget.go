package journal

import (
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// An identity is needed for as long as Fluent Bit may deliver the chunk once
// more, which is as long as the chunk's file exists. To remember one for too long
// costs room; to forget one too early costs a record that is published twice. So
// it is forgotten only when
//
//   - the file is missing in a listing of the very directory that it was seen in
//     when the chunk was accepted, and a sync of that directory, behind the
//     listing, was answered: its removal is durable; or
//   - it wasn't seen for a day of running time: a file whose removal a power loss
//     undid comes back with the machine, not a day later; or
//   - more than mostAbsent files aren't seen: those that weren't for the longest.
//
// What isn't mounted looks empty, and is another directory.

const (
	// rememberFor is how long an identity is remembered whose file isn't seen and
	// may come back, in running time.
	rememberFor = 24 * time.Hour
	// mostAbsent bounds such identities: each takes some 150 bytes of memory, and
	// 40 of a snapshot.
	mostAbsent = 1 << 16
)

// OriginDir is a directory in which files of accepted chunks may still exist.
type OriginDir struct {
	Path string
	// Absent is the running time since when a file of it isn't seen, 0 if all were
	// seen when it was looked at last.
	Absent time.Duration
	Files  int

	dir *originDir
}

// OriginDirs are the directories of chunk files, by path.
func (l *queries) OriginDirs() []OriginDir {
	l.mu.Lock()
	defer l.mu.Unlock()
	dirs, keys := l.st.byDir()
	out := make([]OriginDir, len(dirs))
	for i, d := range dirs {
		out[i] = OriginDir{Path: d.path, Files: len(keys[d]), dir: d}
		for _, k := range keys[d] {
			if since := l.st.identities[k].absent; since > 0 && (out[i].Absent == 0 || since < out[i].Absent) {
				out[i].Absent = since
			}
		}
	}
	return out
}

// Identities is how many chunk files are remembered.
func (l *queries) Identities() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.st.identities)
}

// Listed is what a look at a directory of chunk files found.
type Listed struct {
	ID      disk.Identity
	Names   []string
	Durable bool // the directory was synced after it was listed
}

// ForgetGone forgets the identities of a directory whose files are gone for
// good, and notes those that are absent. list is called once; its error says that
// nothing of the directory can be seen now, and is returned.
//
// An identity that is forgotten comes back with a crash before the next segment,
// and is forgotten again: nothing needs to be durable here.
func (j *Journal) ForgetGone(d OriginDir, list func() (Listed, error)) error {
	// Before the listing: a chunk that is accepted meanwhile may be missing in it,
	// and its file exists.
	j.mu.Lock()
	were := map[originKey]bool{}
	for k, id := range j.st.identities {
		if id.dir == d.dir {
			were[k] = true
		}
	}
	j.mu.Unlock()
	found, err := list()
	// A file system that keeps no time of birth may be one that tells another
	// directory by the same number.
	same := err == nil && found.ID == d.dir.id && found.ID.Inode != 0 && !found.ID.Birth.IsZero()
	exists := map[string]bool{}
	if same {
		for _, n := range found.Names {
			exists[n] = true
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := max(1, j.runningLocked())
	for k := range were {
		id, ok := j.st.identities[k]
		switch {
		case !ok:
		case exists[id.name]:
			id.absent = 0
			j.st.identities[k] = id
		case same && found.Durable:
			delete(j.st.identities, k)
		case id.absent == 0:
			id.absent = now
			j.st.identities[k] = id
		}
	}
	j.st.forgetOld(now)
	return err
}

// forgetOld forgets the identities whose time is over, and those of which there
// are too many.
func (s *state) forgetOld(now time.Duration) {
	var absent []originKey
	for k, id := range s.identities {
		switch {
		case id.absent == 0:
		case now-id.absent > rememberFor:
			delete(s.identities, k)
		default:
			absent = append(absent, k)
		}
	}
	if len(absent) > mostAbsent {
		slices.SortFunc(absent, func(a, b originKey) int { return int(s.identities[a].absent - s.identities[b].absent) })
		for _, k := range absent[:len(absent)-mostAbsent] {
			delete(s.identities, k)
		}
	}
	if len(s.dirs) > mostDirs {
		s.forgetDirs()
	}
}

// mostDirs is how many directories are noted before those of which no file is
// remembered are forgotten.
const mostDirs = 256

func (s *state) forgetDirs() {
	used := map[*originDir]bool{}
	for _, id := range s.identities {
		used[id.dir] = true
	}
	for path, d := range s.dirs {
		if !used[d] {
			delete(s.dirs, path)
		}
	}
}
