package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Options is what makes two drivers of one target different ones.
type Options struct {
	// User is the Hadoop user or Kerberos principal, "" for the driver's default.
	User string
	// Settings is whatever else the driver is configured with, such as Hadoop's
	// properties and the path of a keytab. A driver must not change it.
	Settings map[string]string
	// Limits apply to the driver as a whole, and so to all clients that share it.
	Limits LimitOptions
}

// Opener opens drivers of one scheme.
type Opener interface {
	// Open connects to authority, "" meaning the one that o.Settings name as
	// the default, or the only one there is.
	Open(ctx context.Context, authority string, o Options) (Driver, error)
}

// Registry knows the openers by scheme and shares what they open: clients of
// one target with equal options have one driver, closed when the last of them
// is. A Registry is safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	openers map[string]Opener
	pool    map[string]*pooled
}

// NewRegistry returns a Registry without schemes.
func NewRegistry() *Registry {
	return &Registry{openers: map[string]Opener{}, pool: map[string]*pooled{}}
}

// pooled is a driver that is open or being opened. shared and err are set before
// ready is closed and never after; refs belongs to the Registry's mutex.
type pooled struct {
	ready  chan struct{}
	shared *shared
	err    error
	refs   int
}

// Register makes o the opener of scheme. A second one for the same scheme is a
// programmer's mistake and panics.
func (r *Registry) Register(scheme string, o Opener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	scheme = strings.ToLower(scheme)
	if _, ok := r.openers[scheme]; ok || !validScheme(scheme) {
		panic("fs: scheme " + scheme + " is registered twice or is none")
	}
	r.openers[scheme] = o
}

// Schemes returns the registered schemes in order.
func (r *Registry) Schemes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.openers))
}

// Acquire returns a client of t's file system under o, and opens a driver for it
// if there is none to share. The caller closes the client.
//
// Opening happens once however many wait for it. If it fails, each waiter whose
// ctx still lives tries for itself.
func (r *Registry) Acquire(ctx context.Context, t Location, o Options) (*Client, error) {
	key := poolKey(t, o)
	for {
		r.mu.Lock()
		opener, ok := r.openers[t.Scheme]
		if !ok {
			known := slices.Sorted(maps.Keys(r.openers))
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
			return r.open(ctx, key, p, opener, t, o)
		}
		select {
		case <-p.ready:
			if p.err == nil {
				return r.client(key, p), nil
			}
		case <-ctx.Done():
			return nil, errors.Join(&Error{Op: "open", Path: t.String(), Class: Unclear, Err: context.Cause(ctx)}, r.release(key, p))
		}
	}
}

// open fills p for everyone who waits on it.
func (r *Registry) open(ctx context.Context, key string, p *pooled, opener Opener, t Location, o Options) (*Client, error) {
	p.err = errors.New("the driver panicked while it was opened") // unless it comes back
	defer func() {
		if p.err != nil {
			r.mu.Lock()
			delete(r.pool, key)
			r.mu.Unlock()
		}
		close(p.ready)
	}()
	driver, err := opener.Open(ctx, t.Authority, o)
	if err != nil {
		p.err = fmt.Errorf("open %s://%s: %w", t.Scheme, t.Authority, err)
		return nil, p.err
	}
	p.shared, p.err = share(driver, o.Limits), nil
	return r.client(key, p), nil
}

// client returns a client that holds one of p's references.
func (r *Registry) client(key string, p *pooled) *Client {
	return &Client{shared: p.shared, release: func() error { return r.release(key, p) }}
}

// release gives one reference back and closes the driver with the last one.
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
	if !last || p.shared == nil {
		return nil
	}
	return p.shared.close()
}

// poolKey tells drivers apart. The settings are hashed since they may be many
// and may be secret.
func poolKey(t Location, o Options) string {
	h := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(o.Settings)) {
		fmt.Fprintf(h, "%q=%q\n", k, o.Settings[k])
	}
	return fmt.Sprintf("%q %q %q %+v %s", t.Scheme, t.Authority, o.User, o.Limits, hex.EncodeToString(h.Sum(nil)))
}
