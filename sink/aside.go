package sink

import (
	"errors"

	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

// PurgeAside removes what damage had set aside, for good: an operator looked at it.
// The staged files of parts that are held for being damaged stay.
func (s *Sink) PurgeAside() error { return PurgeAside(s.journal, s.staging) }

// PurgeAside does so for a journal and its staging area.
func PurgeAside(j *journal.Journal, a *staging.Area) error {
	held := func(n uint64) bool {
		p, ok := j.Part(n)
		return ok && p.Held != ""
	}
	return errors.Join(a.PurgeAside(held), j.PurgeAside())
}
