package walk

import (
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// fault is why a record has no place under a schema, and where in the record
// that lies. The zero value is none.
type fault struct {
	// path leads to the place, its last step first: names, and items and keys
	// in brackets.
	path   []string
	reason string
}

// unsound is the reason of a record of which nothing else is known to be wrong.
const unsound = "the record is cut short or nested too deep"

// reset begins a record.
func (f *fault) reset() { f.path, f.reason = f.path[:0], "" }

// unknown notes a key that a strict schema doesn't name.
func (f *fault) unknown(key []byte) {
	text, _ := event.AppendScalar(nil, key)
	f.path = append(f.path, strconv.Quote(string(text)))
	f.reason = "the schema has no such field"
}

// String renders the place and the reason.
func (f *fault) String() string {
	if f.reason == "" {
		return unsound
	}
	var b strings.Builder
	b.WriteString("field ")
	for i := len(f.path) - 1; i >= 0; i-- {
		if i < len(f.path)-1 && !strings.HasPrefix(f.path[i], "[") {
			b.WriteByte('.')
		}
		b.WriteString(f.path[i])
	}
	b.WriteString(": ")
	b.WriteString(f.reason)
	return b.String()
}
