// Package memfs is a file system in memory for tests: one Store is the remote
// target, and each Driver of it is one agent's connection.
//
// It keeps every promise of package fs, and resembles HDFS where the interface
// leaves a choice: modification times are in milliseconds, a file that an Upload
// left half written stays unclosed, removing a file stops whoever writes it,
// and a file can be found by its identity wherever it was moved. A Store knows
// nothing of its agents' life or death, so it survives an agent's crash as it
// is; Clone keeps a copy of such a moment.
//
// Besides the agents there are strangers: the methods of Store that change
// files stand for consumers and operators, who obey neither refusals nor
// outages. Everything is safe for concurrent use.
package memfs

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	target "github.com/out-hdfs/out_hdfs/sink/fs"
)

// maxName is the longest name in bytes, HDFS's and most local disks'.
const maxName = 255

// Options say what a Store can do. The zero value is an HDFS-like one.
type Options struct {
	// NoSearch makes Locate unable to search for a file, as on local disks.
	NoSearch bool
}

// Store is a tree of files. Make one with New.
type Store struct {
	o Options

	mu       sync.Mutex
	root     *node
	lastID   uint64
	byID     map[target.FileID]*node
	refused  map[string]error // by prefix, for changes
	quotas   map[string]int64 // by prefix, bytes of content
	down     error            // everything fails
	readOnly error            // changes fail
}

// node is a file or directory. All its fields belong to the Store's mutex,
// except that bytes of content below its length never change.
type node struct {
	id       target.FileID
	parent   *node
	name     string
	children map[string]*node // nil for a file
	content  []byte
	mtime    time.Time
	mode     uint32
	closed   bool
	removed  bool
	options  target.UploadOptions
}

// File is a file of a Store as a checker sees it.
type File struct {
	target.Info
	Mode    uint32
	Options target.UploadOptions // as given to the Upload that made it
	Content []byte               // not to be changed
}

// New returns an empty Store.
func New(o Options) *Store {
	s := &Store{
		o: o, byID: map[target.FileID]*node{},
		refused: map[string]error{}, quotas: map[string]int64{},
	}
	s.root = s.newNode(nil, "", true, 0o755)
	return s
}

// Driver returns a new connection.
func (s *Store) Driver() *Driver { return &Driver{store: s} }

// newNode makes a node and links it under parent.
func (s *Store) newNode(parent *node, name string, dir bool, mode uint32) *node {
	s.lastID++
	n := &node{
		id: target.FileID(fmt.Sprint(s.lastID)), parent: parent, name: name,
		mtime: now(), mode: mode, closed: true,
	}
	if dir {
		n.children = map[string]*node{}
	}
	s.byID[n.id] = n
	if parent != nil {
		parent.children[name] = n
	}
	return n
}

// now has the precision that HDFS keeps.
func now() time.Time { return time.Now().Truncate(time.Millisecond).UTC() }

// unlink takes n out of its directory.
func (n *node) unlink() {
	if n.parent.children[n.name] == n {
		delete(n.parent.children, n.name)
	}
}

func (n *node) path() string {
	if n.parent == nil {
		return "/"
	}
	return path.Join(n.parent.path(), n.name)
}

func (n *node) info() target.Info {
	return target.Info{
		Path: n.path(), ID: n.id, Length: int64(len(n.content)),
		ModTime: n.mtime, Dir: n.children != nil, Closed: n.closed,
	}
}

// walkLocked finds the node at p, which is clean and absolute. The error is an errno.
func (s *Store) walkLocked(p string) (*node, error) {
	n := s.root
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if name == "" {
			continue
		}
		if n.children == nil {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.children[name]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// fileLocked finds what is at p, which must be no directory.
func (s *Store) fileLocked(p string) (*node, error) {
	n, err := s.walkLocked(p)
	if err == nil && n.children != nil {
		err = syscall.EISDIR
	}
	return n, err
}

// mkdirLocked finds the directory at p and makes what is missing of it, or
// nothing if it can't all be made.
func (s *Store) mkdirLocked(p string, mode uint32) (*node, error) {
	if mode == 0 {
		mode = 0o755
	}
	n, missing := s.root, []string(nil)
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		switch {
		case name == "":
		case len(name) > maxName:
			return nil, syscall.ENAMETOOLONG
		case missing != nil:
			missing = append(missing, name)
		case n.children == nil:
			return nil, syscall.ENOTDIR
		case n.children[name] == nil:
			missing = []string{name}
		default:
			n = n.children[name]
		}
	}
	if n.children == nil {
		return nil, syscall.ENOTDIR
	}
	for _, name := range missing {
		n = s.newNode(n, name, true, mode)
	}
	return n, nil
}

// Refuse makes every change at or below prefix fail with err and Class Path,
// until Allow. A nil err stands for a permission denied.
func (s *Store) Refuse(prefix string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = fs.ErrPermission
	}
	s.refused[path.Clean(prefix)] = err
}

// Allow ends what Refuse and SetQuota began for prefix.
func (s *Store) Allow(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refused, path.Clean(prefix))
	delete(s.quotas, path.Clean(prefix))
}

// SetQuota limits the bytes in all files below prefix. An Upload that meets the
// limit fails with Class Path and leaves what it has written.
func (s *Store) SetQuota(prefix string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotas[path.Clean(prefix)] = bytes
}

// SetDown makes every call fail with err and Class Target; nil ends it.
func (s *Store) SetDown(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

// SetReadOnly makes every change fail with err and Class Target, as in HDFS's
// safe mode; nil ends it.
func (s *Store) SetReadOnly(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnly = err
}

// Clone returns a copy that has nothing in common with s any more, with the
// same identities and the same next one.
func (s *Store) Clone() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Store{
		o: s.o, lastID: s.lastID, byID: map[target.FileID]*node{},
		refused: maps.Clone(s.refused), quotas: maps.Clone(s.quotas),
		down: s.down, readOnly: s.readOnly,
	}
	c.root = c.adopt(s.root, nil)
	return c
}

// adopt copies n and all below it.
func (s *Store) adopt(n, parent *node) *node {
	m := *n
	m.parent = parent
	m.content = n.content[:len(n.content):len(n.content)] // so that an append moves away
	s.byID[m.id] = &m
	if n.children != nil {
		m.children = make(map[string]*node, len(n.children))
		for name, child := range n.children {
			m.children[name] = s.adopt(child, &m)
		}
	}
	return &m
}

// Files returns every file of the store, hidden ones too, in path order.
func (s *Store) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	var files []File
	s.root.visit(func(n *node) {
		if n.children == nil {
			files = append(files, File{Info: n.info(), Mode: n.mode, Options: n.options, Content: n.content})
		}
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// Finished returns the files that a reader sees: those without a segment that
// begins with a dot or an underscore. A file is what it is at this moment,
// closed or not; a checker looks at Closed.
func (s *Store) Finished() []File {
	return slices.DeleteFunc(s.Files(), func(f File) bool {
		return strings.Contains(f.Path, "/.") || strings.Contains(f.Path, "/_")
	})
}

func (n *node) visit(f func(*node)) {
	f(n)
	for _, child := range n.children {
		child.visit(f)
	}
}
