package convert

import (
	"strconv"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// Reason says why a value doesn't fit: what it is, its beginning, and what it
// should be.
func Reason(t *schema.Type, raw []byte) string {
	kind := event.KindOf(raw)
	if kind == event.KindInvalid || kind == event.KindNil {
		return "there is no value, and " + article(t.String()) + " is required"
	}
	shown, _ := event.AppendScalar(nil, raw)
	text := ""
	if len(shown) > 0 {
		const most = 40
		if len(shown) > most {
			text = " " + strconv.Quote(string(event.AppendValidUTF8(nil, shown[:most]))) + "…"
		} else {
			text = " " + strconv.Quote(string(shown))
		}
	}
	return article(kind.String()) + text + " doesn't fit " + article(describe(t))
}

func article(noun string) string {
	switch noun[0] {
	case 'a', 'e', 'i', 'o', 'u':
		if noun != "union" && noun != "uuid" && noun != "uint" {
			return "an " + noun
		}
	}
	return "a " + noun
}

// describe names a type, with what makes it narrow.
func describe(t *schema.Type) string {
	switch {
	case t.Logical == schema.Decimal:
		return "decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	case t.Kind == schema.Fixed:
		return "fixed of " + strconv.Itoa(t.Size) + " bytes"
	case t.Kind == schema.Enum:
		return "enum " + t.Name
	}
	return t.String()
}
