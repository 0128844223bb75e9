package hdfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawner starts processes from one thread that lives as long as the cluster:
// the kernel kills them when that thread ends, and with the process it does.
type spawner struct {
	requests chan func()
	done     chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(s.done)
		for f := range s.requests {
			f()
		}
	}()
	return s
}

// start starts cmd so that it can't outlive this process.
func (s *spawner) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	return <-result
}

// close ends the thread, and with it whatever still runs.
func (s *spawner) close() {
	close(s.requests)
	<-s.done
}

// process is a running JVM. Somebody always waits for it.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}

	mu  sync.Mutex
	err error // why it ended, once done is closed
}

func (s *spawner) run(cmd *exec.Cmd, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := s.start(cmd); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s (a JDK must be installed): %w", cmd.Path, err), log.Close())
	}
	p := &process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		err := errors.Join(cmd.Wait(), log.Close())
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// signal sends sig, to nobody if the process has ended.
func (p *process) signal(sig os.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// kill ends the process, stopped or not, and waits until it has ended.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// ended says why the process has ended, nil while it runs.
func (p *process) ended() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return errors.New("it ended by itself")
	}
	return p.err
}
