package commit

import (
	"errors"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
	"github.com/out-hdfs/out_hdfs/sink/retry"
)

// judgeLocked is the one place that decides what the outcome of a try means:
// for the part, its bucket or its target. Each change is told once.
//
//	nil                    target, bucket and part work
//	no error of a target   the local disk hinders this part
//	Path, Unsupported      the target works and refuses the bucket
//	Target                 the target is paused
//	any other              the target is paused, unless others were published
//	                       since this part failed first: then the part alone
func (s *Stage) judgeLocked(t *target, p *queued, began time.Time, err error) {
	now, log := time.Now(), s.cfg.Log
	var onTarget *fs.Error
	if err == nil || errors.As(err, &onTarget) {
		t.diskTold = false
	}
	switch {
	case err == nil:
		s.targetWorksLocked(t, now)
		s.bucketWorksLocked(t, p.bucket, now)
		p.pause = retry.Pause{}
	case onTarget == nil:
		if p.pause.Fail(err, began, now) && !t.diskTold {
			t.diskTold = true
			log.Error("a part can't be published; it is tried again and others go on", "target", t.name,
				"part", p.number, "state_dir", s.cfg.StateDir, "error", err, "do", openfiles.Advice(err, "make room on the disk, or check it"))
		}
	case onTarget.Class == fs.Path || onTarget.Class == fs.Unsupported:
		// A target that can do nothing of what is asked fails when it is opened,
		// so Unsupported is of this directory, such as an erasure coded one.
		s.targetWorksLocked(t, now)
		s.bucketRefusedLocked(t, p.bucket, err, began, now)
	case onTarget.Class != fs.Target && p.pause.Why() != nil && t.pause.Why() == nil:
		p.pause.Fail(err, began, now)
		if p.alone++; p.alone == aloneAfter {
			log.Error("a part can't be published while others can; it is tried again", "target", t.name, "bucket", p.bucket,
				"part", p.number, "error", err, "do", "see what is special about its bucket")
		}
	default:
		if onTarget.Class != fs.Target {
			p.pause.Fail(err, began, now)
		}
		if t.pause.Fail(err, began, now) {
			log.Warn("the target is in trouble; parts wait in the state directory and chunks are still accepted",
				"target", t.name, "error", err, "do", openfiles.Advice(err, "it is tried again by itself; see that state_limit lasts"))
		}
	}
}

// aloneAfter is how often a part fails while others are published before that is
// told: one bad answer is no news.
const aloneAfter = 3

func (s *Stage) targetWorksLocked(t *target, now time.Time) {
	if after, was := t.pause.End(now); was {
		s.cfg.Log.Info("the target works again", "target", t.name, "after", after)
	}
}

// mostTold is how many refused buckets of a target are told one by one. What is
// wrong with hundreds of them, such as the user's name, isn't a bucket's.
const mostTold = 10

func (s *Stage) bucketRefusedLocked(t *target, bucket string, err error, began, now time.Time) {
	const do = "look at the quota, the permissions and the name; it is tried again by itself"
	b := t.buckets[bucket]
	if b == nil {
		b = &bucketPause{}
		t.buckets[bucket] = b
	}
	if !b.Fail(err, began, now) {
		return
	}
	switch b.told = len(t.buckets) <= mostTold; {
	case b.told:
		s.cfg.Log.Error("the target refuses a bucket; its parts wait, others go on", "target", t.name, "bucket", bucket,
			"error", err, "do", do)
	case len(t.buckets) == mostTold+1:
		s.cfg.Log.Error("the target refuses many buckets; the others aren't told one by one", "target", t.name, "bucket", bucket,
			"error", err, "do", do+"; `out-hdfs status` lists them all")
	}
}

func (s *Stage) bucketWorksLocked(t *target, bucket string, now time.Time) {
	b := t.buckets[bucket]
	if b == nil {
		return
	}
	delete(t.buckets, bucket)
	if after, _ := b.End(now); b.told {
		s.cfg.Log.Info("the bucket can be written again", "target", t.name, "bucket", bucket, "after", after)
	}
}
