// Package intern keeps one copy of each bucket path, so that naming a bucket
// seen before allocates nothing.
//
// It promises that its memory is bounded however many different paths come by:
// when it is full it forgets all of them. It must never be relied on for
// identity; equal paths usually, not always, share their memory.
package intern

// Bounds of a Table. Buckets that are open at a time are a few hundred, so a
// working table never gets there; a field with millions of values does.
const (
	MaxStrings = 8192
	MaxBytes   = 1 << 20
)

// Table holds strings. The zero Table is ready. One goroutine uses it at a
// time.
type Table struct {
	strings map[string]string
	bytes   int
}

// Get returns b as a string, the one from before if there was one. It keeps no
// reference to b.
func (t *Table) Get(b []byte) string {
	if s, ok := t.strings[string(b)]; ok {
		return s
	}
	if t.strings == nil || len(t.strings) >= MaxStrings || t.bytes+len(b) > MaxBytes {
		t.strings, t.bytes = make(map[string]string), 0
	}
	s := string(b)
	t.strings[s] = s
	t.bytes += len(s)
	return s
}
