package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// commit takes a pending part from where its last frame says it is to
// published. It returns nil when the part is finished or held, and otherwise
// the error that stopped it, from where the next call goes on.
//
// Invariants: each step is preceded by a synced frame that announces it. The
// temp is renamed only if it is the file that was uploaded. Before the first
// renaming frame any failure means a new attempt; after it nothing is uploaded
// or removed until it is known where the file is.
func (s *Sink) commit(ctx context.Context, number uint64) error {
	p, ok := s.journal.Part(number)
	if !ok || p.Held != "" {
		return nil
	}
	target, err := s.upload.open(ctx, p.Target)
	if err != nil {
		return err
	}
	c := &committer{s: s, fs: target, p: p}
	if len(p.Finals) > 0 {
		return c.decide(ctx)
	}
	if err := c.dropAttempts(ctx); err != nil {
		return err
	}
	uploaded, err := c.uploaded(ctx)
	if err != nil || uploaded == nil {
		return err
	}
	return c.rename(ctx, *uploaded, c.final(p.Number))
}

// committer is one commit under way.
type committer struct {
	s  *Sink
	fs *fs.Client
	p  journal.Part
}

func (c *committer) dir() string { return path.Join(c.p.Base, c.p.Bucket) }

func (c *committer) name(number uint64) string {
	return fmt.Sprintf("%s-%d%s", c.p.Prefix, number, c.p.Suffix)
}

func (c *committer) final(number uint64) string { return path.Join(c.dir(), c.name(number)) }

func (c *committer) temp() string {
	return path.Join(c.dir(), "."+c.name(c.p.Number)+".inprogress."+uuid())
}

// uuid is a random UUID (RFC 9562, version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// append journals a step, however often that takes. An error means that the
// commit ends here and the step isn't taken.
func (c *committer) append(ctx context.Context, frames ...journal.Frame) error {
	if !c.s.append(ctx, frames...) {
		return fmt.Errorf("journal part %d: %w", c.p.Number, context.Cause(ctx))
	}
	p, ok := c.s.journal.Part(c.p.Number)
	if !ok {
		return fmt.Errorf("part %d isn't pending any more", c.p.Number)
	}
	c.p = p
	return nil
}

func infoOf(a journal.Attempt) fs.Info {
	return fs.Info{Path: a.Temp, ID: fs.FileID(a.ID), Length: a.Length, ModTime: a.ModTime, Closed: true}
}

// dropAttempts removes the temps of attempts that came to nothing. Their
// number is bounded that way: a new attempt begins when the old ones' temps
// are gone, or were missing and may at most appear late.
func (c *committer) dropAttempts(ctx context.Context) error {
	for _, a := range slices.Clone(c.p.Attempts) {
		if a.State == journal.AttemptUploaded {
			continue
		}
		f := journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}
		strange, err := c.strange(ctx, a)
		if err == nil && strange {
			err = c.append(ctx, f)
		} else if err == nil {
			err = c.s.removeTemp(ctx, c.fs, f)
		}
		if err != nil {
			return err
		}
	}
	if p, ok := c.s.journal.Part(c.p.Number); ok {
		c.p = p
	}
	return nil
}

// strange reports whether somebody else's file lies where an attempt once had
// uploaded its own. It isn't ours to remove.
func (c *committer) strange(ctx context.Context, a journal.Attempt) (bool, error) {
	if a.ID == "" {
		return false, nil
	}
	info, err := c.fs.Stat(ctx, a.Temp)
	if err != nil && fs.ClassOf(err) == fs.Missing {
		return false, nil
	}
	return err == nil && string(info.ID) != a.ID, err
}

// uploaded returns an attempt that is whole on the target, making one if there
// is none. It returns nil without an error if the part is held.
func (c *committer) uploaded(ctx context.Context) (*journal.Attempt, error) {
	for _, a := range c.p.Attempts {
		if a.State == journal.AttemptUploaded {
			return &a, nil
		}
	}
	src, err := c.s.openStaged(c.p)
	if err != nil {
		return nil, c.notUploaded(ctx, err)
	}
	defer src.Close()
	temp := c.temp()
	if err := c.append(ctx, journal.Attempted{Part: c.p.Number, Temp: temp}); err != nil {
		return nil, err
	}
	info, err := c.put(ctx, src, temp)
	if err != nil {
		return nil, c.notUploaded(ctx, err)
	}
	done := journal.Attempt{Temp: temp, State: journal.AttemptUploaded, ID: string(info.ID), Length: info.Length, ModTime: info.ModTime}
	if err := c.append(ctx, journal.Uploaded{Part: c.p.Number, Attempt: done}); err != nil {
		return nil, err
	}
	return &done, nil
}

// notUploaded is what to do about an upload that failed. If it is the staged
// file that is wrong, no further try can mend that: the part is held.
func (c *committer) notUploaded(ctx context.Context, err error) error {
	var bad *stagedError
	if !errors.As(err, &bad) {
		return err
	}
	if err := c.dropAttempts(ctx); err != nil {
		return err
	}
	where, err := c.s.setAside(c.p)
	if err != nil {
		return err
	}
	return c.hold(ctx, fmt.Sprintf("the staged file %s isn't what was journaled: %v", where, bad),
		"put it back as it was and run `%s publish`, or save what is readable of it and run `… done`")
}

// put uploads the staged file and checks what arrived.
func (c *committer) put(ctx context.Context, src *stagedSource, temp string) (fs.Info, error) {
	info, err := c.fs.Upload(ctx, src, temp, fs.UploadOptions{
		FileMode: c.p.FileMode, DirMode: c.p.DirMode, Replication: c.p.Replication, BlockSize: c.p.BlockSize,
	})
	if err != nil {
		c.s.attempts.note(temp, fs.ClassOf(err))
		return fs.Info{}, err
	}
	c.s.attempts.note(temp, fs.Unclear)
	if !src.checked() {
		return fs.Info{}, &fs.Error{Op: "upload", Path: temp, Class: fs.Unclear, Err: errNotChecked}
	}
	now, err := c.fs.Stat(ctx, temp)
	if err != nil {
		return fs.Info{}, err
	}
	if now.ID != info.ID { // somebody else's file by now, which isn't ours to remove
		if err := c.append(ctx, journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: temp}); err != nil {
			return fs.Info{}, err
		}
		return fs.Info{}, &fs.Error{Op: "upload", Path: temp, Class: fs.Path, Err: errTampered}
	}
	if !now.Same(info) || now.Length != c.p.Length || !now.Closed {
		return fs.Info{}, &fs.Error{Op: "upload", Path: temp, Class: fs.Unclear,
			Err: fmt.Errorf("%w: %d of %d bytes, closed %v", errNotWhole, now.Length, c.p.Length, now.Closed)}
	}
	return now, nil
}

var (
	errNotWhole   = errors.New("the uploaded file isn't what was sent")
	errNotChecked = errors.New("bug: the driver didn't read the staged file from its beginning to its end")
)
