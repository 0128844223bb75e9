package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Options is what makes two clients of one target different ones.
type Options struct {
	// User is the Hadoop user or Kerberos principal, "" for the driver's default.
	User string
	// Settings is whatever else the driver is configured with, such as Hadoop's
	// properties and the path of a keytab. A driver must not change it.
	Settings map[string]string
	// Limits apply to the client as a whole, and so to all who share it.
	Limits LimitOptions
}

// Driver opens file systems of one scheme.
type Driver interface {
	// Open connects to authority, "" meaning the one that o.Settings name as
	// the default, or the only one there is.
	Open(ctx context.Context, authority string, o Options) (FileSystem, error)
}

// Registry knows the drivers by scheme and shares what they open: acquirers of
// one target with equal options get one client, closed when the last of them
// has closed it. A Registry is safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	drivers map[string]Driver
	pool    map[string]*pooled
}

// NewRegistry returns a Registry without drivers.
func NewRegistry() *Registry {
	return &Registry{drivers: map[string]Driver{}, pool: map[string]*pooled{}}
}

// pooled is a client that is open or being opened. fs and err are set before
// ready is closed and never after; refs belongs to the Registry's mutex.
type pooled struct {
	ready chan struct{}
	fs    FileSystem
	err   error
	refs  int
}

// Register makes d the driver of scheme. A second one for the same scheme is a
// programmer's mistake and panics.
func (r *Registry) Register(scheme string, d Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	scheme = strings.ToLower(scheme)
	if _, ok := r.drivers[scheme]; ok || !validScheme(scheme) {
		panic("fs: scheme " + scheme + " is registered twice or is none")
	}
	r.drivers[scheme] = d
}

// Schemes returns the registered schemes in order.
func (r *Registry) Schemes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.drivers))
}

// Acquire returns the client for t's file system under o, opening it if nobody
// has. The caller owns the returned FileSystem and closes it once done; that
// ends the caller's own use, and the client itself when it was the last.
//
// Opening happens once however many wait for it. If it fails, each waiter whose
// ctx still lives tries for itself.
func (r *Registry) Acquire(ctx context.Context, t Location, o Options) (FileSystem, error) {
	key := poolKey(t, o)
	for {
		r.mu.Lock()
		d, ok := r.drivers[t.Scheme]
		if !ok {
			known := slices.Sorted(maps.Keys(r.drivers))
			r.mu.Unlock()
			return nil, &Error{Op: "open", Path: t.String(), Class: Unsupported,
				Err: fmt.Errorf("no file system for scheme %q; use one of %s", t.Scheme, strings.Join(known, ", "))}
		}
		p, shared := r.pool[key]
		if !shared {
			p = &pooled{ready: make(chan struct{})}
			r.pool[key] = p
		}
		p.refs++
		r.mu.Unlock()

		if !shared {
			return r.open(ctx, key, p, d, t, o)
		}
		select {
		case <-p.ready:
			if p.err == nil {
				return &lease{registry: r, key: key, pooled: p}, nil
			}
		case <-ctx.Done():
			return nil, errors.Join(&Error{Op: "open", Path: t.String(), Class: Unclear, Err: context.Cause(ctx)}, r.release(key, p))
		}
	}
}

// open fills p for everyone who waits on it.
func (r *Registry) open(ctx context.Context, key string, p *pooled, d Driver, t Location, o Options) (FileSystem, error) {
	p.err = errors.New("driver panicked") // unless it comes back
	defer func() {
		if p.err != nil {
			r.mu.Lock()
			delete(r.pool, key)
			r.mu.Unlock()
		}
		close(p.ready)
	}()
	opened, err := d.Open(ctx, t.Authority, o)
	if err != nil {
		p.err = fmt.Errorf("open %s://%s: %w", t.Scheme, t.Authority, err)
		return nil, p.err
	}
	p.fs, p.err = Limit(opened, o.Limits), nil
	return &lease{registry: r, key: key, pooled: p}, nil
}

// release gives one reference back and closes the client with the last one.
// p may still be being opened, when a waiter gave up: its opener has a
// reference of its own then.
func (r *Registry) release(key string, p *pooled) error {
	r.mu.Lock()
	p.refs--
	last := p.refs == 0
	if last && r.pool[key] == p {
		delete(r.pool, key)
	}
	r.mu.Unlock()
	if !last || p.fs == nil {
		return nil
	}
	return p.fs.Close()
}

// poolKey tells clients apart. The settings are hashed since they may be many
// and may be secret.
func poolKey(t Location, o Options) string {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(o.Settings)) {
		fmt.Fprintf(h, "%q=%q\n", k, o.Settings[k])
	}
	return fmt.Sprintf("%q %q %q %+v %s", t.Scheme, t.Authority, o.User, o.Limits, hex.EncodeToString(h.Sum(nil)))
}

// Closed is what a call on a closed FileSystem answers: os.ErrClosed, of Class
// Target since nothing was changed.
func Closed(op, path string) error {
	return &Error{Op: op, Path: path, Class: Target, Err: os.ErrClosed}
}
