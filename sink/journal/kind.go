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
	KindSeen      Kind = 11 // not written any more
	KindHeld      Kind = 12
	KindResolved  Kind = 13
	KindLost      Kind = 14
	KindDirectory Kind = 30
)

// names of the kinds that this release knows.
var names = map[Kind]string{
	KindSnapshot: "snapshot", KindChunk: "chunk", KindDecoding: "decoding", KindRolled: "rolled", KindAttempt: "attempt",
	KindUploaded: "uploaded", KindRenaming: "renaming", KindFinished: "finished", KindAbandoned: "abandoned", KindVoid: "void",
	KindSeen: "seen", KindHeld: "held", KindResolved: "resolved", KindLost: "lost", KindDirectory: "directory",
}

// skippable reports whether a release that doesn't know the kind may act as if
// the frame weren't there.
func (k Kind) skippable() bool { return k >= 128 }

// unknown reports whether a newer release's frames have the kind.
func (k Kind) unknown() bool { return names[k] == "" }

func (k Kind) String() string {
	if k.unknown() {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return names[k]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC is the checksum that the state uses throughout: CRC-32C.
func CRC(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
