package sequencefile

import "encoding/binary"

// broken is the count of a member that isn't what it should be: no file that
// has one can come to the right count.
const broken = -1 << 48

// countRecords follows the lengths of the records that a member holds.
func countRecords(member []byte) (n int64) {
	const lengths = 4 + 4
	for len(member) > 0 {
		if len(member) < lengths {
			return broken
		}
		size := lengths + int64(binary.BigEndian.Uint32(member))
		if size > int64(len(member)) {
			return broken
		}
		member = member[size:]
		n++
	}
	return n
}

// countBlock is the number of records that a block begins with.
func countBlock(member []byte) int64 {
	n, size := readVInt(member)
	if size == 0 {
		return broken
	}
	return n
}
