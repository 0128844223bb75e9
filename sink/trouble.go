package sink

import (
	"errors"
	"sync"
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

// sharedTrouble is a trouble that several goroutines meet.
type sharedTrouble struct {
	mu      sync.Mutex
	trouble trouble
}

// hit is trouble.hit, and answers how long to wait.
func (t *sharedTrouble) hit(err error, began time.Time) (first bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	first = t.trouble.hit(err, began, now)
	return first, t.trouble.until.Sub(now)
}

func (t *sharedTrouble) heal() (after time.Duration, was bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.trouble.heal(time.Now())
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
		u.bucketHealedLocked(t, p.bucket, now)
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
		u.bucketRefusedLocked(t, p.bucket, err, began, now)
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

// mostTold is how many buckets of a target in trouble are told one by one: what
// is wrong with hundreds, such as the user's name, isn't theirs.
const mostTold = 10

func (u *uploader) bucketRefusedLocked(t *target, bucket string, err error, began, now time.Time) {
	const do = "look at the quota, the permissions and the name; it is tried again by itself"
	b := t.buckets[bucket]
	if b == nil {
		b = &bucketTrouble{}
		t.buckets[bucket] = b
	}
	if !b.hit(err, began, now) {
		return
	}
	switch b.told = len(t.buckets) <= mostTold; {
	case b.told:
		u.s.log.Error("the target refuses a bucket; its parts wait, others go on", "target", t.name, "bucket", bucket,
			"error", err, "do", do)
	case len(t.buckets) == mostTold+1:
		u.s.log.Error("the target refuses many buckets; the others aren't told one by one", "target", t.name, "bucket", bucket,
			"error", err, "do", do+"; `out-hdfs status` lists them all")
	}
}

func (u *uploader) bucketHealedLocked(t *target, bucket string, now time.Time) {
	b := t.buckets[bucket]
	if b == nil {
		return
	}
	delete(t.buckets, bucket)
	if after, _ := b.heal(now); b.told {
		u.s.log.Info("the bucket can be written again", "target", t.name, "bucket", bucket, "after", after)
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
