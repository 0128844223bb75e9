package json_test

import (
	stdjson "encoding/json"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

func TestDatesWithoutQuotesAreThoseOfALine(t *testing.T) {
	for _, name := range json.DateFormats() {
		t.Run(name, func(t *testing.T) {
			f, err := json.ParseDateFormat(name)
			if err != nil {
				t.Fatal(err)
			}
			d := json.NewDates(f)
			for _, at := range []event.Time{At(1527673192, 681000), At(1527673192, 999999999), At(-1, 0), At(0, 0)} {
				line, _ := json.NewEncoder(json.Options{DateKey: "d", DateFormat: f}).AppendLine(nil, &event.Event{Time: at, Body: Pack(Map{})}, "")
				var object map[string]any
				var want string
				if err := stdjson.Unmarshal(line, &object); err != nil {
					t.Fatal(err)
				}
				if text, ok := object["d"].(string); ok {
					want = text
				} else {
					want = string(line[len(`{"d":`) : len(line)-len("}\n")])
				}
				if got, ok := d.AppendText([]byte("x"), at); !ok || string(got) != "x"+want {
					t.Errorf("got %q, a line has %q", got, want)
				}
			}
			if got, ok := d.AppendText([]byte("x"), event.Time{}); ok || string(got) != "x" {
				t.Errorf("no time became %q", got)
			}
		})
	}
}
