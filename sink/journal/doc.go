// Package journal is the sink's write-ahead journal: one append-only log per
// instance and the sole truth about what was accepted, what became of it, and
// what is still owed.
//
// # Promise
//
// What an Append answered with nil is on stable storage and is part of the
// state after any crash. What it answered with an error is void: it is not
// part of the state now, and never will be in this process. A process that
// dies with an append unanswered, or before the next append after an error,
// leaves it whole or not at all. The state changes only by frames that are
// synced, so whoever reads it may act on it.
//
// The journal never interprets a chunk's bytes, never touches a target, and
// never decides what to do about a part: it remembers.
//
// # Concurrency
//
// A Journal is safe for concurrent use. One writer goroutine appends to the log
// and is the only one that changes the state; concurrent appends share its
// fdatasync. It is started by Open and awaited by Close.
//
// # On the log
//
// Segments, frames and their checksums are package log's; its comment has the
// format. A frame here says something of a chunk or a part (Kind), and a
// segment's snapshot is the whole state. What a newer release added, as a kind or as
// a section of the snapshot, says whether this one may do without it; where it may
// not, the journal is refused by name and never taken for damaged. A snapshot is written only after the
// segment before it is synced up to where the snapshot says it counts, so a start
// reads the newest segment alone. If its snapshot can't be read it is made again from
// the segment before. Older segments hold nothing that counts but the
// frames that the state points at: chunks not yet in rolled parts.
//
// A chunk is taken only while there is a spare segment, so that finishing the
// work that was taken has a whole segment of room on a disk that is full.
//
// A failed append begins a new segment, whose snapshot leaves out whatever wasn't
// synced. Each start begins one too, after it had the tail that it found written
// once more and synced.
//
// # Damage
//
// What can't be read may have said anything for which there is room in it: parts and
// chunks that may be published by that are held. A start that finds damage asks the
// staged files which parts they are, and removes none of them. A segment in which
// something is damaged is set aside when nothing in it is live.
//
// # Room
//
// When little in an old segment is still live, its live frames are copied
// forward with their sequence, so a slow bucket pins no more than about four
// times its own.
package journal
