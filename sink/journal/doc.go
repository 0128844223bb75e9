// Package journal is the sink's write-ahead journal: one append-only log per
// instance and the sole truth about what was accepted, what became of it, and
// what is still owed.
//
// # Promise
//
// What an Append answered with nil is on stable storage and is part of the
// state after any crash. What it answered with an error is void: it is not
// part of the state now, and never will be in this process. The state changes
// only by frames that are synced, so whoever reads it may act on it.
//
// The journal never interprets a chunk's bytes, never touches a target, and
// never decides what to do about a part: it remembers.
//
// # Concurrency
//
// A Journal is safe for concurrent use. One writer goroutine owns the segments
// and is the only one that changes the state; concurrent appends share its
// fdatasync. It is started by Open and stopped and awaited by Close.
//
// # Segments
//
// The directory journal/ holds segments named by their number in sixteen hex
// digits, and spares: segments to come, whose space is already allocated. A
// spare is made ahead of need, or is a dead segment used again, so that
// finishing work never needs space that isn't there.
//
//	segment := header frame*
//	header  := magic[8] version:u32 size:u32 segment:u64 state[16] created:i64 zero[12] crc:u32
//
// All integers are little endian. The header is headerSize bytes, its crc is
// the CRC-32C of what stands before it. A frame begins at a multiple of 8:
//
//	frame   := length:u32 crc:u32 synced:u64 kind:u8 zero[7] payload[length] pad
//	crc     := CRC-32C(segment:u64 offset:u64 length:u32 synced:u64 kind:u8 zero[7] payload)
//
// The crc covers the segment's number and the frame's own offset, so that a
// frame left over in a spare, or one that a disk put elsewhere, can't pass.
// synced is the offset up to which the segment was known to be durable when
// the frame was written: a bad frame below the highest synced of the segment
// is damage, one above it is the tail of an interrupted write.
//
// A segment's first frame is a snapshot of the whole state. It gets its name,
// and by that becomes valid, only after its predecessor is synced up to where
// the snapshot says it counts, and its own snapshot is synced; then the
// directory is synced, and only then is anything appended. Recovery reads the
// newest segment alone. Older segments hold nothing that counts but the frames
// that the state points at: chunks not yet in rolled parts, and identities.
//
// A failed write or fdatasync ends a segment for good: the next append begins
// a new one, whose snapshot leaves out whatever wasn't synced.
//
// When little in an old segment is still live, its live frames are copied
// forward with their sequence, so a slow bucket pins no more than its own.
package journal
