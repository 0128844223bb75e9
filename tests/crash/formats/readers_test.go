package formats

import (
	"bytes"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/tests/crash/ids"
)

// TestTheReadersSeeDamage: they find every record of a whole file in its order,
// and take none that is cut short or has a changed byte for whole.
func TestTheReadersSeeDamage(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			f := newFormat(t, k)
			var out bytes.Buffer
			w, err := f.NewWriter(&out, codec.Meta{WriterID: "w"})
			if err != nil {
				t.Fatal(err)
			}
			var want []uint64
			for i := range 3 {
				data, records := chunkOf(i)
				events, _ := eventtest.Read(data)
				if rejects, err := w.Write(&event.Batch{Tag: "tag", Events: events}); err != nil || len(rejects) > 0 {
					t.Fatalf("%v, error %v", rejects, err)
				}
				want = append(want, records...)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			name, whole := "part"+f.Extension(), out.Bytes()
			if got, err := ids.Of(name, whole); err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, error %v; want %v", got, err, want)
			}
			for cut := 1; cut < 8; cut++ {
				if _, err := ids.Of(name, whole[:len(whole)-cut]); err == nil {
					t.Errorf("a file without its last %d bytes is read", cut)
				}
			}
			if _, err := ids.Of(name, nil); err == nil {
				t.Error("an empty file is read")
			}
			unseen := 0
			for at := 0; at < len(whole); at += 7 {
				changed := bytes.Clone(whole)
				changed[at] ^= 0x10
				if got, err := ids.Of(name, changed); err == nil && slices.Equal(got, want) {
					unseen++ // names, metadata, or a value that isn't an id
				}
			}
			if unseen > len(whole)/7*9/10 {
				t.Errorf("%d of %d changed bytes are unseen", unseen, len(whole)/7)
			}
		})
	}
}
