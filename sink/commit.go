package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
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
	target, err := s.upload.open(ctx, s, p.Target)
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
	fs fs.FileSystem
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

// append journals a step. ErrClosed and failures of the disk stop the commit
// before the step is taken.
func (c *committer) append(f journal.Frame) error {
	if err := c.s.journal.Append(f); err != nil {
		return fmt.Errorf("journal part %d: %w", c.p.Number, err)
	}
	c.p, _ = c.s.journal.Part(c.p.Number)
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
		if err := c.s.removeTemp(ctx, c.fs, journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}); err != nil {
			return err
		}
	}
	c.p, _ = c.s.journal.Part(c.p.Number)
	return nil
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
		var bad *stagedError
		if errors.As(err, &bad) {
			return nil, c.hold(bad.Error() + "; it was set aside")
		}
		return nil, err
	}
	defer src.Close()
	temp := c.temp()
	if err := c.append(journal.Attempted{Part: c.p.Number, Temp: temp}); err != nil {
		return nil, err
	}
	info, err := c.put(ctx, src, temp)
	if err != nil {
		return nil, err
	}
	done := journal.Attempt{Temp: temp, State: journal.AttemptUploaded, ID: string(info.ID), Length: info.Length, ModTime: info.ModTime}
	if err := c.append(journal.Uploaded{Part: c.p.Number, Attempt: done}); err != nil {
		return nil, err
	}
	return &done, nil
}

// put uploads the staged file and checks what arrived.
func (c *committer) put(ctx context.Context, src *stagedSource, temp string) (fs.Info, error) {
	info, err := c.fs.Put(ctx, src, temp, fs.PutOptions{
		FileMode: c.p.FileMode, DirMode: c.p.DirMode, Replication: c.p.Replication, BlockSize: c.p.BlockSize,
	})
	if err != nil {
		c.s.noteAttempt(temp, fs.ClassOf(err))
		return fs.Info{}, err
	}
	c.s.noteAttempt(temp, fs.Unclear)
	now, err := c.fs.Stat(ctx, temp)
	if err != nil {
		return fs.Info{}, err
	}
	if !now.Same(info) || now.Length != c.p.Length || !now.Closed {
		return fs.Info{}, &fs.Error{Op: "upload", Path: temp, Class: fs.Unclear,
			Err: fmt.Errorf("%w: %d of %d bytes, closed %v", errNotWhole, now.Length, c.p.Length, now.Closed)}
	}
	return now, nil
}

var errNotWhole = errors.New("the uploaded file isn't what was sent")

// rename publishes the uploaded temp under a final name, if it still is the
// file that was uploaded.
func (c *committer) rename(ctx context.Context, a journal.Attempt, final string) error {
	now, err := c.fs.Stat(ctx, a.Temp)
	if err != nil && fs.ClassOf(err) != fs.Missing {
		return err
	}
	if err != nil || !now.Same(infoOf(a)) {
		// Nothing was renamed yet: whatever happened to the temp, the staged
		// file is uploaded again.
		return c.abandon(ctx, a, err == nil)
	}
	return c.renameTo(ctx, a, final)
}

// abandon gives an uploaded attempt up. A temp that is no longer ours isn't
// touched.
func (c *committer) abandon(ctx context.Context, a journal.Attempt, replaced bool) error {
	why := "it is gone"
	if replaced {
		why = "it was changed or replaced"
	}
	c.s.log.Warn("an uploaded temp file was tampered with and is uploaded again",
		"target", c.p.Target, "file", a.Temp, "what", why)
	if err := c.append(journal.Abandoned{Target: c.p.Target, Part: c.p.Number, Temp: a.Temp}); err != nil {
		return err
	}
	return c.s.commit(ctx, c.p.Number)
}

