package columns_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

func TestLists(t *testing.T) {
	for _, tc := range []struct {
		list  string
		names []string
	}{
		{"", nil},
		{"  ", nil},
		{"a", []string{"a"}},
		{"a,b , c", []string{"a", "b", "c"}},
		{"日志, x-y, a.b, 1st", []string{"日志", "x-y", "a.b", "1st"}},
		{"$a", []string{"a"}},
		{"$a['b']['c d'][0]", []string{"a.b.c d.0"}},
		{`$['a,b'],$["c=d"],$['it''s']`, []string{"a,b", "c=d", "it's"}},
		{`$a["x""y"]['z']`, []string{`a.x"y.z`}},
		{"$TAG, $TAG[1]", []string{"tag", "tag.1"}},
		{"pod=$kubernetes['pod_name'], ns = $kubernetes['namespace_name']", []string{"pod", "ns"}},
		{"date=$time,date2=$TAG[0]", []string{"date", "date2"}},
	} {
		t.Run(tc.list, func(t *testing.T) {
			all, err := columns.Parse(tc.list)
			var names []string
			for _, c := range all {
				names = append(names, c.Name)
			}
			if err != nil || !slices.Equal(names, tc.names) {
				t.Errorf("got %q, error %v", names, err)
			}
		})
	}
}

func TestListsThatAreNone(t *testing.T) {
	for _, list := range []string{
		",", "a,", "a,,b", ",a", "a,a", "$a,a", "x=$a,x=$b", "a=", "a=b", "=$a", "a=$", "$a['b", "$a b", "a=$b c", "$1", "a=$b=c", "$a.b",
	} {
		t.Run(list, func(t *testing.T) {
			if all, err := columns.Parse(list); !errors.Is(err, columns.ErrList) {
				t.Errorf("it was read as %v, error %v", all, err)
			}
		})
	}
}

func TestAnAccessorsMistakeIsShown(t *testing.T) {
	if _, err := columns.Parse("a,$b['c"); !errors.Is(err, event.ErrAccessor) {
		t.Errorf("got %v", err)
	}
}

func TestValues(t *testing.T) {
	const nothing = "(nothing)"
	o := columns.Options{DateKey: "date", DateFormat: json.ISO8601, TagKey: "tag"}
	at := At(1527673192, 681000)
	for _, tc := range []struct {
		name, column string
		body         Map
		want         string
	}{
		{"text", "a", Map{"a", "x"}, "x"},
		{"empty text is something", "a", Map{"a", ""}, ""},
		{"missing", "a", Map{"b", 1}, nothing},
		{"nil", "a", Map{"a", nil}, nothing},
		{"the last of two", "a", Map{"a", 1, "a", 2}, "2"},
		{"nil after a value", "a", Map{"a", 1, "a", nil}, nothing},
		{"largest integer", "a", Map{"a", uint64(math.MaxUint64)}, "18446744073709551615"},
		{"above 2^53", "a", Map{"a", int64(math.MaxInt64)}, "9223372036854775807"},
		{"float", "a", Map{"a", 1.0}, "1.0"},
		{"NaN", "a", Map{"a", math.NaN()}, "NaN"},
		{"boolean", "a", Map{"a", false}, "false"},
		{"bytes", "a", Map{"a", []byte{0xff}}, "data:;base64,/w=="},
		{"invalid UTF-8", "a", Map{"a", "\xff"}, "\uFFFD"},
		{"map", "a", Map{"a", Map{"b", []any{1, "x"}}}, `{"b":[1,"x"]}`},
		{"nested", "$a['b'][1]", Map{"a", Map{"b", []any{1, "x"}}}, "x"},
		{"in a map whose key is odd", `$['it''s, "x"']['y z']`, Map{`it's, "x"`, Map{"y z", 5}}, "5"},
		{"in a map that comes twice", "$a['b']", Map{"a", Map{"b", 1}, "a", Map{"b", 2}}, "2"},
		{"in the list of a map", "$a['b'][0]['c']", Map{"a", Map{"b", []any{Map{"c", 5}}}}, "5"},
		{"in a list", "$a[1]", Map{"a", []any{4, 5}}, "5"},
		{"in a scalar", "$a['b']", Map{"a", 1}, nothing},
		{"under a key of bytes", "a", Map{[]byte("a"), 5}, "5"},
		{"an empty key", "$['']", Map{"", 5}, "5"},
		{"no empty key", "$['']", Map{1, 5}, nothing},
		{"a key with dots", "a.b", Map{"a.b", 1, "a", Map{"b", 2}}, "1"},
		{"renamed", "z=$a", Map{"a", 1, "z", 2}, "1"},
		{"the date", "date", Map{}, "2018-05-30T09:39:52.000681Z"},
		{"a field named like the date", "date", Map{"date", "mine"}, "mine"},
		{"a nil field named like the date", "date", Map{"date", nil}, nothing},
		{"an accessor never is the date", "$date", Map{}, nothing},
		{"the tag by its key", "tag", Map{}, "kube.\uFFFDvar"},
		{"a field named like the tag", "tag", Map{"tag", 7}, "7"},
		{"the tag", "$TAG", Map{}, "kube.\uFFFDvar"},
		{"a part of the tag", "$TAG[0]", Map{}, "kube"},
		{"a part that the tag has not", "$TAG[9]", Map{}, nothing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := columns.Parse(tc.column)
			if err != nil {
				t.Fatal(err)
			}
			e := &event.Event{Time: at, Body: Pack(tc.body)}
			r := columns.NewRenderer(all, o)
			r.Read(&event.Event{Body: Pack(Map{"a", "of the event before", "tag", 1, "date", 2})})
			r.Read(e)
			got, ok := r.Append([]byte("x"), 0, "kube.\xffvar")
			if !ok && string(got) == "x" {
				got = []byte("x" + nothing)
			}
			if string(got) != "x"+tc.want {
				t.Errorf("got %q, want %q", got[1:], tc.want)
			}
		})
	}
}

