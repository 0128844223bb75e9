package json

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// TestShapesChangeNothing renders records whose keys come again, come in another
// order, twice, longer, and named as what stands beside them, with one Encoder
// and each with a new one.
func TestShapesChangeNothing(t *testing.T) {
	keys := []any{"log", "stream", "level", "lev", "levels", "date", "tag", "meta", "group", "日志", 1, nil, "", "quote\""}
	key := rapid.SampledFrom(keys)
	value := rapid.SampledFrom([]any{1, "text", nil, eventtest.Map{"a", 1, "a", 2}, []any{1, "x"}})
	all := Options{DateKey: "date", TagKey: "tag", MetadataKey: "meta", GroupKey: "group"}
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SliceOfN(key, 0, 40), 1, 6).Draw(t, "kinds of records")
		options := rapid.SampledFrom([]Options{all, {}, {DateKey: "log"}}).Draw(t, "options")
		warm := NewEncoder(options)
		for range rapid.IntRange(1, 100).Draw(t, "records") {
			kind := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
			m := eventtest.Map{}
			for _, k := range kind {
				m = append(m, k, value.Draw(t, "value"))
			}
			if len(m) > 0 && rapid.IntRange(0, 9).Draw(t, "odd") == 0 { // almost of that kind
				m[2*rapid.IntRange(0, len(kind)-1).Draw(t, "at")] = key.Draw(t, "another key")
			}
			e := &event.Event{Body: eventtest.Pack(m)}
			if rapid.Bool().Draw(t, "metadata") {
				e.Meta = eventtest.Pack(eventtest.Map{"m", 1})
			}
			if rapid.Bool().Draw(t, "group") {
				e.Group = &event.Group{Body: eventtest.Pack(eventtest.Map{"g", 1})}
			}
			got, reason := warm.AppendLine(nil, e, "t")
			want, _ := NewEncoder(options).AppendLine(nil, e, "t")
			if string(got) != string(want) || reason != "" {
				t.Fatalf("%s (%s)\nand not %s", got, reason, want)
			}
		}
	})
}

// TestShapesAreFoundAgain pins that keys which come again are copied, also after
// a stretch in which no record was like another.
func TestShapesAreFoundAgain(t *testing.T) {
	e := NewEncoder(Options{})
	render := func(m eventtest.Map) {
		if _, reason := e.AppendLine(nil, &event.Event{Body: eventtest.Pack(m)}, ""); reason != "" {
			t.Fatal(reason)
		}
	}
	same := eventtest.Map{"log", "x", "level", "info"}
	known := func() bool { return e.shapes.find(eventtest.Pack(same)[1:], 2, 0) != nil }
	render(same)
	if !known() {
		t.Error("a record's keys aren't remembered")
	}
	render(eventtest.Map{"log", "x", "log", "y"})
	for _, s := range e.shapes.kept {
		if len(s.keys) == 2 && string(s.keys[0].raw) == string(s.keys[1].raw) {
			t.Error("a key that came twice is remembered as two")
		}
	}
	for i := range maxMisses + 10 {
		render(eventtest.Map{fmt.Sprint("key ", i), 1})
	}
	if e.shapes.paused == 0 {
		t.Error("remembering isn't given up where nothing comes again")
	}
	for range pause + 10 {
		render(same)
	}
	if !known() {
		t.Error("remembering isn't tried again")
	}
}
