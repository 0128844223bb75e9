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
// A Journal is safe for concurrent use. One writer goroutine owns the segments
// and is the only one that changes the state; concurrent appends share its
// fdatasync. Another makes spares. Both are started by Open and awaited by
// Close.
//
// # Segments
//
// The directory journal/ holds segments named by their number in sixteen hex
// digits, and spares: segments to come, whose space is already allocated. A
// spare is made ahead of need, or is a dead segment used again. A chunk is
// taken only while there is one, so that finishing the work that was taken has
// a whole segment of room on a disk that is full.
//
//	segment := header frame* header
//	header  := magic[8] version:u32 size:u32 segment:u64 state[16] created:i64 salt:u64 zero[4] crc:u32
//
// All integers are little endian. The header is headerSize bytes, its crc is
// the CRC-32C of what stands before it. A header of any version begins with
// magic, version and size, and ends with such a crc. A copy of it ends the
// file. The salt is random and enters every checksum, so neither a frame left
// over from a former use of the file nor anything in a chunk's bytes can pass
// for a frame. A frame begins at a multiple of 8:
//
//	frame   := length:u32 kind:u8 zero[3] synced:u64 body:u32 head:u32 payload[length] pad
//	body    := CRC-32C(salt:u64 segment:u64 offset:u64 payload)
//	head    := CRC-32C(salt:u64 segment:u64 offset:u64, the header up to here)
//
// A header can be checked without its payload: that keeps a search for the
// next frame linear, whatever the bytes in between. synced is the offset up to
// which the segment was known to be durable when the frame was written. A bad
// frame below the highest synced of the segment is damage: it is reported, and
// the frames around it count. One above it is the tail of an interrupted
// write: the frames before it count, the rest is cut.
//
// A segment's first frame is a snapshot of the whole state. It gets its name,
// and by that becomes valid, only after its predecessor is synced up to where
// the snapshot says it counts, and its own snapshot is synced; then the
// directory is synced, and only then is anything appended. Once the name was
// tried the predecessor takes no more frames, even if that failed: a crash
// might leave the name. Recovery reads the newest segment alone. Older
// segments hold nothing that counts but the frames that the state points at:
// chunks not yet in rolled parts, and identities.
//
// A failed write or fdatasync ends a segment for good: the next append begins
// a new one, whose snapshot leaves out whatever wasn't synced. Each start
// begins one too, after it wrote the tail it found once more and synced it: a
// killed process leaves frames that can be read and aren't durable, and after
// a failed fdatasync the kernel takes such pages for clean.
//
// When little in an old segment is still live, its live frames are copied
// forward with their sequence, so a slow bucket pins no more than about four
// times its own.
package journal
