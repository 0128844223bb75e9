package commit

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// A final name has the writer id in it, so whoever took it has the same one. Two
// agents by mistake write other records, and one of them uses another number. A
// file with the very bytes of the part is the part itself: it was published by
// somebody who goes on from a copy of this state, or from this state before it was
// restored to an earlier point. It must not be published once more.

// nameTaken goes on with an uploaded part whose final name another file has.
func (c *commit) nameTaken(ctx context.Context, a journal.Attempt, last string) error {
	if !c.p.Again {
		same, err := c.holdsSame(ctx, last)
		if err != nil {
			return err
		}
		if same {
			return c.holdCopy(ctx, a, last)
		}
	}
	next := c.final(c.nextNumber())
	c.s.cfg.Log.Warn("a final name is taken by another file; a higher number is used",
		"target", c.p.Target, "file", last, "instead", next,
		"do", "give each agent its own writer_id below a path")
	return c.publishAs(ctx, a, next)
}

// holdCopy holds a part that somebody has published already. The temp comes to
// nothing; it is removed once an operator has decided.
func (c *commit) holdCopy(ctx context.Context, a journal.Attempt, last string) error {
	err := c.hold(ctx, fmt.Sprintf("%s has the very content of this part, and wasn't published from this state directory: "+
		"a copy of it is in use, it was restored to an earlier point, or it is new and takes over from one that is lost", last),
		"see that no other agent has a copy of the state directory; then run `%s done`, since its records are there, or `… publish` if they must be there twice")
	if err != nil {
		return err
	}
	// After Held, so that a process which dies between them leaves nothing but a temp.
	return c.record(ctx, journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp},
		journal.Attempted{Part: c.p.Number, Temp: a.Temp})
}

// holdsSame reports whether a file has the part's length and checksum. One that a
// writer still holds isn't compared: a published file is closed.
func (c *commit) holdsSame(ctx context.Context, p string) (bool, error) {
	info, err := c.target.Stat(ctx, p)
	if err != nil {
		return false, err
	}
	if info.Dir || !info.Closed || info.Length != c.p.Length {
		return false, nil
	}
	r, err := c.target.Open(ctx, p)
	if err != nil {
		return false, err
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(sum, io.LimitReader(r, c.p.Length+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return false, unreadable(p, err)
	}
	return n == c.p.Length && sum.Sum32() == c.p.CRC, nil
}

// unreadable classifies what a driver didn't.
func unreadable(p string, err error) error {
	if classified := (*fs.Error)(nil); errors.As(err, &classified) {
		return err
	}
	return &fs.Error{Op: "read", Path: p, Class: fs.Unclear, Err: err}
}

// nextNumber takes a part number for a name in place of one that was taken.
// The first few are consecutive; then each leaves out twice as many as the one
// before, since another agent that got as far may have taken them all.
func (c *commit) nextNumber() uint64 {
	const consecutive, most = 4, 20
	for range 1<<min(max(len(c.p.Finals)-consecutive, 0), most) - 1 {
		c.s.journal.NextPart()
	}
	return c.s.journal.NextPart()
}
