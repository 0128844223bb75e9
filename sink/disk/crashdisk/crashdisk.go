// Package crashdisk is a disk.Disk in memory that remembers what was made
// durable and what was not, so that a test can ask what a crash would leave.
//
// Content is tracked in pages of PageSize bytes and directory entries one by
// one. Crash returns a new disk that holds everything durable and, of the
// rest, nothing, all, or a seeded share: page by page and entry by entry, in
// any combination, which is more than a real file system would do and no less.
// A failed Sync loses the pages it was for, as Linux does: later reads see
// them, a later Sync doesn't make them durable.
//
// A Hook, or an Injector of package faults, decides on every operation before it
// happens: it may fail before, after or half way, hang, or be delayed.
//
// Misuse that a real disk punishes is an error here too: a file is of no use
// after Close, and Handles tells how many were never closed.
package crashdisk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// PageSize is the unit in which unsynced content survives a crash or not.
const PageSize = 512

// Kind is what an operation does.
type Kind string

// The kinds of operation that a Hook sees.
const (
	Create   Kind = "create"
	Open     Kind = "open"
	Remove   Kind = "remove"
	Rename   Kind = "rename"
	Mkdir    Kind = "mkdir"
	List     Kind = "list"
	SyncDir  Kind = "syncdir"
	Read     Kind = "read"
	Write    Kind = "write"
	Allocate Kind = "allocate"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
)

// Op is one operation on the disk.
type Op struct {
	Kind Kind
	Name string
	// Offset and Length are the range of a Read or Write, Length the size for an
	// Allocate or Truncate.
	Offset, Length int64
	N              int // its number on this disk, from 0
}

// Number implements faults.Numbered.
func (op Op) Number() int { return op.N }

// Hook decides an operation's fate. It is called with the disk unlocked, from
// whichever goroutine performs the operation.
//
// FailsHalf writes the first half of a write whatever its Bytes, and syncs every
// other page of a sync; for other operations it is FailsAfter. ComesLate is
// FailsBefore: what a disk didn't do it doesn't do later.
type Hook func(Op) faults.Action

// inode is a file's content as it is and as it is durable.
type inode struct {
	data    []byte
	durable []byte
	dirty   map[int64]bool // pages that differ from durable and can still be synced
	// misread is what reads answer instead of data, until it is read directly.
	misread []byte
	// unlinked is true once no name leads to it: its bytes are free again.
	unlinked bool
}

func newInode() *inode { return &inode{dirty: map[int64]bool{}} }

// Disk is the disk in memory.
type Disk struct {
	mu       sync.Mutex
	entries  map[string]*inode // current names
	durable  map[string]*inode // names that survive a crash
	dirs     map[string]bool
	dirsSync map[string]bool
	decide   Hook  // nil for none
	ops      int   // asked for so far
	capacity int64 // 0 is unlimited
	used     int64
	handles  int // files opened and not closed
	id       disk.Identity
	locked   bool
	owner    string
}

var _ disk.Disk = (*Disk)(nil)

// New is an empty disk.
func New() *Disk {
	return &Disk{
		entries: map[string]*inode{}, durable: map[string]*inode{},
		dirs: map[string]bool{".": true}, dirsSync: map[string]bool{".": true},
		id: disk.Identity{Inode: 2, Birth: time.Unix(1_700_000_000, 0)},
	}
}

// SetHook installs h, or none with nil.
func (d *Disk) SetHook(h Hook) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decide = h
}

// SetInjector installs one, in place of a Hook.
func (d *Disk) SetInjector(inj faults.Injector[Op]) { d.SetHook(inj.Decide) }

// Ops is how many operations were asked for.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// SetCapacity bounds the bytes that files may hold together; 0 lifts it.
func (d *Disk) SetCapacity(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = n
}

// SetIdentity makes the disk look like a copy in another directory.
func (d *Disk) SetIdentity(id disk.Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.id = id
}

// ask numbers an operation and asks what happens to it. It comes back once it is
// over with hanging and waiting.
func (d *Disk) ask(op Op) faults.Action {
	d.mu.Lock()
	op.N = d.ops
	d.ops++
	decide := d.decide
	d.mu.Unlock()
	if decide == nil {
		return faults.Pass()
	}
	a, _ := decide(op).Wait(context.Background()) // which never ends
	return a
}

