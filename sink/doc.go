// Package sink turns chunks into finished files, each record exactly once. It
// joins the stages and gives them what they share; what each does is theirs.
//
// # Promise
//
// Every record of a chunk that Flush answered with OK is in exactly one
// finished file, once, after any mix of crashes, failures and redeliveries,
// provided the state directory survives. A finished file never changes and is
// never replaced. A record that can't be encoded or placed goes to the dead
// letters inside the same promise. Where no rule can tell whether a part was
// published, it is held for an operator.
//
// The sink knows formats, assigners, policies and file systems only by their
// interfaces. It never decides anything about a record it hasn't journaled,
// and nothing before the upload waits for the target.
//
// # How it runs
//
//	Flush ─▶ intake ─▶ OK     admission, journal
//	            │ owed        in the chunks' order
//	            ▼
//	         encode           decode, assign, encode
//	            │ jobs        in the same order
//	            ▼
//	         bucket           in-progress parts, rolling, sealing
//	            │ pending parts
//	            ▼
//	         commit           upload, publish
//
// Calls go down. What goes up is what a stage could not do: bucket gives records
// back to intake (Again, Finish). All stages work on the journal, which remembers
// what is owed, and on the staging area.
//
// A record can be lost at a hand-over only, so there are as many places to look
// at as arrows:
//
//   - Flush to intake: the answer is OK only after the journal has the chunk.
//   - intake to encode: a chunk stays in the journal, whoever has it in hand.
//   - encode to bucket: what isn't in a part when a job is finished was given
//     back (chunk.Job.Unapplied).
//   - bucket to commit: the frame that makes a part pending lists its records;
//     until then they are owed, and in-progress parts are dropped at a start.
//   - commit to the target: the frames attempt, uploaded, renaming, finished.
package sink
