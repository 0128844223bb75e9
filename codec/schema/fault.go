package schema

import (
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Fault is why a record has no place under a schema, and where in the record
// that lies. The zero value is none.
type Fault struct {
	// Path leads to the place, its last step first: names, and items and keys
	// in brackets.
	Path   []string
	Reason string
}

// unsound is the reason of a record of which nothing else is known to be wrong.
const unsound = "the record is cut short or nested too deep"

// Reset begins a record.
func (f *Fault) Reset() { f.Path, f.Reason = f.Path[:0], "" }

// Unknown notes a key that a strict schema doesn't name.
func (f *Fault) Unknown(key []byte) {
	text, _ := event.AppendScalar(nil, key)
	f.Path = append(f.Path, strconv.Quote(string(text)))
	f.Reason = "the schema has no such field"
}

// String renders the place and the reason.
func (f *Fault) String() string {
	if f.Reason == "" {
		return unsound
	}
	var b strings.Builder
	b.WriteString("field ")
	for i := len(f.Path) - 1; i >= 0; i-- {
		if i < len(f.Path)-1 && !strings.HasPrefix(f.Path[i], "[") {
			b.WriteByte('.')
		}
		b.WriteString(f.Path[i])
	}
	b.WriteString(": ")
	b.WriteString(f.Reason)
	return b.String()
}
