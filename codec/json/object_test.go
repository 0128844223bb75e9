package json

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// One huge record must not cost each encoder its memory for ever.
func TestEncoderGivesBackWhatAHugeMapNeeded(t *testing.T) {
	m := Map{}
	for i := range 2 * keepScratch {
		m = append(m, i, i)
	}
	long := Map{[]any{make([]byte, 2*keepScratch)}, 1}
	enc := NewEncoder(Options{})
	for _, body := range []Map{m, long} {
		if _, reason := enc.AppendLine(nil, &event.Event{Body: Pack(body)}, ""); reason != "" {
			t.Fatal(reason)
		}
		a := &enc.appender
		if cap(a.members) > keepScratch || cap(a.table) > 4*keepScratch || cap(a.keyText) > keepScratch {
			t.Errorf("keeps %d members, %d slots, %d bytes of key", cap(a.members), cap(a.table), cap(a.keyText))
		}
	}
}
