package bucket

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// InProgress describes a part that isn't pending yet.
type InProgress struct {
	Number  uint64
	Bucket  string
	Bytes   int64
	Records int64
	Since   time.Time // arrival of its oldest record
}

func (p *part) describe() InProgress {
	return InProgress{Number: p.number, Bucket: p.bucket, Bytes: p.size(), Records: p.records, Since: p.first}
}

// InProgress describes the in-progress parts, by bucket. There are none if the
// applier doesn't answer before ctx ends.
func (s *Stage) InProgress(ctx context.Context) []InProgress {
	answer := make(chan []InProgress, 1)
	if !s.ask(ctx, func() {
		out := make([]InProgress, 0, len(s.parts))
		for _, p := range s.parts {
			out = append(out, p.describe())
		}
		answer <- out
	}) {
		return nil
	}
	out := <-answer
	slices.SortFunc(out, func(x, y InProgress) int { return strings.Compare(x.Bucket, y.Bucket) })
	return out
}

// Rolled describes the parts that are being sealed or wait for it, as they were
// when they were rolled, by number.
func (s *Stage) Rolled() []InProgress {
	s.sealer.lock.Lock()
	defer s.sealer.lock.Unlock()
	return slices.SortedFunc(maps.Values(s.sealer.rolled), func(x, y InProgress) int { return cmp.Compare(x.Number, y.Number) })
}
