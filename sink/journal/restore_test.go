package journal

import "testing"

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