// TestIDsOfOpenTelemetry are hex in the metadata's column, of each event its own.
func TestIDsOfOpenTelemetry(t *testing.T) {
	all, err := columns.Parse("meta")
	if err != nil {
		t.Fatal(err)
	}
	r := columns.NewRenderer(all, columns.Options{MetadataKey: "meta"})
	for id, want := range map[string]string{
		"sixteen letters!": `{"otlp":{"trace_id":"7369787465656e206c65747465727321"}}`, "\x00\xff": `{"otlp":{"trace_id":"00ff"}}`,
	} {
		r.Read(&event.Event{Meta: Pack(Map{"otlp", Map{"trace_id", []byte(id)}}), Body: Pack(Map{})})
		if got, ok := r.Append(nil, 0, ""); !ok || string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestADateThatIsUnsetOrOff(t *testing.T) {
	all, _ := columns.Parse("date")
	for name, o := range map[string]columns.Options{"unset": {DateKey: "date"}, "off": {}} {
		r := columns.NewRenderer(all, o)
		r.Read(&event.Event{Body: Pack(Map{})})
		if got, ok := r.Append(nil, 0, ""); ok || len(got) > 0 {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestWhatLiesBesideTheRecord: metadata and group are JSON under their keys, if
// they hold anything and the record has no field of that name.
func TestWhatLiesBesideTheRecord(t *testing.T) {
	const nothing = "(nothing)"
	o := columns.Options{MetadataKey: "meta", GroupKey: "group"}
	meta, group := Pack(Map{"severity", 9}), &event.Group{Body: Pack(Map{"resource", Map{"a", "b"}})}
	for _, tc := range []struct {
		name, column string
		event        event.Event
		want         string
	}{
		{"metadata", "meta", event.Event{Meta: meta}, `{"severity":9}`},
		{"no metadata", "meta", event.Event{}, nothing},
		{"empty metadata", "meta", event.Event{Meta: Pack(Map{})}, nothing},
		{"metadata that are cut short", "meta", event.Event{Meta: []byte{0x82, 1}}, nothing},
		{"group", "group", event.Event{Group: group}, `{"resource":{"a":"b"}}`},
		{"no group", "group", event.Event{}, nothing},
		{"a group of nothing", "group", event.Event{Group: &event.Group{Body: Pack(Map{})}}, nothing},
		{"a field named like the metadata", "meta", event.Event{Meta: meta, Body: Pack(Map{"meta", "mine"})}, "mine"},
		{"an accessor never is the group", "$group", event.Event{Group: group}, nothing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := columns.Parse(tc.column)
			if err != nil {
				t.Fatal(err)
			}
			r := columns.NewRenderer(all, o)
			r.Read(&tc.event)
			got, ok := r.Append(nil, 0, "tag")
			if !ok && len(got) == 0 {
				got = []byte(nothing)
			}
			if string(got) != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, list := range []string{"a,b", "x=$a['b'][0],$TAG[1]", "$['a,''b']", "a=,", `$a["x""]`} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, err := columns.Parse(list)
		if err != nil && (!errors.Is(err, columns.ErrList) || all != nil) {
			t.Errorf("%v, error %v", all, err)
		}
		names := map[string]bool{}
		for _, c := range all {
			if names[c.Name] {
				t.Errorf("%q comes twice", c.Name)
			}
			names[c.Name] = true
		}
	})
}
