package intern

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func TestEqualPathsShareTheirMemory(t *testing.T) {
	var table Table
	first := table.Get([]byte("dt=2026-11-29/ns=web"))
	other := table.Get([]byte("dt=2026-11-29/ns=db"))
	again := table.Get([]byte("dt=2026-11-29/ns=web"))
	if first != again || unsafe.StringData(first) != unsafe.StringData(again) {
		t.Errorf("%q isn't the string from before", again)
	}
	if other != "dt=2026-11-29/ns=db" {
		t.Errorf("got %q", other)
	}
}

func TestTheCallerMayReuseItsBuffer(t *testing.T) {
	var table Table
	buf := []byte("a=1")
	s := table.Get(buf)
	copy(buf, "b=2")
	if s != "a=1" || table.Get([]byte("a=1")) != "a=1" || table.Get(buf) != "b=2" {
		t.Errorf("the table changed with the caller's buffer: %q", s)
	}
}

func TestAPathSeenBeforeAllocatesNothing(t *testing.T) {
	var table Table
	buf := []byte("dt=2026-11-29/ns=web")
	table.Get(buf)
	if n := testing.AllocsPerRun(100, func() { table.Get(buf) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name string
		pad  string
	}{
		{"many short paths", ""},
		{"long paths", strings.Repeat("x", 2000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var table Table
			for i := range 3 * MaxStrings {
				want := strconv.Itoa(i) + tc.pad
				if got := table.Get([]byte(want)); got != want {
					t.Fatalf("got %q, want %q", got, want)
				}
				held := 0
				if i%1000 == 0 {
					for s := range table.strings {
						held += len(s)
					}
				}
				if len(table.strings) > MaxStrings || held > MaxBytes {
					t.Fatalf("%d strings of %d bytes after %d", len(table.strings), held, i)
				}
			}
		})
	}
}
