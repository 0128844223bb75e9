package json

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// TestRepeatsChangeNothing renders values in which maps come again, among them
// some that differ only at their end, with one Appender and each with a new one.
func TestRepeatsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		metadata := func(i int) eventtest.Map {
			return eventtest.Map{"pod", "checkout-5d9c7b6f4-x2v8q", "namespace", "shop", "n", i,
				"labels", eventtest.Map{"app", "checkout", "pad", strings.Repeat("x", 40), "last", i % 2}}
		}
		pool := rapid.SliceOfN(rapid.IntRange(0, 7), 1, 200).Draw(t, "maps")
		deep := rapid.IntRange(0, event.MaxDepth).Draw(t, "depth")
		var warm Appender
		for k, i := range pool {
			var v any = eventtest.Map{"a", metadata(i), "b", []any{metadata(i), metadata(i + 1)}}
			if k%5 == 0 {
				for range deep {
					v = eventtest.Map{"inner", v}
				}
			}
			raw := eventtest.Pack(v)
			got, err := warm.AppendValue(nil, raw)
			want, wantErr := new(Appender).AppendValue(nil, raw)
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Fatalf("value %d: %s, %v\nand not %s, %v", k, got, err, want, wantErr)
			}
		}
	})
}

// TestRepeatsAreFoundAgain pins that a map which comes again is copied, also
// after a stretch in which nothing repeated.
func TestRepeatsAreFoundAgain(t *testing.T) {
	var a Appender
	render := func(v any) {
		if _, err := a.AppendValue(nil, eventtest.Pack(v)); err != nil {
			t.Fatal(err)
		}
	}
	same := eventtest.Map{"pad", strings.Repeat("x", 100)}
	known := func() bool {
		_, n := a.repeats.find(nil, eventtest.Pack(same), 1)
		return n > 0
	}
	render(eventtest.Map{"m", same})
	if !known() {
		t.Error("a map isn't remembered")
	}
	for i := range maxMisses + 10 {
		render(eventtest.Map{"m", eventtest.Map{"pad", fmt.Sprintf("%100d", i)}})
	}
	if a.repeats.paused == 0 {
		t.Error("remembering isn't given up where nothing repeats")
	}
	for range pause + 10 {
		render(eventtest.Map{"m", same})
	}
	if !known() {
		t.Error("remembering isn't tried again")
	}
}
