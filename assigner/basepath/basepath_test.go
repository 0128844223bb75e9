package basepath

import (
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

func TestEveryEventGoesIntoTheBasePath(t *testing.T) {
	for _, tc := range []struct {
		name string
		e    event.Event
		c    assigner.Context
	}{
		{"an event without anything", event.Event{}, assigner.Context{}},
		{"a full event", event.Event{Body: []byte{0x81, 0xa1, 'a', 1}, Time: event.Time{Sec: 1e9, Set: true}},
			assigner.Context{Tag: "../up", Arrival: time.Unix(2e9, 0)}},
		{"a malformed event", event.Event{Malformed: "no map"}, assigner.Context{Tag: "a.b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if bucket, err := (Assigner{}).Bucket(&tc.e, &tc.c); bucket != "" || err != nil {
				t.Errorf("bucket %q, error %v", bucket, err)
			}
		})
	}
}
