package instance

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/memory"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
)

// Process is what all instances of this process share with the agent: its limit
// of open files, and the memory of this plugin's own Go runtime. The zero value
// is ready to use; it is safe for concurrent use.
//
// Of the files that the agent could still open when the first instance started,
// the plugin uses half at most, in equal shares: the other half is the agent's.
// Go raises the soft limit to the hard one by itself as the plugin is loaded
// (package syscall), so the hard limit counts.
//
// The runtime's soft memory limit is the sum of the instances' memory_limit and
// of memory.Runtime. It is put back when the last instance ends.
type Process struct {
	mu        sync.Mutex
	instances int
	files     int   // for all instances together; valid while there is one
	memory    int64 // sum of memory_limit
	before    int64 // the runtime's limit without instances

	// What the system answers; nil asks it.
	openFiles func() (limit, open int, err error)
}

// leastParts is how many files the parts of an instance must be able to have
// open: one that is written, one that is sealed, and some so that not every
// record is a file of its own.
const leastParts = 4

// share is an instance's part of a Process.
type share struct {
	process *Process
	others  int // files that it opens beside those of parts
	memory  int64
}

// join gives an instance its share, with so many uploads at a time and
// that memory_limit. The instance leaves when it is closed. If the limit of
// open files is too low for one more, the error says which one would do.
func (p *Process) join(uploads int, limit int64) (*share, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &share{process: p, others: sink.OtherFiles(uploads), memory: limit}
	most, open, err := p.askFiles()
	if err != nil {
		return nil, err
	}
	files := p.files
	if p.instances == 0 {
		files = max(0, most-open) / 2
	}
	if least := s.others + leastParts; files/(p.instances+1) < least {
		return nil, fmt.Errorf("%d files may be open and %d are: half of what is left isn't enough for the %d that each of %d outputs needs; "+
			"%s, to %d or more, or lower uploads", most, open, least, p.instances+1, openfiles.Raise, most-2*files+2*least*(p.instances+1))
	}
	if p.instances == 0 {
		p.before = debug.SetMemoryLimit(-1)
	}
	p.instances++
	p.files = files
	p.memory += limit
	p.limitMemory()
	return s, nil
}

func (p *Process) askFiles() (limit, open int, err error) {
	if p.openFiles != nil {
		return p.openFiles()
	}
	return openFiles()
}

// limitMemory sets the runtime's limit. One that the agent's environment sets
// (GOMEMLIMIT) holds if it is lower.
func (p *Process) limitMemory() {
	if p.instances == 0 {
		debug.SetMemoryLimit(p.before)
		return
	}
	debug.SetMemoryLimit(min(p.before, p.memory+memory.Runtime))
}

// leave ends the share. It is called once.
func (s *share) leave() {
	p := s.process
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instances--
	p.memory -= s.memory
	p.limitMemory()
}

// parts is how many files the instance's parts may have open now.
func (s *share) parts() int {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	return s.process.files/max(1, s.process.instances) - s.others
}

// openFiles is how many files this process may have open, and has.
func openFiles() (limit, open int, err error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, 0, fmt.Errorf("ask for the limit of open files: %w", err)
	}
	names, err := os.ReadDir("/proc/self/fd")
	switch {
	case openfiles.Exhausted(err):
		return 0, 0, fmt.Errorf("no file can be opened any more: %w; %s", err, openfiles.Raise)
	case err != nil && !errors.Is(err, os.ErrNotExist): // /proc may not be mounted
		return 0, 0, fmt.Errorf("count the open files: %w", err)
	}
	return int(min(l.Cur, math.MaxInt32)), len(names), nil
}
