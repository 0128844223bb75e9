package parquet

import (
	"errors"
	"io"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// TestRowsAreCountedInThePages: a file doesn't end whose pages don't have the
// rows that it was given, whichever of the two is wrong.
func TestRowsAreCountedInThePages(t *testing.T) {
	chunk := eventtest.Pack(
		eventtest.Event(eventtest.At(1, 0), eventtest.Map{}, eventtest.Map{"a", 1, "list", []any{1, 2, 3}}),
		eventtest.Event(eventtest.At(2, 0), eventtest.Map{}, eventtest.Map{"list", []any{}, "deep", []any{[]any{1}, []any{2, nil}}}),
		eventtest.Event(eventtest.At(3, 0), eventtest.Map{}, eventtest.Map{"a", nil}),
	)
	for _, tc := range []struct {
		name  string
		spoil func(w *writer)
		want  error
	}{
		{"as it should be", func(*writer) {}, nil},
		{"a row too many", func(w *writer) { w.rows++ }, errRows},
		{"a row too few", func(w *writer) { w.rows-- }, errRows},
		{"a column without its last row", func(w *writer) { w.columns[1].entries-- }, errRows},
		{"a list that swallows a row", func(w *writer) { w.columns[len(w.columns)-2].continued++ }, errRows},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := schema.Open(schema.Options{DateKey: "date"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := New(Options{Schemas: s})
			if err != nil {
				t.Fatal(err)
			}
			made, err := f.NewWriter(io.Discard, codec.Meta{})
			if err != nil {
				t.Fatal(err)
			}
			w := made.(*writer)
			events, _ := eventtest.Read(chunk)
			if _, err := w.Write(&event.Batch{Events: events}); err != nil {
				t.Fatal(err)
			}
			tc.spoil(w)
			if err := w.Close(); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if n := w.Records(); tc.want == nil && n != 3 || tc.want != nil && n != 0 {
				t.Errorf("%d records are counted", n)
			}
		})
	}
}
