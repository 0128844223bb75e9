package deadletter_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/deadletter"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

var arrival = time.Date(2026, 3, 1, 20, 30, 0, 120_000_000, time.FixedZone("", 8*3600))

func TestLetters(t *testing.T) {
	sound := Pack(Event(At(1767225600, 5), Map{"m", 1}, Map{"a", "中\n", "b", []byte{255}}))
	rows := []struct {
		name   string
		letter deadletter.Letter
		want   string
	}{
		{
			"an event that has no place",
			deadletter.Letter{Reason: `bucket "x"`, Tag: "kube.a", Arrival: arrival, Ordinal: 3, Offset: 99, Time: At(1767225600, 5), Raw: sound},
			`{"reason":"bucket \"x\"","tag":"kube.a","arrival":"2026-03-01T12:30:00.12Z","time":"2026-01-01T00:00:00.000000005Z","ordinal":3,"offset":99,` +
				`"record":{"a":"中\n","b":"data:;base64,/w=="},"raw":"` + base64.StdEncoding.EncodeToString(sound) + `"}`,
		},
		{
			"an object that is no event",
			deadletter.Letter{Reason: "no map", Arrival: arrival, Raw: Pack([]any{1, "x", nil})},
			`{"reason":"no map","tag":"","arrival":"2026-03-01T12:30:00.12Z","time":null,"ordinal":0,"offset":0,"record":[1,"x",null],"raw":"kwGheMA="}`,
		},
		{
			"a single zero byte",
			deadletter.Letter{Arrival: arrival, Raw: []byte{0}},
			`{"reason":"","tag":"","arrival":"2026-03-01T12:30:00.12Z","time":null,"ordinal":0,"offset":0,"record":0,"raw":"AA=="}`,
		},
		{
			"bytes that hold no object",
			deadletter.Letter{Reason: "cut", Arrival: arrival, Raw: []byte{0x92, 0xff}},
			`{"reason":"cut","tag":"","arrival":"2026-03-01T12:30:00.12Z","time":null,"ordinal":0,"offset":0,"record":null,"raw":"kv8="}`,
		},
		{
			"more than one object",
			deadletter.Letter{Reason: "held", Arrival: arrival, Raw: []byte{1, 2}},
			`{"reason":"held","tag":"","arrival":"2026-03-01T12:30:00.12Z","time":null,"ordinal":0,"offset":0,"record":null,"raw":"AQI="}`,
		},
		{
			"no bytes, no time, text that is no UTF-8",
			deadletter.Letter{Reason: "\xff", Tag: "\n\xfe"},
			`{"reason":"` + "\uFFFD" + `","tag":"\n` + "\uFFFD" + `","arrival":"0001-01-01T00:00:00Z","time":null,"ordinal":0,"offset":0,"record":null,"raw":""}`,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := string(deadletter.Append([]byte("x"), row.letter)); got != "x"+row.want+"\n" {
				t.Errorf("got %s\nwant x%s", got, row.want)
			}
		})
	}
}

// checkLetter demands one valid line from which the letter can be had again.
func checkLetter(t *testing.T, l deadletter.Letter) {
	t.Helper()
	line := deadletter.Append(nil, l)
	if bytes.IndexByte(line, '\n') != len(line)-1 || !utf8.Valid(line) {
		t.Fatalf("%.200q isn't one line of UTF-8", line)
	}
	var got struct {
		Reason, Tag *string
		Arrival     *time.Time
		Time        *time.Time
		Ordinal     *uint32
		Offset      *uint32
		Record      json.RawMessage
		Raw         []byte
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%.200q: %v", line, err)
	}
	if !bytes.Equal(got.Raw, l.Raw) || *got.Ordinal != l.Ordinal || *got.Offset != l.Offset || !got.Arrival.Equal(l.Arrival) {
		t.Errorf("%.200q lost something of the letter", line)
	}
	if l.Time.Set != (got.Time != nil) || l.Time.Set && !got.Time.Equal(l.Time.Std()) {
		t.Errorf("time %v, want %v", got.Time, l.Time)
	}
	if *got.Reason != string([]rune(l.Reason)) || *got.Tag != string([]rune(l.Tag)) {
		t.Errorf("reason %q, tag %q", *got.Reason, *got.Tag)
	}
}

func TestWhateverAChunkHoldsBecomesALetter(t *testing.T) {
	chunks := append(HostileChunks(), Hostile{Name: "a huge rest", Chunk: slices.Concat(Pack(Event(At(1, 0), Map{}, Map{})), []byte{0xdb, 0x7f, 0xff, 0xff, 0xff}, bytes.Repeat([]byte("rest\n\x00\xff"), 1<<16))})
	for _, h := range chunks {
		t.Run(h.Name, func(t *testing.T) {
			events, rest := Read(h.Chunk)
			for _, e := range events {
				checkLetter(t, deadletter.FromEvent(e, e.Malformed, "tag", arrival))
			}
			if rest != nil {
				e := &event.Event{Ordinal: rest.Ordinal, Offset: rest.Offset, Raw: rest.Raw, Malformed: rest.Reason}
				checkLetter(t, deadletter.FromEvent(e, rest.Reason, "tag", arrival))
			}
		})
	}
}

func FuzzLetter(f *testing.F) {
	f.Add("reason", "tag", int64(1), uint32(2), Pack(Event(At(1, 0), Map{}, Map{"a", 1})))
	f.Add("\xff", "\n", int64(-1), uint32(0), []byte{0xc1})
	f.Fuzz(func(t *testing.T, reason, tag string, sec int64, n uint32, raw []byte) {
		l := deadletter.Letter{Reason: reason, Tag: tag, Arrival: arrival, Ordinal: n, Offset: n, Raw: raw}
		if events, _ := Read(Pack(Event(sec, Map{}, Map{}))); len(events) == 1 {
			l.Time = events[0].Time
		}
		Bounded(t, len(reason)+len(tag)+len(raw), func() { checkLetter(t, l) })
	})
}

func BenchmarkAppend(b *testing.B) {
	events, _ := Read(Kubernetes(1))
	l := deadletter.FromEvent(events[0], "no such partition", "kube.var.log", arrival)
	var dst []byte
	b.SetBytes(int64(len(l.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		dst = deadletter.Append(dst[:0], l)
	}
}
