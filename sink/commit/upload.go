package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

func infoOf(a journal.Attempt) fs.Info {
	return fs.Info{Path: a.Temp, ID: fs.FileID(a.ID), Length: a.Length, ModTime: a.ModTime, Closed: true}
}

// dropAttempts removes the temps of attempts that came to nothing. Their
// number is bounded that way: a new attempt begins when the old ones' temps
// are gone, or were missing and may at most appear late.
func (c *commit) dropAttempts(ctx context.Context) error {
	for _, a := range slices.Clone(c.p.Attempts) {
		if a.State == journal.AttemptUploaded {
			continue
		}
		f := journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}
		strange, err := c.strange(ctx, a)
		if err == nil && strange {
			err = c.record(ctx, f)
		} else if err == nil {
			err = c.s.removeTemp(ctx, c.target, f)
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
func (c *commit) strange(ctx context.Context, a journal.Attempt) (bool, error) {
	if a.ID == "" {
		return false, nil
	}
	info, err := c.target.Stat(ctx, a.Temp)
	if err != nil && fs.ClassOf(err) == fs.Missing {
		return false, nil
	}
	return err == nil && string(info.ID) != a.ID, err
}

// uploaded returns an attempt that is whole on the target, making one if there
// is none. It returns nil without an error if the part is held.
func (c *commit) uploaded(ctx context.Context) (*journal.Attempt, error) {
	if a, ok := c.p.Uploaded(); ok {
		return &a, nil
	}
	src, err := c.s.staging.Open(Staged(c.p))
	if err != nil {
		return nil, c.notUploaded(ctx, err)
	}
	defer src.Close()
	temp := c.newTemp()
	if err := c.record(ctx, journal.Attempted{Part: c.p.Number, Temp: temp}); err != nil {
		return nil, err
	}
	info, err := c.upload(ctx, src, temp)
	if err != nil {
		return nil, c.notUploaded(ctx, err)
	}
	done := journal.Attempt{Temp: temp, State: journal.AttemptUploaded, ID: string(info.ID), Length: info.Length, ModTime: info.ModTime}
	if err := c.record(ctx, journal.Uploaded{Part: c.p.Number, Attempt: done}); err != nil {
		return nil, err
	}
	return &done, nil
}

// notUploaded is what to do about an upload that failed. If it is the staged
// file that is wrong, no further try can mend that: the part is held.
func (c *commit) notUploaded(ctx context.Context, err error) error {
	var wrong *staging.WrongError
	if !errors.As(err, &wrong) {
		return err
	}
	if err := c.dropAttempts(ctx); err != nil {
		return err
	}
	where, err := c.s.staging.SetAsideOf(c.p.Staged, c.p.Number)
	if err != nil {
		return err
	}
	return c.hold(ctx, fmt.Sprintf("the staged file %s isn't what was journaled: %v", where, wrong),
		"put it back as it was and run `%s publish`, or save what is readable of it and run `… done`")
}

// upload uploads the staged file and checks what arrived.
func (c *commit) upload(ctx context.Context, src *staging.Source, temp string) (fs.Info, error) {
	info, err := c.target.Upload(ctx, src, temp, fs.UploadOptions{
		FileMode: c.p.FileMode, DirMode: c.p.DirMode, Replication: c.p.Replication, BlockSize: c.p.BlockSize,
	})
	if err != nil {
		c.s.temps.note(temp, fs.ClassOf(err))
		return fs.Info{}, err
	}
	c.s.temps.note(temp, fs.Unclear)
	if !src.Checked() {
		return fs.Info{}, &fs.Error{Op: "upload", Path: temp, Class: fs.Unclear, Err: errNotChecked}
	}
	now, err := c.target.Stat(ctx, temp)
	if err != nil {
		return fs.Info{}, err
	}
	if now.ID != info.ID { // somebody else's file by now, which isn't ours to remove
		if err := c.record(ctx, journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: temp}); err != nil {
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
	// errTampered says that somebody changed or removed a temp of ours.
	errTampered = errors.New("an uploaded temp file was changed, replaced or removed by somebody else; it is uploaded again")
)
