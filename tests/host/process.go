package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Answers of a flush, as in Event.Answer.
const (
	Error = 0
	OK    = 1
	Retry = 2
)

// Event is something that the host reports. Event.Event says what, and with it
// which fields have a meaning.
//
//	init       Output, Result: 1 if it runs
//	chunk      Chunk, First, Records, Bytes: ingested
//	answer     Chunk, Output, Delivery (from 1), Answer, Us
//	drop       Chunk, Output: given up, after ERROR or too many RETRY
//	delete     Chunk: every output is done with it
//	delivered  nothing is left to deliver
//	exit       Output, Ms
//	summary    the numbers of the whole run
type Event struct {
	Event    string  `json:"event"`
	Output   string  `json:"output"`
	Chunk    string  `json:"chunk"`
	Result   int     `json:"result"`
	First    uint64  `json:"first"`
	Records  uint64  `json:"records"`
	Bytes    uint64  `json:"bytes"`
	Delivery int     `json:"delivery"`
	Answer   int     `json:"answer"`
	Us       float64 `json:"us"`
	Ms       float64 `json:"ms"`
	Summary
}

// Summary is a run in numbers. A killed run has none.
type Summary struct {
	Chunks     uint64  `json:"chunks"` // ingested; Records counts their records, Bytes what was answered OK
	OK         uint64  `json:"ok"`
	Retry      uint64  `json:"retry"`
	Error      uint64  `json:"error"`
	Other      uint64  `json:"other"` // answers that Fluent Bit doesn't know
	Dropped    uint64  `json:"dropped"`
	Deleted    uint64  `json:"deleted"`
	Seconds    float64 `json:"seconds"`
	P50Us      float64 `json:"p50_us"`
	P99Us      float64 `json:"p99_us"`
	MaxUs      float64 `json:"max_us"`
	RSSKB      uint64  `json:"rss_kb"`
	PeakRSSKB  uint64  `json:"peak_rss_kb"`
	StackBytes uint64  `json:"stack_bytes"` // of a coroutine's stack that the plugin used, at most
}

// Result is a run that has ended.
type Result struct {
	Events  []Event
	Summary Event // its Summary, Records and Bytes; zero if the run was killed
	Log     string
	Code    int            // the exit code, or -1
	Signal  syscall.Signal // what ended it, or 0
	CPU     time.Duration  // of all its threads
}

// Process is a host, or a fluent-bit, that runs. Its methods are safe for
// concurrent use.
type Process struct {
	cmd     *exec.Cmd
	readers sync.WaitGroup // read its output until it has none

	mu     sync.Mutex // guards what follows
	events []Event
	log    bytes.Buffer
	broken error         // a line of its output that is no event
	more   chan struct{} // closed and replaced when there is more to see
	open   int           // of stdout and stderr, those that aren't at their end
}

func start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, more: make(chan struct{}), open: 2}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	// Every process that it forks holds this open, so its end is theirs.
	alive, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{held}
	err = cmd.Start()
	if err := errors.Join(err, held.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cmd.Path, err), alive.Close())
	}
	p.readers.Go(func() {
		_, _ = io.Copy(io.Discard, alive)
		_ = alive.Close()
	})
	p.readers.Go(func() { p.readEvents(out) })
	p.readers.Go(func() { p.readLog(log) })
	return p, nil
}

func (p *Process) readEvents(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var e Event
		err := json.Unmarshal(lines.Bytes(), &e)
		p.note(func() {
			if err != nil {
				p.broken = fmt.Errorf("the host reported %q: %w", lines.Text(), err)
				return
			}
			p.events = append(p.events, e)
		})
	}
	_, _ = io.Copy(io.Discard, r) // so that it never waits for its reader
	p.note(func() { p.open-- })
}

func (p *Process) readLog(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		p.note(func() { p.log.Write(line) })
		if err != nil {
			p.note(func() { p.open-- })
			return
		}
	}
}

// note changes what is known and wakes whoever waits for a change.
func (p *Process) note(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.more)
	p.more = make(chan struct{})
}

// Signal sends the process a signal. One that has ended gets none.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// OpenFiles is how many files the process has open.
func (p *Process) OpenFiles() (int, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	return len(open), err
}

// Anonymous is the process's own memory in bytes, RssAnon of its status: the
// mapped chunk files aren't among it.
func (p *Process) Anonymous() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	return kb * 1024, err
}

// Kill ends the process as a crash does.
func (p *Process) Kill() error { return p.Signal(syscall.SIGKILL) }

// Terminate asks the process to shut down as a supervisor does.
func (p *Process) Terminate() error { return p.Signal(syscall.SIGTERM) }

// Log is what the process has written to its log so far.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// Events are the events so far.
func (p *Process) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// WaitFor waits until the events so far are as wanted. It gives up when ctx
// ends or no more can come.
func (p *Process) WaitFor(ctx context.Context, wanted func(events []Event) bool) error {
	for {
		p.mu.Lock()
		more, ended := p.more, p.open == 0
		p.mu.Unlock()
		if wanted(p.Events()) {
			return nil
		}
		if ended {
			return errors.New("the process ended before what was waited for; its log:\n" + p.Log())
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%w before what was waited for; the process's log:\n%s", ctx.Err(), p.Log())
		}
	}
}

// Wait waits for the end of the process, and of what it forked, and returns
// what it did. It is called
// once. An error means that the run can't be judged, not that it went badly.
func (p *Process) Wait() (Result, error) {
	p.readers.Wait()
	err := p.cmd.Wait()
	r := Result{Events: p.Events(), Log: p.Log(), Code: p.cmd.ProcessState.ExitCode(),
		CPU: p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Signal = status.Signal()
	}
	for _, e := range r.Events {
		if e.Event == "summary" {
			r.Summary = e
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("wait for %s: %w", p.cmd.Path, err)
	}
	return r, p.broken
}
