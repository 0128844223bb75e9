package sink

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// rename publishes the uploaded temp under a final name, if it still is the
// file that was uploaded.
func (c *committer) rename(ctx context.Context, a journal.Attempt, final string) error {
	now, err := c.fs.Stat(ctx, a.Temp)
	switch {
	case err == nil && now.Same(infoOf(a)):
		return c.renameTo(ctx, a, final)
	case err != nil && fs.ClassOf(err) != fs.Missing:
		return err
	}
	return c.abandon(ctx, a, now, err == nil)
}

// errTampered says that somebody changed or removed a temp of ours.
var errTampered = errors.New("an uploaded temp file was changed, replaced or removed by somebody else; it is uploaded again")

// abandon gives an uploaded attempt up of which nothing was renamed yet. What
// is still ours, changed or not to be seen just now, stays listed until it is
// confirmed gone; somebody else's file in its place isn't touched.
func (c *committer) abandon(ctx context.Context, a journal.Attempt, now fs.Info, exists bool) error {
	frames := []journal.Frame{journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}}
	if ours := !exists || string(now.ID) == a.ID; ours {
		c.s.attempts.note(a.Temp, fs.Unclear)
		frames = append(frames, journal.Attempted{Part: c.p.Number, Temp: a.Temp})
	}
	if err := c.append(ctx, frames...); err != nil {
		return err
	}
	return &fs.Error{Op: "publish", Path: a.Temp, Class: fs.Path, Err: errTampered}
}

// renameTo journals the final name and renames.
func (c *committer) renameTo(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.append(ctx, journal.Renaming{Part: c.p.Number, Final: final, Next: c.s.journal.NextNumber()}); err != nil {
		return err
	}
	if err := c.fs.Publish(ctx, infoOf(a), final, fs.PublishOptions{DirMode: c.p.DirMode}); err != nil {
		if cls := fs.ClassOf(err); cls == fs.Exists || cls == fs.Missing || cls == fs.Unclear {
			// Even a refusal proves nothing here: it may be the answer to the
			// second of two tries of which the first took effect.
			return c.decide(ctx)
		}
		return err
	}
	return c.finish(ctx, final, a.Temp)
}

// verdict is where an uploaded file is, after a rename may have happened.
type verdict struct {
	temp    bool   // still under its temp name, as it was uploaded
	changed bool   // under its temp name, but no longer as it was uploaded
	final   string // under this final name; with temp it has both, as hard links
	moved   bool   // somewhere else
	astray  bool   // somewhere else under its temp name: its folder was moved, and no reader sees it
	taken   bool   // the last final name is taken by something else
}

// look finds the uploaded file.
func (c *committer) look(ctx context.Context, a journal.Attempt) (out verdict, err error) {
	place, err := c.fs.Locate(ctx, fs.FileID(a.ID), append([]string{a.Temp}, c.p.Finals...)...)
	if err != nil {
		return verdict{}, err
	}
	temp, finals := place.Names[0], place.Names[1:]
	out.temp = temp.Exists && temp.Info.Same(infoOf(a))
	out.changed = temp.Exists && !out.temp && a.ID != "" && string(temp.Info.ID) == a.ID
	for i, e := range finals {
		mine := e.Exists && e.Info.Same(infoOf(a))
		if mine {
			out.final = c.p.Finals[i]
		}
		out.taken = e.Exists && !mine
	}
	if e := place.Elsewhere; e.Exists {
		// A length below 0 is a file where we may not look. Otherwise it must be
		// as it was uploaded: after a reformat identities begin anew.
		same := e.Info.Length < 0 || e.Info.Length == a.Length && e.Info.ModTime.Equal(a.ModTime)
		out.moved = !e.Info.Dir && e.Info.Path != a.Temp && same
		out.astray = out.moved && path.Base(e.Info.Path) == path.Base(a.Temp)
	}
	return out, nil
}

