package codectest

import (
	"fmt"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// rowsThatSayNothing: a record of which no chosen column has a value is no row
// but a reject (codec.NoValue), wherever it stands among others; an empty text,
// false and 0 are values.
func rowsThatSayNothing(t *testing.T, h Harness) {
	if h.Choosing == nil {
		return
	}
	rows := []struct {
		record eventtest.Map
		key    string
		row    bool
	}{
		{eventtest.Map{}, "", false},
		{eventtest.Map{Key, "first"}, "first", true},
		{eventtest.Map{"other", "x", "more", eventtest.Map{Key, "not this one"}}, "", false},
		{eventtest.Map{Key, nil}, "", false},
		{eventtest.Map{Key, nil, "other", 1}, "", false},
		{eventtest.Map{Key, "", "other", 1}, "", true},
		{eventtest.Map{Key, "x", Key, nil}, "", false}, // the last one counts
		{eventtest.Map{Key, []byte("last")}, "last", true},
		{eventtest.Map{"Log", "x"}, "", false},
	}
	var s share
	for i, row := range rows {
		s.chunk = eventtest.Append(s.chunk, eventtest.Event(eventtest.At(1767225600+int64(i), 0), eventtest.Map{"severity", i}, row.record))
	}
	s.batch = batchOf(s.chunk)
	for i, row := range rows {
		if row.row {
			s.keys = append(s.keys, row.key)
		} else {
			s.bad = append(s.bad, s.batch.Events[i])
		}
	}
	for _, by := range h.ways() {
		t.Run(fmt.Sprint("by ", by), func(t *testing.T) {
			x := h.begin(t, h.Choosing())
			x.add(s, by)
			x.add(records(0, 3, 0), by)
			x.check()
		})
	}
	rejects, err := h.begin(t, h.Choosing()).w.Write(s.batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rejects {
		if r.Reason != codec.NoValue {
			t.Errorf("event %d: the reason is %q", r.Event.Ordinal, r.Reason)
		}
	}
}
