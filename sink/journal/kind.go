package journal

import (
	"fmt"
	"hash/crc32"
)

// Kind is what a frame says.
type Kind uint8

// Frozen: a kind's number never changes its meaning, nor does a frame's layout:
// what is new gets a new kind. A release that doesn't know a kind refuses the
// journal, unless the kind is skippable.
const (
	KindSnapshot  Kind = 1
	KindChunk     Kind = 2
	KindDecoding  Kind = 3
	KindRolled    Kind = 4
	KindAttempt   Kind = 5
	KindUploaded  Kind = 6
	KindRenaming  Kind = 7
	KindFinished  Kind = 8
	KindAbandoned Kind = 9
	KindVoid      Kind = 10
	KindSeen      Kind = 11
	KindHeld      Kind = 12
	KindResolved  Kind = 13
	KindLost      Kind = 14
)

// skippable reports whether a release that doesn't know the kind may act as if
// the frame weren't there.
func (k Kind) skippable() bool { return k >= 128 }

// unknown reports whether a newer release's frames have the kind.
func (k Kind) unknown() bool { return k > KindLost }

func (k Kind) String() string {
	names := [...]string{"", "snapshot", "chunk", "decoding", "rolled", "attempt", "uploaded",
		"renaming", "finished", "abandoned", "void", "seen", "held", "resolved", "lost"}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return names[k]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is the checksum that the state uses throughout: CRC-32C.
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
