package journal

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// TestPublishAgainIsRemembered over any number of starts, for as long as the part
// isn't finished.
func TestPublishAgainIsRemembered(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	for n := range uint64(3) {
		appended(t, j, Rolled{Part: Part{Number: n + 1, Records: 1, Length: 1}}, Held{n + 1, "why"})
	}
	appended(t, j, Resolved{Part: 1, How: PublishAgain}, Resolved{Part: 3, How: PublishAgain})
	for range 3 {
		closed(t, j)
		j, _ = open(t, options(d))
		for n, again := range map[uint64]bool{1: true, 2: false, 3: true} {
			if p, ok := j.Part(n); !ok || p.Again != again || (p.Held == "") != again {
				t.Errorf("part %d: %+v", n, p)
			}
		}
	}
	appended(t, j, Finished{1, "f", ""}, Finished{3, "f", ""})
	if b := j.st.encodeAgain(nil); len(b) > 0 {
		t.Errorf("the section isn't left out: %x", b)
	}
}

// TestGoldenAgain: the bytes of the section never change.
func TestGoldenAgain(t *testing.T) {
	s := newState()
	for _, n := range []uint64{7, 300, 8} {
		Rolled{Part: Part{Number: n}}.apply(s, log.Location{})
	}
	Resolved{Part: 7, How: PublishAgain}.apply(s, log.Location{})
	Resolved{Part: 300, How: PublishAgain}.apply(s, log.Location{})
	if got := hex.EncodeToString(s.encodeAgain(nil)); got != "0207ac02" {
		t.Error(got)
	}
	for n := 1; n < 4; n++ {
		b, _ := hex.DecodeString("0207ac02")
		r := &reader{b: b[:4-n]}
		s.decodeAgain(r)
		if !errors.Is(r.end(), errPayload) {
			t.Errorf("without its last %d bytes it is read", n)
		}
	}
}