// do runs one operation as was decided.
func (d *Disk) do(op Op, effect func(a faults.Action) error) error {
	a := d.ask(op)
	if a.Kind == faults.FailsBefore || a.Kind == faults.ComesLate {
		return op.failed(a.Err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := effect(a); err != nil {
		return op.failed(err)
	}
	if a.Kind != faults.Passes {
		return op.failed(a.Err)
	}
	return nil
}

func (op Op) failed(err error) error {
	return &fs.PathError{Op: string(op.Kind), Path: op.Name, Err: err}
}

// Create implements disk.Disk.
func (d *Disk) Create(name string) (disk.File, error) {
	name = path.Clean(name)
	node := newInode()
	err := d.do(Op{Kind: Create, Name: name}, func(faults.Action) error {
		if d.entries[name] != nil || d.dirs[name] {
			return fs.ErrExist
		}
		if !d.dirs[path.Dir(name)] {
			return fs.ErrNotExist
		}
		d.entries[name] = node
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d.handle(name, node), nil
}

// Open implements disk.Disk.
func (d *Disk) Open(name string) (disk.File, error) {
	name = path.Clean(name)
	var node *inode
	err := d.do(Op{Kind: Open, Name: name}, func(faults.Action) error {
		if node = d.entries[name]; node == nil {
			return fs.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d.handle(name, node), nil
}

func (d *Disk) handle(name string, node *inode) *file {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles++
	return &file{d: d, name: name, n: node}
}

// Handles is how many files are open.
func (d *Disk) Handles() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handles
}

// Remove implements disk.Disk.
func (d *Disk) Remove(name string) error {
	name = path.Clean(name)
	return d.do(Op{Kind: Remove, Name: name}, func(faults.Action) error {
		node := d.entries[name]
		if node == nil {
			return fs.ErrNotExist
		}
		delete(d.entries, name)
		d.unlink(node)
		return nil
	})
}

// unlink frees the bytes of a file that lost its name.
func (d *Disk) unlink(n *inode) {
	n.unlinked = true
	d.used -= int64(len(n.data))
}

// Rename implements disk.Disk.
func (d *Disk) Rename(from, to string) error {
	from, to = path.Clean(from), path.Clean(to)
	return d.do(Op{Kind: Rename, Name: from}, func(faults.Action) error {
		node := d.entries[from]
		if node == nil {
			return fs.ErrNotExist
		}
		switch old := d.entries[to]; {
		case d.dirs[to]:
			return fs.ErrExist
		case !d.dirs[path.Dir(to)]:
			return fs.ErrNotExist
		case old == node:
			return nil
		case old != nil:
			d.unlink(old)
		}
		delete(d.entries, from)
		d.entries[to] = node
		return nil
	})
}

// Mkdir implements disk.Disk.
func (d *Disk) Mkdir(name string) error {
	name = path.Clean(name)
	return d.do(Op{Kind: Mkdir, Name: name}, func(faults.Action) error {
		if d.entries[name] != nil {
			return syscall.ENOTDIR
		}
		if !d.dirs[path.Dir(name)] {
			return fs.ErrNotExist
		}
		d.dirs[name] = true
		return nil
	})
}

// List implements disk.Disk.
func (d *Disk) List(name string) ([]string, error) {
	name = path.Clean(name)
	var names []string
	err := d.do(Op{Kind: List, Name: name}, func(faults.Action) error {
		if !d.dirs[name] {
			return fs.ErrNotExist
		}
		for _, e := range append(sortedKeys(d.entries), sortedKeys(d.dirs)...) {
			if e != "." && path.Dir(e) == name {
				names = append(names, path.Base(e))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// SyncDir implements disk.Disk.
func (d *Disk) SyncDir(name string) error {
	name = path.Clean(name)
	return d.do(Op{Kind: SyncDir, Name: name}, func(faults.Action) error {
		if !d.dirs[name] {
			return fs.ErrNotExist
		}
		for _, e := range unionKeys(d.entries, d.durable) {
			if path.Dir(e) != name {
				continue
			}
			if node := d.entries[e]; node != nil {
				d.durable[e] = node
			} else {
				delete(d.durable, e)
			}
		}
		for e := range d.dirs {
			if path.Dir(e) == name {
				d.dirsSync[e] = true
			}
		}
		return nil
	})
}

// Used is the bytes of all files, of which SetCapacity bounds the sum.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}

// Identity implements disk.Disk.
func (d *Disk) Identity() (disk.Identity, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.id, nil
}

// Lock implements disk.Disk.
func (d *Disk) Lock(owner string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return nil, &disk.LockedError{Dir: "memory", Owner: d.owner, By: owner}
	}
	d.locked, d.owner = true, owner
	return &lock{d: d}, nil
}

type lock struct {
	d    *Disk
	once sync.Once
}

func (l *lock) Close() error {
	l.once.Do(func() {
		l.d.mu.Lock()
		defer l.d.mu.Unlock()
		l.d.locked = false
	})
	return nil
}

var errNegative = errors.New("negative offset")

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

func unionKeys(a, b map[string]*inode) []string {
	keys := append(sortedKeys(a), sortedKeys(b)...)
	slices.Sort(keys)
	return slices.Compact(keys)
}
