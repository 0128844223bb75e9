package crashdisk

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// Keep says what a crash leaves of what wasn't synced.
type Keep int

const (
	// None forgets everything that wasn't synced.
	None Keep = iota
	// All makes everything durable, as a shutdown does.
	All
	// Some keeps a seeded share of pages and entries.
	Some
	// Killed is the death of the process alone: everything can be read as it
	// was, and what wasn't synced still isn't. A page that a failed sync lost
	// reads well and never becomes durable, unless it is written again.
	Killed
)

// Crash returns what a crash at this moment leaves. The disk itself is not
// changed, and what still runs on it can't reach the new one. The new one has
// no hook and isn't locked.
func (d *Disk) Crash(keep Keep, seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	if keep == Killed {
		return d.killed()
	}
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

// killed copies everything, the difference between what is and what is durable
// included.
func (d *Disk) killed() *Disk {
	c := New()
	c.id, c.capacity, c.used = d.id, d.capacity, d.used
	c.dirs, c.dirsSync = maps.Clone(d.dirs), maps.Clone(d.dirsSync)
	clones := map[*inode]*inode{}
	clone := func(n *inode) *inode {
		if clones[n] == nil {
			clones[n] = &inode{
				data: slices.Clone(n.data), durable: slices.Clone(n.durable),
				dirty: maps.Clone(n.dirty), unlinked: n.unlinked,
			}
		}
		return clones[n]
	}
	for name, n := range d.entries {
		c.entries[name] = clone(n)
	}
	for name, n := range d.durable {
		c.durable[name] = clone(n)
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