// renameTo journals the final name and renames.
func (c *committer) renameTo(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.append(journal.Renaming{Part: c.p.Number, Final: final, Next: c.s.journal.NextNumber()}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.fs.Rename(ctx, a.Temp, final, fs.PutOptions{DirMode: c.p.DirMode}); err != nil {
		if cls := fs.ClassOf(err); cls == fs.Exists || cls == fs.Missing || cls == fs.Unclear {
			// Even a refusal proves nothing here: it may be the answer to the
			// second of two tries of which the first took effect.
			return c.decide(ctx)
		}
		return err
	}
	return c.finish(final, a.Temp)
}

// verdict is where an uploaded file is, after a rename may have happened.
type verdict struct {
	temp  bool   // still under its temp name
	final string // under this final name
	moved bool   // somewhere else
	taken bool   // the last final name is taken by something else
}

// look finds the uploaded file. Its answer holds only inside Settle.
func (c *committer) look(ctx context.Context, v fs.Viewer, a journal.Attempt) (out verdict, err error) {
	at := func(p string) (mine, any bool, err error) {
		info, err := v.Stat(ctx, p)
		if err == nil {
			return info.Same(infoOf(a)), true, nil
		}
		if fs.ClassOf(err) == fs.Missing {
			return false, false, nil
		}
		return false, false, err
	}
	if out.temp, _, err = at(a.Temp); err != nil {
		return verdict{}, err
	}
	for _, final := range c.p.Finals {
		mine, taken, err := at(final)
		if err != nil {
			return verdict{}, err
		}
		if mine && !out.temp {
			return verdict{final: final}, nil
		}
		out.taken = taken && !mine
	}
	if out.temp || a.ID == "" {
		return out, nil
	}
	info, err := v.Find(ctx, fs.FileID(a.ID))
	if err == nil {
		return verdict{moved: !info.Dir}, nil
	}
	if cls := fs.ClassOf(err); cls != fs.Missing && cls != fs.Unsupported {
		return verdict{}, err
	}
	return out, nil
}

// decide finds out what became of a rename that may have happened.
func (c *committer) decide(ctx context.Context) error {
	i := slices.IndexFunc(c.p.Attempts, func(a journal.Attempt) bool { return a.State == journal.AttemptUploaded })
	if i < 0 {
		return c.hold("the journal doesn't say which file was being renamed")
	}
	a := c.p.Attempts[i]
	var v verdict
	err := c.fs.Settle(ctx, c.dir(), func(ctx context.Context, view fs.Viewer) (err error) {
		v, err = c.look(ctx, view, a)
		return err
	})
	if err != nil {
		return err
	}
	last := c.p.Finals[len(c.p.Finals)-1]
	switch {
	case v.temp && v.taken:
		taken := last
		last = c.final(c.s.journal.NextPart())
		c.s.log.Warn("a final name is taken by another file; the next number is used",
			"target", c.p.Target, "file", taken, "instead", last,
			"do", "give each agent its own writer_id below a path")
		return c.renameTo(ctx, a, last)
	case v.temp:
		return c.renameAgain(ctx, a, last)
	case v.final != "":
		return c.finish(v.final, a.Temp)
	case v.moved:
		return c.finish(last, a.Temp)
	}
	return c.hold(fmt.Sprintf("the file was uploaded as %s and a rename to %s may have happened, but it is at neither place: "+
		"a consumer moved or deleted it, or it was never published", a.Temp, last))
}

// renameAgain repeats a rename whose file is still under its temp name. The
// final name is in the journal already.
func (c *committer) renameAgain(ctx context.Context, a journal.Attempt, final string) error {
	if err := c.fs.Rename(ctx, a.Temp, final, fs.PutOptions{DirMode: c.p.DirMode}); err != nil {
		return err // the next try decides again
	}
	return c.finish(final, a.Temp)
}

// finish journals that the part is published and forgets it.
func (c *committer) finish(final, temp string) error {
	p := c.p
	if err := c.append(journal.Finished{Part: p.Number, Final: final, Temp: temp}); err != nil {
		return err
	}
	c.s.removeStaged(p.Staged, p.Length)
	c.s.log.Debug("a part is finished", "target", p.Target, "file", final, "records", p.Records, "bytes", p.Length)
	return nil
}

// hold ends the commit until an operator decides.
func (c *committer) hold(why string) error {
	if err := c.append(journal.Held{Part: c.p.Number, Why: why}); err != nil {
		return err
	}
	c.s.log.Error("a part is held: no rule can tell whether it was published", "target", c.p.Target,
		"part", c.p.Number, "bucket", c.p.Bucket, "records", c.p.Records, "why", why, "do",
		fmt.Sprintf("look for it, then run `out-hdfs resolve --state-dir %s part %d publish` or `… done`", c.s.cfg.StateDir, c.p.Number))
	return nil
}

// stagedError says that a staged file isn't what was journaled.
type stagedError struct{ err error }

func (e *stagedError) Error() string { return e.err.Error() }
func (e *stagedError) Unwrap() error { return e.err }

// stagedSource is a staged file to be uploaded.
type stagedSource struct {
	disk.File
	size int64
}

// Size implements fs.Source.
func (s *stagedSource) Size() int64 { return s.size }

// OSFile lets a driver have the kernel copy; nil if there is no such file.
func (s *stagedSource) OSFile() *os.File {
	if f, ok := s.File.(interface{ OSFile() *os.File }); ok {
		return f.OSFile()
	}
	return nil
}

// asideDir receives staged files that aren't what was journaled.
const asideDir = "aside"

// openStaged opens a part's staged file after checking every byte of it. A
// wrong one is set aside.
func (s *Sink) openStaged(p journal.Part) (*stagedSource, error) {
	f, err := s.cfg.Disk.Open(p.Staged)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, &stagedError{fmt.Errorf("the staged file is missing: %w", err)}
		}
		return nil, fmt.Errorf("open staged file: %w", err)
	}
	sum, n, err := checksum(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read staged file %s: %w", p.Staged, err), f.Close())
	}
	if n != p.Length || sum != p.CRC {
		_ = f.Close()
		aside := fmt.Sprintf("%s/%d", asideDir, p.Number)
		if err := errors.Join(s.cfg.Disk.Mkdir(asideDir), s.cfg.Disk.Rename(p.Staged, aside)); err != nil {
			return nil, fmt.Errorf("set a damaged staged file aside: %w", err)
		}
		return nil, &stagedError{fmt.Errorf("the staged file %s/%s is damaged: %d of %d bytes, checksum %08x and not %08x",
			s.cfg.StateDir, aside, n, p.Length, sum, p.CRC)}
	}
	return &stagedSource{f, p.Length}, nil
}

func checksum(f disk.File) (sum uint32, n int64, err error) {
	buf := make([]byte, 256<<10)
	for {
		k, err := f.ReadAt(buf, n)
		sum = crc32.Update(sum, castagnoli, buf[:k])
		n += int64(k)
		if errors.Is(err, io.EOF) {
			return sum, n, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// lateEffect is how long a temp that was missing after an unclear answer may
// still appear: a create that a cut connection left in the target's queue.
const lateEffect = time.Minute
