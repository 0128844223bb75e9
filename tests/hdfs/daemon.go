package hdfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Daemon is a NameNode, a DataNode or a JournalNode. Its methods are for one goroutine at a
// time.
type Daemon struct {
	cluster *Cluster
	name    string
	class   string
	args    []string
	addr    string
	live    func(ctx context.Context) (bool, error)
	p       *process
}

// Name is what the daemon is called in messages, such as "datanode1".
func (d *Daemon) Name() string { return d.name }

// Addr is the host:port on which clients reach it: a NameNode's RPC, a
// DataNode's data transfer.
func (d *Daemon) Addr() string { return d.addr }

// Pid is the process's.
func (d *Daemon) Pid() int { return d.p.cmd.Process.Pid }

// command is a JVM in the cluster's surroundings.
func (c *Cluster) command(ctx context.Context, class string, args ...string) *exec.Cmd {
	cmd := c.layout.command(ctx, class, args...)
	if c.kdc != nil {
		// Before the class's name, after the program's.
		cmd.Args = slices.Insert(cmd.Args, 1, "-Djava.security.krb5.conf="+c.kdc.Config())
		cmd.Env = append(cmd.Env, "KRB5CCNAME="+c.layout.path("superuser.cache"))
	}
	return cmd
}

func (d *Daemon) start() error {
	c := d.cluster
	p, err := c.spawner.run(c.command(context.Background(), d.class, d.args...), c.layout.path(d.name+".log"))
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.p = p
	return nil
}

// Kill ends the daemon as a loss of power would, without a word to anybody.
func (d *Daemon) Kill() error { return d.p.kill() }

// Stop makes the daemon hang: connections stay and nothing is answered.
func (d *Daemon) Stop() error { return d.p.signal(syscall.SIGSTOP) }

// Continue ends what Stop began.
func (d *Daemon) Continue() error { return d.p.signal(syscall.SIGCONT) }

// Restart kills the daemon, if it runs, and starts it again on its data and
// its port. WaitReady waits for it.
func (d *Daemon) Restart() error {
	if err := d.Kill(); err != nil {
		return err
	}
	return d.start()
}

// WaitReady waits until a NameNode takes writes, or until the NameNode counts
// a DataNode as live.
func (d *Daemon) WaitReady(ctx context.Context) error {
	return d.wait(ctx, "ready", d.live)
}

// WaitDead waits until the NameNode no longer counts a DataNode as live. For up
// to two seconds more it may still choose it for blocks.
func (d *Daemon) WaitDead(ctx context.Context) error {
	return d.cluster.wait(ctx, d.name+" is dead", func(ctx context.Context) (bool, error) {
		ok, err := d.live(ctx)
		return !ok, err
	})
}

// listens says whether somebody takes connections at the daemon's address.
func (d *Daemon) listens(ctx context.Context) (bool, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return false, err
	}
	return true, conn.Close()
}

// wait is the cluster's, and fails at once when the process has ended.
func (d *Daemon) wait(ctx context.Context, what string, f func(context.Context) (bool, error)) error {
	return d.cluster.wait(ctx, d.name+" is "+what, func(ctx context.Context) (bool, error) {
		if err := d.p.ended(); err != nil {
			return false, fatal{fmt.Errorf("%s ended: %w\n%s", d.name, err, d.Log())}
		}
		return f(ctx)
	})
}

// Log is the end of the daemon's log.
func (d *Daemon) Log() string {
	log, err := os.ReadFile(d.cluster.layout.path(d.name + ".log"))
	if err != nil {
		return err.Error()
	}
	return string(tail(log))
}

// fatal is an error that waiting doesn't heal.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// wait polls until f says yes. Errors that aren't fatal mean not yet.
func (c *Cluster) wait(ctx context.Context, what string, f func(context.Context) (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := f(ctx)
		var end fatal
		if ok && err == nil {
			return nil
		} else if errors.As(err, &end) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w (last: %v)", what, context.Cause(ctx), err)
		}
	}
}
