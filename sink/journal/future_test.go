package journal

import (
	"errors"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// future is a frame of a release to come.
type future struct{ k Kind }

func (f future) kind() Kind                 { return f.k }
func (f future) encode(b []byte) []byte     { return append(b, "what it says"...) }
func (f future) apply(*state, log.Location) {}

// refused checks that nobody reads the state, that the error names what isn't
// known, and that nothing was changed.
func refused(t *testing.T, d *crashdisk.Disk, names string) {
	t.Helper()
	before := contents(d)
	for what, open := range map[string]func(Options) (*Journal, *Report, error){"Open": Open, "Inspect": Inspect} {
		_, _, err := open(options(d))
		var v *VersionError
		if !errors.As(err, &v) || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), "the release that wrote it") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	if contents(d) != before || d.Handles() != 0 {
		t.Error("the directory was changed, or is kept open")
	}
}

// TestFramesFromTheFuture are refused by name and never taken for damage, unless
// they say that they may be skipped.
func TestFramesFromTheFuture(t *testing.T) {
	for _, k := range []Kind{KindLost + 1, 127, 128, 255} {
		t.Run(k.String(), func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			accept(t, j, Origin{}, "before")
			appended(t, j, future{k})
			accept(t, j, Origin{}, "behind")
			was := describe(j)
			closed(t, j)
			if k < 128 {
				refused(t, d, k.String())
				return
			}
			j, r := open(t, options(d))
			if len(r.Damage) > 0 || describe(j) != was {
				t.Errorf("%v\n%s\nand not\n%s", r.Damage, describe(j), was)
			}
		})
	}
}

// TestSectionsFromTheFuture likewise.
func TestSectionsFromTheFuture(t *testing.T) {
	for tag, skipped := range map[section]bool{1 << 20: false, 1<<20 | 1: true} {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		accept(t, j, Origin{}, "before")
		was := describe(j)
		closed(t, j)
		snapshot := j.st.encodeSnapshot(nil)
		snapshot = putString(putUint(snapshot, uint64(tag)), "what it says")
		l := log.New(log.Options{Disk: d, Log: options(d).Log, SegmentSize: smallSegment})
		if _, _, err := l.List(); err != nil {
			t.Fatal(err)
		}
		if err := l.Begin(j.st.id, &log.Entry{Kind: log.Kind(KindSnapshot), Parts: [][]byte{snapshot}}, 0); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !skipped {
			refused(t, d, "section 524288 of a snapshot")
			continue
		}
		j, r := open(t, options(d))
		if len(r.Damage) > 0 || describe(j) != was {
			t.Errorf("%v\n%s\nand not\n%s", r.Damage, describe(j), was)
		}
	}
}

// TestASectionThatIsCut is damage and nothing newer.
func TestASectionThatIsCut(t *testing.T) {
	snapshot := putString(putUint(goldenState().encodeSnapshot(nil), 1<<20), "what it says")
	for n := 1; n < 14; n++ {
		if _, err := decodeSnapshot(snapshot[:len(snapshot)-n]); !errors.Is(err, errPayload) {
			t.Errorf("without its last %d bytes: %v", n, err)
		}
	}
}
