package memory

import "fmt"

// Shares is memory_limit as it is divided. All in bytes; together they are the
// limit.
//
//	share      of the limit         holds                               why so much
//	Collector  1/8                  what is garbage and not yet         the collector works less the more
//	                                collected                           it may leave; see Runtime too
//	Payloads   1/8                  chunks until they are decoded       a chunk that isn't kept is read
//	                                                                    back, mostly from the page cache
//	Work       1/8, least 6 MiB     jobs: a chunk's bytes, its records  so that each worker has a chunk of
//	                                and their blocks                    Fluent Bit's 2 MB
//	Uploads    2 MiB each           a slice of 1 MiB, and the HDFS      see sink/fs/hdfsfs and localfs
//	                                client's copy of it
//	Parts      the rest             encoders and buffers of parts       compression and row groups are
//	                                that are open or being sealed       the better the more they have
type Shares struct {
	Collector, Payloads, Work, Uploads, Parts int64
}

const (
	leastWork  = 6 << 20
	perUpload  = 2 << 20
	leastParts = 4 << 20
)

// Runtime is what the Go runtime may have beside memory_limit, in bytes: stacks,
// its own tables, what is compiled of patterns and schemas, and room for the
// collector where the limit is small.
const Runtime = 24 << 20

// Split divides a limit among so many uploads at a time and the rest. If it is
// too small, the error says which one would do.
func Split(limit int64, uploads int) (Shares, error) {
	s := split(limit, uploads)
	if s.Parts >= leastParts {
		return s, nil
	}
	enough := limit
	for split(enough, uploads).Parts < leastParts {
		enough += 1e6
	}
	const million = 1e6
	return s, fmt.Errorf("%d uploads, a chunk that is decoded and the parts of it take more; use %dM or more, or fewer uploads",
		uploads, (enough+million-1)/million)
}

func split(limit int64, uploads int) Shares {
	s := Shares{
		Collector: limit / 8, Payloads: limit / 8, Work: max(leastWork, limit/8), Uploads: perUpload * int64(max(1, uploads)),
	}
	s.Parts = limit - s.Collector - s.Payloads - s.Work - s.Uploads
	return s
}

// Open is the share of Parts that parts in progress may hold. The rest is for
// those that wait to be sealed.
func (s Shares) Open() int64 { return s.Parts / 4 * 3 }

// Encoders is the share of Open that the encoders of a format may plan with, the
// rest being for the files' buffers and lists of shares.
func (s Shares) Encoders() int64 { return s.Open() / 4 * 3 }
