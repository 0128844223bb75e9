package sink

import (
	"errors"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// trouble is why, and until when, something isn't tried. The zero value is
// none.
type trouble struct {
	backoff
	since time.Time // first failure
	last  time.Time // latest failure
	until time.Time
	why   error
}

// hit notes a failure of what began then, and reports whether it is the first.
// Of several under way at a time only the first counts for the back-off.
func (t *trouble) hit(err error, began, now time.Time) (first bool) {
	first = t.why == nil
	if first {
		t.since = now
	}
	if first || !began.Before(t.last) {
		t.last = now
		t.until = now.Add(t.next())
	}
	t.why = err
	return first
}

// heal ends the trouble, and answers how long it was and whether there was any.
func (t *trouble) heal(now time.Time) (after time.Duration, was bool) {
	after, was = now.Sub(t.since).Round(time.Second), t.why != nil
	*t = trouble{}
	return after, was
}

// judgeLocked is the one place that decides what the outcome of a commit means:
// for the part, its bucket or its target. Each change is told once.
func (u *uploader) judgeLocked(t *target, p *pending, began time.Time, err error) {
	now, log := time.Now(), u.s.log
	var onTarget *fs.Error
	if err == nil || errors.As(err, &onTarget) {
		t.diskTold = false
	}
	switch {
	case err == nil:
		u.healLocked(t, now)
		if b := t.buckets[p.bucket]; b != nil {
			delete(t.buckets, p.bucket)
			after, _ := b.heal(now)
			log.Info("the bucket can be written again", "target", t.name, "bucket", p.bucket, "after", after)
		}
		p.trouble = trouble{}
	case onTarget == nil:
		if p.trouble.hit(err, began, now) && !t.diskTold {
			t.diskTold = true
			log.Error("a part can't be published; it is tried again and others go on", "target", t.name,
				"part", p.number, "state_dir", u.s.cfg.StateDir, "error", err, "do", "check the disk of the state directory")
		}
	case onTarget.Class == fs.Path || onTarget.Class == fs.Unsupported:
		// Unsupported too is of one directory, such as an erasure coded one: what
		// can't be done anywhere fails when the target is opened.
		u.healLocked(t, now) // it answered
		b := t.buckets[p.bucket]
		if b == nil {
			b = &trouble{}
			t.buckets[p.bucket] = b
		}
		if b.hit(err, began, now) {
			log.Error("the target refuses a bucket; its parts wait, others go on", "target", t.name, "bucket", p.bucket,
				"error", err, "do", "look at the quota, the permissions and the name; it is tried again by itself")
		}
	case onTarget.Class != fs.Target && p.trouble.why != nil && t.trouble.why == nil:
		// Others were published since it failed first: it isn't the target.
		p.trouble.hit(err, began, now)
		if p.alone++; p.alone == aloneAfter {
			log.Error("a part can't be published while others can; it is tried again", "target", t.name, "bucket", p.bucket,
				"part", p.number, "error", err, "do", "see what is special about its bucket")
		}
	default:
		if onTarget.Class != fs.Target {
			p.trouble.hit(err, began, now)
		}
		if t.trouble.hit(err, began, now) {
			log.Warn("the target is in trouble; parts wait in the state directory and chunks are still accepted",
				"target", t.name, "error", err, "do", "it is tried again by itself; see that state_limit lasts")
		}
	}
}

// aloneAfter is how often a part fails before that is told, when others don't:
// one bad answer is no news.
const aloneAfter = 3

func (u *uploader) healLocked(t *target, now time.Time) {
	if after, was := t.trouble.heal(now); was {
		u.s.log.Info("the target works again", "target", t.name, "after", after)
	}
}

// hurry lets everything be tried now that is backing off: for the last time
// before a stop, and the target may be back.
func (u *uploader) hurry() {
	u.lock.Lock()
	for _, t := range u.targets {
		t.trouble.until = time.Time{}
		for _, b := range t.buckets {
			b.until = time.Time{}
		}
		for _, p := range t.queue {
			p.trouble.until = time.Time{}
		}
	}
	u.lock.Unlock()
	u.change()
}

// inTrouble reports whether a target is backing off.
func (u *uploader) inTrouble(name string) bool {
	u.lock.Lock()
	defer u.lock.Unlock()
	t := u.targets[name]
	return t != nil && t.trouble.why != nil
}
