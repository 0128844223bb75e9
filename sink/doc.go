// Package sink turns chunks into finished files, each record exactly once. It
// owns buckets, parts, the checkpoint, the commit of parts and recovery.
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
//	Flush ─▶ journal ─▶ OK
//	             └▶ dispatcher ─▶ workers ─▶ applier ─▶ sealer ─▶ uploader
//	                (order)      (encode)   (buckets)   (sync,   (commit)
//	                                                    rolled)
//
// Each arrow is bounded: the queue before the dispatcher holds references, and
// payloads only while memory_limit allows.
//
//   - The dispatcher takes chunks in their order, journals which are about to be
//     decoded, and hands them out.
//   - Workers decode a chunk, ask the assigner, and encode each bucket's share
//     where the format allows that ahead of the file.
//   - The applier alone owns the buckets and their in-progress parts. It appends
//     the shares in the chunks' order and rolls parts.
//   - Sealers sync a rolled part's staged file, then journal it with its shares:
//     from then on it is pending, and its records are taken care of.
//   - Uploaders take pending parts to the target and publish them.
//
// A record is owed as long as no journaled rolled part holds it: after a crash
// in-progress parts are dropped and their records decoded again, under the
// configuration of the day.
package sink
