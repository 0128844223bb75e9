package convert

import (
	"bytes"
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
	if unit := beyond(t, raw, kind); unit != "" {
		return string(shown) + " " + unit + outOfRange(t)
	}
	return article(kind.String()) + text + " doesn't fit " + article(describe(t))
}

// beyond is what a number counts that is no date or time since it is out of
// range, "" for any other value.
func beyond(t *schema.Type, raw []byte, kind event.Kind) (unit string) {
	if t.Logical.Unit() == 0 {
		return ""
	}
	text, isText := event.String(raw)
	switch {
	case kind == event.KindInt || kind == event.KindUint, isText && digitsOnly(text):
		return t.Logical.UnitName()
	case kind == event.KindFloat32 || kind == event.KindFloat64:
		return "seconds"
	}
	return ""
}

func digitsOnly(s []byte) bool {
	for _, c := range bytes.TrimPrefix(s, []byte("-")) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}

func outOfRange(t *schema.Type) string {
	if t.Logical == schema.TimeMillis || t.Logical == schema.TimeMicros {
		return " is no time of day below 24 hours for " + article(t.String())
	}
	return " is outside the years 1 to 9999 of " + article(t.String())
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
