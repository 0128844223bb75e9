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
// A Hook sees every operation before it happens and may fail it before, after,
// or half way.
package crashdisk

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
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
}

// Fault is what a Hook does to an operation. The zero Fault lets it pass.
type Fault struct {
	Err error
	// After lets the operation take effect before it answers with Err.
	After bool
	// Half lets a write write its first half before it answers with Err.
	Half bool
}

// Hook decides an operation's fate. It is called with the disk unlocked, from
// whichever goroutine performs the operation.
type Hook func(Op) Fault

// inode is a file's content as it is and as it is durable.
type inode struct {
	data    []byte
	durable []byte
	dirty   map[int64]bool // pages that differ from durable and can still be synced
}

// Disk is the disk in memory.
type Disk struct {
	mu       sync.Mutex
	entries  map[string]*inode // current names
	durable  map[string]*inode // names that survive a crash
	dirs     map[string]bool
	dirsSync map[string]bool
	hook     Hook
	capacity int64 // 0 is unlimited
	used     int64
	id       disk.Identity
	locked   string
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
	d.hook = h
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

// Keep says what a crash leaves of what wasn't synced.
type Keep int

const (
	// None forgets everything that wasn't synced.
	None Keep = iota
	// All keeps everything, as a killed process does.
	All
	// Some keeps a seeded share of pages and entries.
	Some
)

// Crash returns what a crash at this moment leaves. The disk itself is not
// changed, and what still runs on it can't reach the new one.
func (d *Disk) Crash(keep Keep, seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	survives := func() bool { return keep == All || keep == Some && rng.IntN(2) == 0 }
	c := New()
	c.id, c.capacity = d.id, d.capacity
	for _, name := range sortedKeys(d.dirs) {
		if d.dirsSync[name] || survives() {
			c.dirs[name], c.dirsSync[name] = true, true
		}
	}
	clones := map[*inode]*inode{}
	for _, name := range unionKeys(d.entries, d.durable) {
		node := d.durable[name]
		if cur := d.entries[name]; cur != node && survives() {
			node = cur
		}
		if node == nil || !c.dirs[path.Dir(name)] {
			continue
		}
		if clones[node] == nil {
			clones[node] = node.crash(survives)
			c.used += int64(len(clones[node].data))
		}
		c.entries[name], c.durable[name] = clones[node], clones[node]
	}
	return c
}

func (n *inode) crash(survives func() bool) *inode {
	out := slices.Clone(n.durable)
	if len(n.data) != len(out) && survives() {
		out = resize(out, int64(len(n.data)))
	}
	pages := int64(len(n.data)+PageSize-1) / PageSize
	for p := range pages {
		if n.pageEqual(p) || !survives() {
			continue
		}
		from, to := p*PageSize, min((p+1)*PageSize, int64(len(n.data)))
		if from < int64(len(out)) {
			copy(out[from:], n.data[from:to])
		}
	}
	return &inode{data: out, durable: slices.Clone(out), dirty: map[int64]bool{}}
}

func (n *inode) pageEqual(p int64) bool {
	from := p * PageSize
	to := min(from+PageSize, int64(len(n.data)))
	if to > int64(len(n.durable)) {
		return false
	}
	return string(n.data[from:to]) == string(n.durable[from:to])
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// do runs one operation under the hook's fate.
func (d *Disk) do(kind Kind, name string, effect func(f Fault) error) error {
	d.mu.Lock()
	hook := d.hook
	d.mu.Unlock()
	var f Fault
	if hook != nil {
		f = hook(Op{kind, name})
	}
	if f.Err != nil && !f.After && !f.Half {
		return &fs.PathError{Op: string(kind), Path: name, Err: f.Err}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := effect(f); err != nil {
		return &fs.PathError{Op: string(kind), Path: name, Err: err}
	}
	if f.Err != nil {
		return &fs.PathError{Op: string(kind), Path: name, Err: f.Err}
	}
	return nil
}

// Create implements disk.Disk.
func (d *Disk) Create(name string) (disk.File, error) {
	name = path.Clean(name)
	node := &inode{dirty: map[int64]bool{}}
	err := d.do(Create, name, func(Fault) error {
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
	return &file{d: d, name: name, n: node}, nil
}

// Open implements disk.Disk.
func (d *Disk) Open(name string) (disk.File, error) {
	name = path.Clean(name)
	var node *inode
	err := d.do(Open, name, func(Fault) error {
		if node = d.entries[name]; node == nil {
			return fs.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &file{d: d, name: name, n: node}, nil
}

// Remove implements disk.Disk.
func (d *Disk) Remove(name string) error {
	name = path.Clean(name)
	return d.do(Remove, name, func(Fault) error {
		node := d.entries[name]
		if node == nil {
			return fs.ErrNotExist
		}
		delete(d.entries, name)
		d.used -= int64(len(node.data))
		return nil
	})
}

// Rename implements disk.Disk.
func (d *Disk) Rename(from, to string) error {
	from, to = path.Clean(from), path.Clean(to)
	return d.do(Rename, from, func(Fault) error {
		node := d.entries[from]
		if node == nil {
			return fs.ErrNotExist
		}
		if old := d.entries[to]; old != nil && old != node {
			d.used -= int64(len(old.data))
		}
		delete(d.entries, from)
		d.entries[to] = node
		return nil
	})
}

// Mkdir implements disk.Disk.
func (d *Disk) Mkdir(name string) error {
	name = path.Clean(name)
	return d.do(Mkdir, name, func(Fault) error {
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
	err := d.do(List, name, func(Fault) error {
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
	return d.do(SyncDir, name, func(Fault) error {
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

// Free implements disk.Disk.
func (d *Disk) Free() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.capacity == 0 {
		return 1 << 40, nil
	}
	return max(0, d.capacity-d.used), nil
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
	if d.locked != "" {
		return nil, &disk.LockedError{Dir: "memory", Owner: d.locked}
	}
	d.locked = owner
	return unlock(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.locked = ""
	}), nil
}

type unlock func()

func (u unlock) Close() error { u(); return nil }

// Damage changes a file's content in place, durably, as a failing disk would.
func (d *Disk) Damage(name string, change func(content []byte) []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.entries[path.Clean(name)]
	if n == nil {
		return fs.ErrNotExist
	}
	n.data = change(n.data)
	n.durable = slices.Clone(n.data)
	clear(n.dirty)
	return nil
}

// Names are the files that exist now, sorted.
func (d *Disk) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return sortedKeys(d.entries)
}

// Content is a copy of a file's content, nil if there is no such file.
func (d *Disk) Content(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.entries[path.Clean(name)]; n != nil {
		return slices.Clone(n.data)
	}
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
