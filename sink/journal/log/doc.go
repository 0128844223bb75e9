// Package log is an append-only log in segments on a disk that may lose what
// wasn't synced. It knows frames, a kind and some bytes each, and nothing of what
// they mean.
//
// # Promise
//
// What Append answered with nil is durable, and Replay finds it after any crash.
// What it answered with an error ends the segment: Replay finds frames up to
// there, of the failed ones any number from the first, and nothing behind. A
// frame left over from a former use of a file, or from another place, never
// passes for one. What is damaged below what was durable is told apart from the
// tail of an interrupted write, and the frames around it are found.
//
// # Concurrency
//
// One goroutine, the writer, calls Begin, Append, Retire and SetAside. Read, Info, the
// questions about room and PurgeAside are for anybody. A goroutine of the Log makes
// spares; Start starts it, Close stops it and waits for it.
//
// # Segments
//
// The directory journal/ holds segments named by their number in sixteen hex
// digits, and spares: segments to come, whose space is already allocated. A
// spare is made ahead of need, or is a dead segment used again.
//
//	segment := header frame* header
//	header  := magic[8] version:u32 size:u32 segment:u64 state[16] created:i64 salt:u64 previous:u32 crc:u32
//
// All integers are little endian. The header is HeaderSize bytes, its crc is
// the CRC-32C of what stands before it. A header of any version begins with
// magic, version and size, and ends with such a crc. A copy of it ends the
// file. The salt is random and enters every checksum, so neither a frame left
// over from a former use of the file nor anything in a frame's bytes can pass
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
// A segment's first frame is a snapshot of what the user makes of all frames. The
// segment gets its name, and by that becomes valid, only after its snapshot is
// synced; then the directory is synced, and only then is anything appended. previous
// is the CRC-32C of salt, number and offset of where the segment before ended for
// that snapshot, 0 if that isn't known. The segment before is kept until the next
// one is begun: its snapshot and its frames up to there say what a snapshot said
// that can't be read any more. Once
// the name was tried the predecessor takes no more frames, even if that failed: a
// crash might leave the name.
//
// A failed write or fdatasync ends a segment for good: Append fails until Begin
// has begun a new one.
package log
