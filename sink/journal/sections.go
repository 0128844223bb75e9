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

func (s section) skippable() bool { return s&1 == 1 }

// decodeSections decodes what follows the fields of log.Version 1.
func (s *state) decodeSections(r *reader) error {
	for r.err == nil && len(r.b) > 0 {
		tag := section(r.uint())
		payload := &reader{b: r.bytes()}
		if r.err != nil {
			break
		}
		if err := s.decodeSection(tag, payload); err != nil {
			return err
		}
	}
	return r.end()
}

// decodeSection decodes one section. The error is a *log.VersionError if a newer
// release wrote it.
func (s *state) decodeSection(tag section, _ *reader) error {
	if tag.skippable() {
		return nil
	}
	return &log.VersionError{Found: log.Version, Needs: fmt.Sprintf("section %d of a snapshot", tag>>1)}
}
