package journal

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// oneFile is a staged file that says what it is.
type oneFile struct {
	name        string
	description []byte
}

func (f oneFile) List() ([]string, error)                   { return []string{f.name}, nil }
func (f oneFile) Description(string) ([]byte, error)        { return f.description, nil }
func (f oneFile) Holds(string, int64, uint32) (bool, error) { return true, nil }
func (f oneFile) SetAside(string) (string, int64, error)    { return "aside", 1, nil }

// TestAPartIsTakenUpWithWhatBecameOfIt: the frames behind a damaged rolled frame count
// once the part is found again; it is held only if its chunk is gone, too.
func TestAPartIsTakenUpWithWhatBecameOfIt(t *testing.T) {
	for what, alsoTheChunk := range map[string]bool{"its frame": false, "its frame and its chunk": true} {
		t.Run(what, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			seq := accept(t, j, Origin{}, "the chunk")
			loc := j.st.chunks[seq].loc
			f := Rolled{Part: Part{Number: 7, Staged: "staged/7", Records: 3, Length: 3}, Shares: []Share{share(seq, 3, 0, 3)}}
			description := j.Describe(f)
			rolled := j.log.Synced()
			appended(t, j, f)
			if !alsoTheChunk {
				appended(t, j, Attempted{7, "/t"}, Uploaded{7, Attempt{Temp: "/t", ID: "i", Length: 3, ModTime: arrival}}, Renaming{7, "/f", 8})
			}
			appended(t, j, Decoding{})
			appended(t, j, Decoding{})
			closed(t, j)
			if err := d.Damage(log.SegmentName(loc.Segment), func(b []byte) []byte {
				b[rolled+log.FrameHeaderSize+3] ^= 1
				if alsoTheChunk {
					b[loc.Offset+log.FrameHeaderSize+3] ^= 1
				}
				return b
			}); err != nil {
				t.Fatal(err)
			}
			o := options(d)
			o.Staged = oneFile{"staged/7", description}
			j, r := open(t, o)
			p, ok := j.Part(7)
			if !ok || len(r.Damage) == 0 || len(j.Chunks()) > 0 {
				t.Fatalf("%+v, damage %q, %d chunks", p, r.Damage, len(j.Chunks()))
			}
			if _, up := p.Uploaded(); up == alsoTheChunk || len(p.Finals) == 1 == alsoTheChunk || (p.Held != "") != alsoTheChunk {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestADescriptionIsOfItsFileAndState: no other file's, no other state's, and nothing
// that is cut or longer is taken for it.
func TestADescriptionIsOfItsFileAndState(t *testing.T) {
	state := [16]byte{1, 2, 3}
	j := &Journal{queries: queries{st: newState()}}
	j.st.id = state
	f := Rolled{Part: Part{Number: 7, Staged: "staged/7", Bucket: "b", Records: 3}, Shares: []Share{share(1, 3, 0, 3)}}
	d := j.Describe(f)
	if got, ok := describes(d, state, "staged/7"); !ok || string(got.encode(nil)) != string(f.encode(nil)) {
		t.Errorf("it is %+v", got)
	}
	for what, row := range map[string]struct {
		d     []byte
		state [16]byte
		name  string
	}{
		"of another state": {d, [16]byte{1, 2}, "staged/7"},
		"of another file":  {d, state, "staged/77"},
		"cut":              {d[:len(d)-1], state, "staged/7"},
		"longer":           {append(d[:len(d):len(d)], 0), state, "staged/7"},
		"nothing":          {nil, state, "staged/7"},
	} {
		if _, ok := describes(row.d, row.state, row.name); ok {
			t.Errorf("what is %s is taken for it", what)
		}
	}
}