// decide finds out what became of a rename that may have happened.
func (c *committer) decide(ctx context.Context) error {
	i := slices.IndexFunc(c.p.Attempts, func(a journal.Attempt) bool { return a.State == journal.AttemptUploaded })
	if i < 0 {
		return c.hold(ctx, "the journal doesn't say which file was being renamed", lookFirst)
	}
	a := c.p.Attempts[i]
	v, err := c.look(ctx, a)
	if err != nil {
		return err
	}
	last := c.p.Finals[len(c.p.Finals)-1]
	switch {
	case v.temp && v.final != "": // a move that is half done is finished where it went
		return c.renameAgain(ctx, a, v.final)
	case v.temp && v.taken:
		next := c.final(c.nextNumber())
		c.s.log.Warn("a final name is taken by another file; a higher number is used",
			"target", c.p.Target, "file", last, "instead", next,
			"do", "give each agent its own writer_id below a path")
		return c.renameTo(ctx, a, next)
	case v.temp:
		return c.renameAgain(ctx, a, last)
	case v.final != "":
		return c.finish(ctx, v.final, a.Temp)
	case v.astray:
		return c.hold(ctx, fmt.Sprintf("somebody moved the uploaded file %s, or the folder it is in, before it was published as %s; "+
			"where it is now it still has its temp name, which readers skip", a.Temp, last),
			"rename it there and run `%s done`, or remove it and run `… publish`")
	case v.moved:
		return c.finish(ctx, last, a.Temp)
	case v.changed:
		return c.hold(ctx, fmt.Sprintf("somebody changed the uploaded file %s before it was published as %s", a.Temp, last),
			"run `%s publish` to replace it by what was uploaded, or publish it yourself and run `… done`")
	}
	return c.hold(ctx, fmt.Sprintf("the file was uploaded as %s and a rename to %s may have happened, but it is at neither place: "+
		"a consumer moved or deleted it, or it was never published", a.Temp, last), lookFirst)
}

// nextNumber takes a part number for a name in place of one that was taken.
// The first few are consecutive; then each leaves out twice as many as the one
// before, since another agent that got as far may have taken them all.
func (c *committer) nextNumber() uint64 {
	const consecutive, most = 4, 20
	for range 1<<min(max(len(c.p.Finals)-consecutive, 0), most) - 1 {
		c.s.journal.NextPart()
	}
	return c.s.journal.NextPart()
}

// renameAgain repeats a rename whose file is still under its temp name. The
// final name is in the journal already.
func (c *committer) renameAgain(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.fs.Publish(ctx, infoOf(a), final, fs.PublishOptions{DirMode: c.p.DirMode}); err != nil {
		return err // the next try decides again
	}
	return c.finish(ctx, final, a.Temp)
}

// finish journals that the part is published and forgets it. It is repeated
// until it succeeds: later nobody could know, once a consumer has the file.
func (c *committer) finish(ctx context.Context, final, temp string) error {
	p := c.p
	if !c.s.append(ctx, journal.Finished{Part: p.Number, Final: final, Temp: temp}) {
		return fmt.Errorf("journal that part %d is finished: %w", p.Number, context.Cause(ctx))
	}
	c.s.attempts.forget(temp)
	c.s.removeStaged(p.Staged, p.Length)
	c.s.log.Debug("a part is finished", "target", p.Target, "file", final, "records", p.Records, "bytes", p.Length)
	return nil
}

const lookFirst = "look for it, then run `%s publish` if it isn't there, or `… done`"

// hold ends the commit until an operator decides. do says how, with a verb for
// the beginning of the command.
func (c *committer) hold(ctx context.Context, why, do string) error {
	if err := c.append(ctx, journal.Held{Part: c.p.Number, Why: why}); err != nil {
		return err
	}
	c.s.log.Error("a part is held: no rule can tell how to go on", "target", c.p.Target,
		"part", c.p.Number, "bucket", c.p.Bucket, "records", c.p.Records, "why", why, "do",
		fmt.Sprintf(do, fmt.Sprintf("out-hdfs resolve --state-dir %s part %d", c.s.cfg.StateDir, c.p.Number)))
	return nil
}
