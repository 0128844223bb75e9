package fs

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// Client is one user's way to a target, and the only one that the sink takes.
// It adds to a Driver what holds for every target: the limits, the sharing of a
// driver among clients, and the fence. All methods are safe for concurrent use.
type Client struct {
	shared  *shared
	release func() error // gives the reference to shared back
	closed  atomic.Bool
	fenced  atomic.Bool
}

// shared is a driver and what is counted on it, for all of its clients.
type shared struct {
	driver Driver
	limits *limits
}

func share(d Driver, o LimitOptions) *shared { return &shared{driver: d, limits: newLimits(o)} }

// close sends waiting uploads away and closes the driver.
func (s *shared) close() error {
	s.limits.close()
	return s.driver.Close()
}

var _ Driver = (*Client)(nil) // its methods promise what a Driver's do

// NewClient returns a client that alone uses d and closes it.
func NewClient(d Driver, o LimitOptions) *Client {
	s := share(d, o)
	return &Client{shared: s, release: s.close}
}

// ErrFenced is in the error of a call that would have begun after Fence. The
// error is of Class Target: nothing was changed.
var ErrFenced = errors.New("the sink is closed")

// Fence lets no call of this client begin any more. Calls that are under way go
// on; Close works. A fence can't be taken away.
func (c *Client) Fence() { c.fenced.Store(true) }

// begin says whether a call may begin.
func (c *Client) begin(op, path string) error {
	switch {
	case c.closed.Load():
		return Closed(op, path)
	case c.fenced.Load():
		return &Error{Op: op, Path: path, Class: Target, Err: ErrFenced}
	}
	return nil
}

// Upload is Driver's, when the limits let it begin.
func (c *Client) Upload(ctx context.Context, src Source, hidden string, o UploadOptions) (Info, error) {
	if err := c.begin("upload", hidden); err != nil {
		return Info{}, err
	}
	if err := c.shared.limits.enter(ctx, hidden); err != nil {
		return Info{}, err
	}
	defer c.shared.limits.leave()
	if err := c.begin("upload", hidden); err != nil { // fenced while it waited
		return Info{}, err
	}
	return c.shared.limits.watch(ctx, src, hidden, func(ctx context.Context, src Source) (Info, error) {
		return c.shared.driver.Upload(ctx, src, hidden, o)
	})
}

// Publish is Driver's.
func (c *Client) Publish(ctx context.Context, from Info, final string, o PublishOptions) error {
	if err := c.begin("publish", from.Path); err != nil {
		return err
	}
	return c.shared.driver.Publish(ctx, from, final, o)
}

// Stat is Driver's.
func (c *Client) Stat(ctx context.Context, path string) (Info, error) {
	if err := c.begin("stat", path); err != nil {
		return Info{}, err
	}
	return c.shared.driver.Stat(ctx, path)
}

// Locate is Driver's.
func (c *Client) Locate(ctx context.Context, id FileID, names ...string) (Place, error) {
	if err := c.begin("locate", strings.Join(names, ", ")); err != nil {
		return Place{}, err
	}
	return c.shared.driver.Locate(ctx, id, names...)
}

// Open is Driver's.
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := c.begin("open", path); err != nil {
		return nil, err
	}
	return c.shared.driver.Open(ctx, path)
}

// Discard is Driver's.
func (c *Client) Discard(ctx context.Context, hidden string) error {
	if err := c.begin("discard", hidden); err != nil {
		return err
	}
	return c.shared.driver.Discard(ctx, hidden)
}

// Close ends this client's use of its driver, and closes the driver if no other
// client uses it. Calls that are under way go on, with the driver closed if this
// was its last client. A second Close does nothing.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.release()
}

// Closed is what a call on a closed Client or Driver answers: os.ErrClosed, of
// Class Target since nothing was changed.
func Closed(op, path string) error {
	return &Error{Op: op, Path: path, Class: Target, Err: os.ErrClosed}
}
