package convert

import (
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// pairSize is that of a Pair in memory, in bytes.
const pairSize = 48

// Pair is one entry of a map whose keys are text.
type Pair struct {
	Key   []byte // valid UTF-8; a key that isn't text is the text of its JSON
	Value []byte // raw msgpack
}

// Pairs returns the entries of the map raw, each key once: of one that comes
// twice the last value counts, since readers fail on it or pick one. They live
// until ReleasePairs of the base that came with them; maps within may be
// opened and released meanwhile.
func (c *Converter) Pairs(raw []byte) (pairs []Pair, base int) {
	base = len(c.pairs)
	f := event.FieldsOf(raw)
	var seen map[string]int
	const few = 16
	if f.Left() > few && f.Left() <= len(raw) {
		seen = make(map[string]int, f.Left())
	}
	for f.Next() {
		key := c.keyText(f.Key)
		at := -1
		if seen != nil {
			if i, ok := seen[string(key)]; ok {
				at = i
			} else {
				seen[string(key)] = len(c.pairs)
			}
		} else {
			for i := base; i < len(c.pairs); i++ {
				if string(c.pairs[i].Key) == string(key) {
					at = i
					break
				}
			}
		}
		if at >= 0 {
			c.pairs[at].Value = f.Value
			continue
		}
		c.pairs = append(c.pairs, Pair{key, f.Value})
	}
	return c.pairs[base:len(c.pairs):len(c.pairs)], base
}

// ReleasePairs ends the use of what Pairs returned.
func (c *Converter) ReleasePairs(base int) {
	clear(c.pairs[base:])
	c.pairs = c.pairs[:base]
}

func (c *Converter) keyText(raw []byte) []byte {
	if key, ok := event.Text(raw); ok && utf8.Valid(key) {
		return key
	}
	from := len(c.arena)
	c.arena = schema.AppendKey(c.arena, raw, &c.json)
	return c.arena[from:len(c.arena):len(c.arena)]
}
