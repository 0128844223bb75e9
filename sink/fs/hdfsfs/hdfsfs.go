// Package hdfsfs is the driver for hdfs://: files on an HDFS cluster, over
// Hadoop's own protocols.
//
// # Promises
//
// Upload answers nil only for a file that the NameNode has completed: no call on
// its writer failed, its Close was answered well, and the NameNode then named
// the length that was sent and said that nobody holds the file open. Publish
// never replaces, since the NameNode itself refuses to. An error's class is
// never better than what is known: a lost answer to a change is Unclear.
//
// A file's identity is its inode number, which the NameNode gives out once in a
// namespace's life and by which a file can be found wherever it was moved.
// Times are whole milliseconds. HDFS keeps what it has acknowledged against the
// death of processes; against a loss of power of all replicas only if the
// DataNodes are configured to (dfs.datanode.synconclose).
//
// # Sessions
//
// Each call has a session to itself, a client with one connection to one
// NameNode, taken from a pool and given back. So a call that hangs holds up
// nobody, a ctx that ends cuts this call's connections only, and Locate has one
// connection on which nobody else acts. A session on which anything went wrong
// is thrown away. Every dial, every call and every packet has a deadline.
//
// With several NameNodes a session is on one that said that it is active (find.go).
// A call that has done nothing yet waits for a takeover, and one whose NameNode
// hangs is ended when another is active (watch.go).
//
// # Kerberos
//
// One log-in serves all sessions and is renewed in time (tickets.go). No key and no
// ticket is in an error.
//
// Never here: an append, a truncate, a second Close after an error, a retry of
// a change, a list of a directory to find files of ours.
//
// Erasure coded directories and encryption zones are refused with class
// Unsupported: the client library can't write there.
package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
)

// Opener opens hdfs:// targets. The zero value knows no environment.
type Opener struct {
	// System is the process around it: HADOOP_USER_NAME and the operating
	// system's user, and what a configuration's variables may name.
	System hadoop.System
}

var _ fs.Opener = Opener{}

// Driver is one HDFS, as one user.
type Driver struct {
	c    config
	pool *pool
}

var (
	_ fs.Driver = (*Driver)(nil)
	_ fs.Reader = (*Driver)(nil)
)

// Open connects to the NameNodes of authority, and fails if none answers. The
// options' Settings are Hadoop's properties and this package's own.
func (o Opener) Open(ctx context.Context, authority string, with fs.Options) (fs.Driver, error) {
	target := "hdfs://" + authority
	unsupported := func(err error) error {
		return &fs.Error{Op: "open", Path: target, Class: fs.Unsupported, Err: err}
	}
	if err := checkInternals(); err != nil {
		return nil, unsupported(err)
	}
	c, err := readConfig(authority, with, o.System)
	if err != nil {
		return nil, unsupported(err)
	}
	d := &Driver{c: c, pool: newPool(c)}
	if err := d.first(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s (%s) as %s: %w", target, strings.Join(c.addresses, ", "), c.user, err), d.Close())
	}
	return d, nil
}

// first opens the first session, which tells a wrong address, a wrong port and a
// NameNode that is away from a path that is refused. It doesn't wait for a
// NameNode to become active. What answers must be a NameNode, too.
func (d *Driver) first(ctx context.Context) error {
	s, err := d.take(ctx, "open", "/", time.Now())
	if err != nil {
		return err
	}
	defer d.pool.give(s)
	defer s.until(ctx)()
	if err := refuseRouter(s.x); err != nil {
		return failed(ctx, "open", "/", err, reading)
	}
	return nil
}

// Close cuts all connections. Calls that are under way fail.
func (d *Driver) Close() error {
	d.pool.close()
	return nil
}

// read runs f with a session. What fails changed nothing.
func (d *Driver) read(ctx context.Context, op, p string, act func(*session) error) error {
	return d.with(ctx, op, p, reading, act)
}

// change runs f with a session. What fails without saying how may have changed
// something.
func (d *Driver) change(ctx context.Context, op, p string, act func(*session) error) error {
	return d.with(ctx, op, p, changing, act)
}

// with runs act. With several NameNodes it runs it again if its session turned out
// to be over before anything was done on it: the NameNode isn't the active one
// any more, or the connection of a session that had waited has ended. Acts begin
// with a question, so an act with no call answered has changed nothing.
func (d *Driver) with(ctx context.Context, op, p string, e effect, act func(*session) error) error {
	until := time.Now().Add(takeover)
	for {
		s, err := d.take(ctx, op, p, until)
		if err != nil {
			return err
		}
		used, answered := s.used, s.answers.Load()
		err = d.on(ctx, s, act)
		if isStandby(err) {
			s.broken.Store(true)
		}
		unasked := s.answers.Load() == answered && s.broken.Load() && ctx.Err() == nil && !d.pool.isClosed()
		d.pool.give(s)
		switch {
		case err == nil:
			return nil
		case unasked && (used || isStandby(err)) && len(d.c.addresses) > 1 && time.Now().Before(until):
			continue
		}
		return failed(ctx, op, p, err, e)
	}
}

// on runs act on a session, which ends with ctx, and when its NameNode hangs and
// another one is active.
func (d *Driver) on(ctx context.Context, s *session, act func(*session) error) error {
	defer d.pool.watch(ctx, s)()
	defer s.until(ctx)()
	err := act(s)
	if cause := context.Cause(s.ctx); err != nil && cause != nil && ctx.Err() == nil && !errors.Is(err, cause) && !errors.Is(cause, err) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

// take checks that a call may begin and returns a session for it.
func (d *Driver) take(ctx context.Context, op, p string, until time.Time) (*session, error) {
	if d.pool.isClosed() {
		return nil, fs.Closed(op, p)
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, op, p, nil)
	}
	if err := checkPath(op, p); err != nil {
		return nil, err
	}
	s, err := d.pool.take(ctx, until)
	if err != nil {
		return nil, failed(ctx, op, p, err, reading)
	}
	return s, nil
}

// checkPath refuses what HDFS can't have, or would take for another name.
func checkPath(op, p string) error {
	if err := fs.CheckPath(op, p); err != nil {
		return err
	}
	var why string
	switch {
	case !utf8.ValidString(p):
		why = "it is not valid UTF-8"
	case strings.Contains(p, ":"):
		why = "HDFS allows no colon in a name; choose a bucket_format, partition or tag without one"
	default:
		return nil
	}
	return &fs.Error{Op: op, Path: p, Class: fs.Path, Err: errors.New(why)}
}
