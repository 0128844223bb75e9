package journal

import (
	"fmt"

	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// A snapshot's fields are those of log.Version 1, in their order. What came
// later follows in sections, by number:
//
//	section := tag:uvarint length:uvarint bytes[length]
//
// The tag is the section's number times two, plus one if a release that doesn't
// know the section may act as if it weren't there; any other such release
// refuses the journal. A section that would say nothing is left out.

// section is a tag.
type section uint64

// Frozen: a section's number never changes its meaning, nor does its layout.
const (
	sectionDirs   section = 13<<1 | 1 // the directories of the identities
	sectionAbsent section = 14<<1 | 1 // the identities whose files are absent
	sectionLedger section = 20<<1 | 1
)

func (s section) skippable() bool { return s&1 == 1 }

// encodeSections appends the sections.
func (s *state) encodeSections(b []byte) []byte {
	add := func(tag section, payload []byte) {
		b = putString(putUint(b, uint64(tag)), payload)
	}
	if len(s.dirs) > 0 {
		add(sectionDirs, s.encodeDirs(nil))
	}
	if absent := s.encodeAbsent(nil); len(absent) > 0 {
		add(sectionAbsent, absent)
	}
	if s.ledger != (Ledger{}) {
		add(sectionLedger, s.encodeLedger(nil))
	}
	return b
}

// decodeSections decodes what follows the fields of log.Version 1. dirs are the
// identities' directories.
func (s *state) decodeSections(r *reader, dirs []*originDir) error {
	for r.err == nil && len(r.b) > 0 {
		tag := section(r.uint())
		payload := &reader{b: r.bytes()}
		if r.err != nil {
			break
		}
		if err := s.decodeSection(tag, payload, dirs); err != nil {
			return err
		}
	}
	if s.ledger == (Ledger{}) {
		s.beginLedger()
	}
	return r.end()
}

// decodeSection decodes one section. The error is a *log.VersionError if a newer
// release wrote it.
func (s *state) decodeSection(tag section, r *reader, dirs []*originDir) error {
	switch {
	case tag == sectionDirs:
		s.decodeDirs(r, dirs)
		return r.end()
	case tag == sectionAbsent:
		s.decodeAbsent(r)
		return r.end()
	case tag == sectionLedger:
		s.decodeLedger(r)
		return r.end()
	case tag.skippable():
		return nil
	}
	return &log.VersionError{Found: log.Version, Needs: fmt.Sprintf("section %d of a snapshot", tag>>1)}
}
