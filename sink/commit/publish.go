package commit

import (
	"context"
	"fmt"
	"path"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// This file has everything about a final name, from the target's answer to what
// is done about it:
//
//	publish      the temp is checked, the name journaled, the file published
//	decide       an answer that leaves open what happened, or none at all: look
//	verdictOf    what was found, in words
//	judged       what is done about each verdict
//	nameTaken    what is done about a name that another file has: see taken.go

// publish gives the uploaded temp a final name, if it still is the file that was
// uploaded.
func (c *commit) publish(ctx context.Context, a journal.Attempt, final string) error {
	now, err := c.target.Stat(ctx, a.Temp)
	switch {
	case err == nil && now.Same(infoOf(a)):
		return c.publishAs(ctx, a, final)
	case err != nil && fs.ClassOf(err) != fs.Missing:
		return err
	}
	return c.abandon(ctx, a, now, err == nil)
}

// abandon gives up an uploaded attempt for which no final name was tried. A temp
// that is still our file, though changed, and one that can't be seen just now
// stay listed until it is confirmed that they are gone. Somebody else's file in
// its place isn't touched.
func (c *commit) abandon(ctx context.Context, a journal.Attempt, now fs.Info, exists bool) error {
	frames := []journal.Frame{journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}}
	if ours := !exists || string(now.ID) == a.ID; ours {
		c.s.temps.note(a.Temp, fs.Unclear)
		frames = append(frames, journal.Attempted{Part: c.p.Number, Temp: a.Temp})
	}
	if err := c.record(ctx, frames...); err != nil {
		return err
	}
	return &fs.Error{Op: "publish", Path: a.Temp, Class: fs.Path, Err: errTampered}
}

// publishAs journals the final name and publishes.
func (c *commit) publishAs(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.record(ctx, journal.Renaming{Part: c.p.Number, Final: final, Next: c.s.journal.NextNumber()}); err != nil {
		return err
	}
	if err := c.target.Publish(ctx, infoOf(a), final, fs.PublishOptions{DirMode: c.p.DirMode}); err != nil {
		switch fs.ClassOf(err) {
		case fs.Exists, fs.Missing, fs.Unclear:
			// Even a refusal proves nothing here: it may be the answer to the
			// second of two tries of which the first took effect.
			return c.decide(ctx)
		}
		return err
	}
	return c.finish(ctx, final, a.Temp)
}

// publishAgain repeats it for a file that is still under its temp name. The
// final name is in the journal already.
func (c *commit) publishAgain(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.target.Publish(ctx, infoOf(a), final, fs.PublishOptions{DirMode: c.p.DirMode}); err != nil {
		return err // the next try decides again
	}
	return c.finish(ctx, final, a.Temp)
}

// decide finds out what became of a publishing that may have happened.
func (c *commit) decide(ctx context.Context) error {
	a, ok := c.p.Uploaded()
	if !ok {
		return c.hold(ctx, "the journal doesn't say which file was being renamed", lookFirst)
	}
	place, err := c.target.Locate(ctx, fs.FileID(a.ID), append([]string{a.Temp}, c.p.Finals...)...)
	if err != nil {
		return err
	}
	return c.judged(ctx, a, verdictOf(a, c.p.Finals, place))
}

// verdict is where an uploaded file is, after it may have been published.
type verdict struct {
	temp    bool   // still under its temp name, as it was uploaded
	changed bool   // under its temp name, but no longer as it was uploaded
	final   string // under this final name; with temp it has both, as hard links
	moved   bool   // somewhere else
	astray  bool   // somewhere else under its temp name: its folder was moved, and no reader sees it
	taken   bool   // the last final name is taken by something else
}

// verdictOf says in words what Locate answered for the temp and the final names.
func verdictOf(a journal.Attempt, finals []string, at fs.Place) (v verdict) {
	temp := at.Names[0]
	v.temp = temp.Exists && temp.Info.Same(infoOf(a))
	v.changed = temp.Exists && !v.temp && a.ID != "" && string(temp.Info.ID) == a.ID
	for i, final := range finals {
		there := at.Names[1+i]
		mine := there.Exists && there.Info.Same(infoOf(a))
		if mine {
			v.final = final
		}
		v.taken = there.Exists && !mine
	}
	if v.temp || v.changed || v.final != "" || !at.Elsewhere.Exists {
		return v
	}
	// A length below 0 is a file where we may not look. Otherwise it must be as
	// it was uploaded: after a reformat identities begin anew.
	found := at.Elsewhere.Info
	same := found.Length < 0 || found.Length == a.Length && found.ModTime.Equal(a.ModTime)
	v.moved = !found.Dir && found.Path != a.Temp && same
	v.astray = v.moved && path.Base(found.Path) == path.Base(a.Temp)
	return v
}

// judged does what a verdict asks for.
func (c *commit) judged(ctx context.Context, a journal.Attempt, v verdict) error {
	last := c.p.Finals[len(c.p.Finals)-1]
	switch {
	case v.temp && v.final != "": // a move that is half done is finished where it went
		return c.publishAgain(ctx, a, v.final)
	case v.temp && v.taken:
		return c.nameTaken(ctx, a, last)
	case v.temp:
		return c.publishAgain(ctx, a, last)
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

const lookFirst = "look for it, then run `%s publish` if it isn't there, or `… done`"

// finish journals that the part is published and forgets it. It is repeated
// until it succeeds: later nobody could know, once a consumer has the file.
func (c *commit) finish(ctx context.Context, final, temp string) error {
	p := c.p
	if !c.s.journal.Record(ctx, journal.Finished{Part: p.Number, Final: final, Temp: temp}) {
		return fmt.Errorf("journal that part %d is finished: %w", p.Number, context.Cause(ctx))
	}
	c.s.temps.forget(temp)
	c.s.staging.Remove(p.Staged, p.Length)
	c.s.cfg.Log.Debug("a part is finished", "target", p.Target, "file", final, "records", p.Records, "bytes", p.Length)
	return nil
}
