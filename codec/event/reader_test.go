package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

var good = Event(At(1767225600, 5), Map{}, Map{"id", 1})

func TestReaderYieldsEventsAndWhatIsNone(t *testing.T) {
	rows := []struct {
		name  string
		chunk []byte
		want  []string // see describe
	}{
		{"nothing", nil, nil},
		{"an event", Pack(good), []string{"0 event"}},
		{"an event without metadata", Pack(Legacy(5, Map{})), []string{"0 event"}},
		{"metadata that is nil", Pack(Event(At(1, 0), nil, Map{})), []string{"0 event"}},
		{"long headers", Pack(Wide{Value: []any{Wide{Value: []any{At(1, 0), Wide{Value: Map{}}}}, Wide{Value: Map{"a", 1}}}}), []string{"0 event"}},
		{"an object of another kind between", Pack(good, "x", good), []string{"0 event", "1 malformed", "2 event"}},
		{"a zero byte between", slices.Concat(Pack(good), []byte{0}, Pack(good)), []string{"0 event", "1 malformed", "2 event"}},
		{"a tail of zero bytes", append(Pack(good), make([]byte, 9)...), []string{"0 event"}},
		{"nothing but zero bytes", make([]byte, 9), nil},
		{"a group", Pack(GroupHeader(Map{"schema", "otlp"}, Map{"resource", 1}), good, good, GroupFooter(), good),
			[]string{"1 event in a group", "2 event in a group", "4 event"}},
		{"a group marker without metadata", Pack(Legacy(EventTime(0xffffffff, 0), Map{"r", 1}), good), []string{"1 event in a group"}},
		{"a group in a group", Pack(GroupHeader(Map{}, Map{"r", 1}), GroupHeader(Map{}, Map{"r", 2}), good), []string{"2 event in a group"}},
		{"a footer alone", Pack(GroupFooter(), good), []string{"1 event"}},
		{"a header without a map", Pack(GroupHeader(Map{}, 1), good), []string{"0 malformed", "1 event"}},
		{"a marker's second with nanoseconds", Pack(Event(EventTime(0xfffffffe, 7), Map{}, Map{}), good), []string{"0 malformed", "1 event"}},
		{"a second beside the markers'", Pack(Event(EventTime(0xfffffffd, 0), Map{}, Map{})), []string{"0 event"}},
		{"time of a wrong type", Pack(Event("now", Map{}, Map{}), good), []string{"0 malformed", "1 event"}},
		{"time of a wrong ext type", Pack(Event(Ext{Type: 1, Data: make([]byte, 8)}, Map{}, Map{}), good), []string{"0 malformed", "1 event"}},
		{"EventTime of a wrong length", Pack(Event(Ext{Type: 0, Data: make([]byte, 4)}, Map{}, Map{}), good), []string{"0 malformed", "1 event"}},
		{"metadata of a wrong type", Pack(Event(At(1, 0), 1, Map{}), good), []string{"0 malformed", "1 event"}},
		{"record of a wrong type", Pack(Event(At(1, 0), Map{}, []any{}), good), []string{"0 malformed", "1 event"}},
		{"header of three", Pack([]any{[]any{1, Map{}, 1}, Map{}}, good), []string{"0 malformed", "1 event"}},
		{"array of three", Pack([]any{1, Map{}, Map{}}, good), []string{"0 malformed", "1 event"}},
		{"empty array and map", Pack([]any{}, Map{}, good), []string{"0 malformed", "1 malformed", "2 event"}},
		{"as deep as allowed", Pack(Event(At(1, 0), Map{}, Map{"v", nested(event.MaxDepth - 2)}), good), []string{"0 event", "1 event"}},
		{"too deep", Pack(Event(At(1, 0), Map{}, Map{"v", nested(event.MaxDepth - 1)}), good), []string{"0 malformed", "1 event"}},
		{"metadata as deep as allowed", Pack(Event(At(1, 0), Map{"v", nested(event.MaxDepth - 3)}, Map{}), good), []string{"0 event", "1 event"}},
		{"metadata too deep", Pack(Event(At(1, 0), Map{"v", nested(event.MaxDepth - 2)}, Map{}), good), []string{"0 malformed", "1 event"}},
		{"wide but not deep", Pack(Event(At(1, 0), Map{}, Map{"v", slices.Repeat([]any{Map{}}, 1000)}), good), []string{"0 event", "1 event"}},
		{"cut", Pack(good, good)[:len(Pack(good))+9], []string{"0 event", "1 rest"}},
		{"cut, then zero bytes", append(Pack(good, good)[:len(Pack(good))+9], make([]byte, 3)...), []string{"0 event", "1 rest"}},
		{"a byte that begins nothing", append(Pack(good), 0xc1), []string{"0 event", "1 rest"}},
		{"a byte that begins nothing, within", Pack(good, Event(At(1, 0), Map{}, Map{"v", Raw{0xc1}}), good), []string{"0 event", "1 rest"}},
		{"a length beyond the end", append(Pack(good), 0xdf, 0xff, 0xff, 0xff, 0xff), []string{"0 event", "1 rest"}},
		{"the rest of a group", append(Pack(GroupHeader(Map{}, Map{})), 0xc1), []string{"1 rest"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := describe(row.chunk); !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func nested(depth int) any {
	var v any = 1
	for i := range depth {
		if i%2 == 0 {
			v = []any{v}
		} else {
			v = Map{"k", v}
		}
	}
	return v
}

func describe(chunk []byte) (lines []string) {
	events, rest := Read(chunk)
	for _, e := range events {
		s := fmt.Sprint(e.Ordinal, " event")
		if e.Malformed != "" {
			s = fmt.Sprint(e.Ordinal, " malformed")
		}
		if e.Group != nil {
			s += " in a group"
		}
		lines = append(lines, s)
	}
	if rest != nil {
		lines = append(lines, fmt.Sprint(rest.Ordinal, " rest"))
	}
	return lines
}

func TestEventHoldsItsBytes(t *testing.T) {
	meta, body := Map{"m", 1}, Map{"b", "text"}
	group := GroupHeader(Map{"schema", "otlp"}, Map{"resource", Map{}})
	lead := Pack(group)
	chunk := append(bytes.Clone(lead), Pack(Event(At(7, 8), meta, body), "none")...)
	events, rest := Read(chunk)
	if len(events) != 2 || rest != nil {
		t.Fatalf("%d events, rest %v", len(events), rest)
	}
	e := events[0]
	if e.Offset != uint32(len(lead)) || e.Ordinal != 1 || e.Time != At(7, 8) {
		t.Errorf("offset %d, ordinal %d, time %v", e.Offset, e.Ordinal, e.Time)
	}
	if !bytes.Equal(e.Raw, Pack(Event(At(7, 8), meta, body))) || !bytes.Equal(e.Meta, Pack(meta)) || !bytes.Equal(e.Body, Pack(body)) {
		t.Errorf("raw %x, metadata %x, body %x", e.Raw, e.Meta, e.Body)
	}
	if e.Group == nil || !bytes.Equal(e.Group.Meta, Pack(Map{"schema", "otlp"})) || !bytes.Equal(e.Group.Body, Pack(Map{"resource", Map{}})) {
		t.Errorf("group %v", e.Group)
	}
	if n := events[1]; n.Body != nil || n.Meta != nil || n.Malformed == "" || !bytes.Equal(n.Raw, Pack("none")) {
		t.Errorf("malformed object came as %+v", n)
	}
}

func TestReaderStartsAfreshWithEachChunk(t *testing.T) {
	var r event.Reader
	var e event.Event
	r.Reset(append(Pack(GroupHeader(Map{}, Map{}), good), 0xc1))
	for r.Next(&e) {
	}
	if _, ok := r.Rest(); !ok {
		t.Fatal("the first chunk has a rest")
	}
	if r.Next(&e) {
		t.Error("an event came after the end")
	}
	r.Reset(append(Pack(good), 0))
	if !r.Next(&e) || e.Ordinal != 0 || e.Group != nil {
		t.Errorf("first event of the second chunk is %+v", e)
	}
	if r.Next(&e) {
		t.Error("an event came out of the zero tail")
	}
	if rest, ok := r.Rest(); ok {
		t.Errorf("the second chunk has the rest %+v", rest)
	}
}

// checkAgainstDecoder demands that the Reader's answer for any bytes is the
// one that the plain decoder's reading of them implies.
func checkAgainstDecoder(chunk []byte) error {
	events, rest := Read(chunk)
	at, ordinal := 0, uint32(0)
	for at < len(chunk) {
		if len(bytes.Trim(chunk[at:], "\x00")) == 0 {
			break
		}
		v, n, depth, err := Decode(chunk[at:])
		if err != nil {
			switch {
			case len(events) != 0:
				return fmt.Errorf("event %d after the rest at %d", events[0].Ordinal, at)
			case rest == nil || rest.Ordinal != ordinal || rest.Offset != uint32(at) || !bytes.Equal(rest.Raw, chunk[at:]) || rest.Reason == "":
				return fmt.Errorf("rest %+v instead of object %d at %d", rest, ordinal, at)
			}
			return nil
		}
		if !isMarker(v) || depth > event.MaxDepth {
			if len(events) == 0 {
				return fmt.Errorf("object %d at %d is missing", ordinal, at)
			}
			e := events[0]
			events = events[1:]
			if e.Ordinal != ordinal || e.Offset != uint32(at) || !bytes.Equal(e.Raw, chunk[at:at+n]) {
				return fmt.Errorf("object %d at %d of %d bytes came as ordinal %d at %d of %d", ordinal, at, n, e.Ordinal, e.Offset, len(e.Raw))
			}
			if sound := isEvent(v) && depth <= event.MaxDepth; sound != (e.Malformed == "") || sound != (e.Body != nil) {
				return fmt.Errorf("object %d is sound: %v, but came as %q", ordinal, sound, e.Malformed)
			}
		}
		at += n
		ordinal++
	}
	if len(events) != 0 || rest != nil {
		return errors.New("something came after the end")
	}
	return nil
}

func shape(v any) (time any, meta, body any, ok bool) {
	root, ok := v.([]any)
	if !ok || len(root) != 2 {
		return nil, nil, nil, false
	}
	time, body = root[0], root[1]
	if header, nested := time.([]any); nested {
		if len(header) != 2 {
			return nil, nil, nil, false
		}
		time, meta = header[0], header[1]
	}
	_, mapMeta := meta.(Map)
	_, mapBody := body.(Map)
	return time, meta, body, mapBody && (meta == nil || mapMeta)
}

func isMarker(v any) bool {
	time, _, _, ok := shape(v)
	x, isExt := time.(Ext)
	return ok && isExt && x.Type == 0 && len(x.Data) == 8 &&
		(string(x.Data) == "\xff\xff\xff\xff\x00\x00\x00\x00" || string(x.Data) == "\xff\xff\xff\xfe\x00\x00\x00\x00")
}

func isEvent(v any) bool {
	time, _, _, ok := shape(v)
	if !ok {
		return false
	}
	switch x := time.(type) {
	case nil, uint64:
		return true
	case int64:
		return isTime(float64(x))
	case float32:
		return isTime(float64(x))
	case float64:
		return isTime(x)
	case Ext:
		return x.Type == 0 && len(x.Data) == 8 && (string(x.Data[:4]) < "\xff\xff\xff\xfe")
	}
	return false
}

// isTime reports whether a number is a time in the unit that its size suggests:
// but for negative seconds from before the year 1, all below 10^19 are.
func isTime(v float64) bool { return math.Abs(v) < 1e19 && (v >= event.MinSec || v <= -1e11) }

func TestHostileChunksAreReadLikeTheSpecificationSays(t *testing.T) {
	for _, h := range HostileChunks() {
		t.Run(h.Name, func(t *testing.T) {
			if err := checkAgainstDecoder(h.Chunk); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnyChunkIsReadLikeTheSpecificationSays(t *testing.T) {
	object := rapid.OneOf(
		rapid.Map(Maps(2), func(m Map) any { return Event(At(1, 2), Map{}, m) }),
		rapid.Map(Maps(1), func(m Map) any { return Event(At(1, 2), m, Map{"a", m}) }),
		rapid.Custom(func(t *rapid.T) any { return Event(Values(0).Draw(t, "time"), Map{}, Map{}) }),
		rapid.Custom(func(t *rapid.T) any { return Legacy(Values(1).Draw(t, "time"), Values(1).Draw(t, "body")) }),
		Values(2),
		rapid.SampledFrom([]any{GroupHeader(Map{}, Map{}), GroupFooter(), Raw{0}, Raw{0, 0, 0}}),
	)
	rapid.Check(t, func(t *rapid.T) {
		chunk := Pack(rapid.SliceOfN(object, 0, 8).Draw(t, "objects")...)
		chunk = chunk[:rapid.IntRange(0, len(chunk)).Draw(t, "cut")]
		for range rapid.IntRange(0, 2).Draw(t, "flips") {
			if len(chunk) > 0 {
				chunk[rapid.IntRange(0, len(chunk)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		if err := checkAgainstDecoder(chunk); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReaderCoversTheChunk(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk)
		}
	}
	f.Add(OTLP(2, 2))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		if err := checkAgainstDecoder(chunk); err != nil {
			t.Error(err)
		}
	})
}

func TestReadingAllocatesOnlyGroups(t *testing.T) {
	rows := []struct {
		name  string
		chunk []byte
		want  float64
	}{
		{"kubernetes", Kubernetes(100), 0},
		{"plain", Plain(100), 0},
		{"malformed", bytes.Repeat([]byte{0xc0}, 100), 0},
		{"groups", OTLP(10, 10), 10},
		{"maps of four billion pairs", bytes.Repeat([]byte("\xdf\xff\xff\xff\xff"), 1000), 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var r event.Reader
			var e event.Event
			got := testing.AllocsPerRun(10, func() {
				for r.Reset(row.chunk); r.Next(&e); {
				}
			})
			if got != row.want {
				t.Errorf("%v allocations, want %v", got, row.want)
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	for name, chunk := range map[string][]byte{
		"kubernetes": Kubernetes(1000), "plain": Plain(1000), "otlp": OTLP(10, 100),
		"zeros in the middle": append(make([]byte, 1<<20), 1),
	} {
		b.Run(name, func(b *testing.B) {
			var r event.Reader
			var e event.Event
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				for r.Reset(chunk); r.Next(&e); {
				}
			}
		})
	}
}
