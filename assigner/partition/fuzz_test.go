package partition

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/hive"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"pgregory.net/rapid"
)

// FuzzBucket: any list of fields compiles or is refused with its place, and
// any record then gives a visible path below the base or one of two errors.
func FuzzBucket(f *testing.F) {
	for _, by := range []string{
		"dt=%Y-%m-%d, ns=$kubernetes['namespace_name'], tag=$TAG", "x=a$$%%%-d$v[0]", "a=$['x,y']b,c=%H:%M", "=", "a=%", "a=$", "..=1", "a/../b=$v",
	} {
		f.Add(by, "v", []byte("\xa2.."), "app.log")
	}
	f.Add("v=$v", "v", []byte("\xd9\x03\xff/:"), "")
	f.Fuzz(func(t *testing.T, by, key string, raw []byte, tag string) {
		a, err := New(Options{By: by, Zone: time.UTC, Source: "$v"})
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(by) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		got, err := a.Bucket(record(key, raw, "v", raw), &assigner.Context{Tag: tag, Arrival: arrival})
		if err != nil {
			if !errors.Is(err, ErrTooLong) && !errors.Is(err, ErrKind) && !errors.Is(err, ErrNull) {
				t.Fatalf("error is %v", err)
			}
			return
		}
		checkBucket(t, got, len(a.fields))
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkBucket(t fataler, bucket string, fields int) {
	t.Helper()
	segments := strings.Split(bucket, "/")
	if len(segments) != fields || !utf8.ValidString(bucket) || len(bucket) > MaxBucket {
		t.Fatalf("bucket %q of %d fields", bucket, fields)
	}
	for _, s := range segments {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" || value == "" || s[0] == '.' || s[0] == '_' || len(s) > 255 {
			t.Fatalf("bucket %q has the folder %q", bucket, s)
		}
	}
	if i := strings.IndexFunc(bucket, func(r rune) bool { return r < 0x20 || r == 0x7f || r == ':' }); i >= 0 {
		t.Fatalf("bucket %q has the character %q", bucket, bucket[i])
	}
}

// TestDifferentValuesNeverShareABucket draws values around what escaping could
// confuse.
func TestDifferentValuesNeverShareABucket(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"%", "%2", "%2F", "/", "=", ",", "..", "_", "\xff", "\xc3", "\xbc", "ü", "\x00", " "}),
			rapid.StringN(0, 3, 9)), 1, 4).Draw(t, "parts")
		return strings.Join(parts, "")
	}).Filter(func(s string) bool { return s != "" && s != hive.DefaultPartition })
	rapid.Check(t, func(rt *rapid.T) {
		a, err := New(Options{By: "a=$a,b=$b", Zone: time.UTC, Source: "record"})
		if err != nil {
			rt.Fatal(err)
		}
		ask := func(x, y string) string {
			got, err := a.Bucket(record("a", str(x), "b", str(y)), &assigner.Context{Arrival: arrival})
			if err != nil {
				rt.Fatal(err)
			}
			checkBucket(rt, got, 2)
			return got
		}
		a1, b1, a2, b2 := value.Draw(rt, "a1"), value.Draw(rt, "b1"), value.Draw(rt, "a2"), value.Draw(rt, "b2")
		if same := ask(a1, b1) == ask(a2, b2); same != (a1 == a2 && b1 == b2) {
			rt.Fatalf("%q %q and %q %q: one bucket is %v", a1, b1, a2, b2, same)
		}
	})
}

func TestAMalformedEventIsNoReasonToPanic(t *testing.T) {
	got, err := bucket(t, "x=$a,t=$TAG", &event.Event{Malformed: "no map"}, "app")
	if got != "x=__HIVE_DEFAULT_PARTITION__/t=app" || err != nil {
		t.Errorf("bucket %q, error %v", got, err)
	}
}
