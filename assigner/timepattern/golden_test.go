package timepattern

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// goldenRow is what another implementation made of a pattern.
type goldenRow struct {
	line              int
	at                time.Time
	pattern, expected string
}

func golden(t *testing.T, path string) []goldenRow {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []goldenRow
	zones := map[string]*time.Location{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			continue
		}
		cols := strings.Split(lines.Text(), "\t")
		if len(cols) != 4 {
			t.Fatalf("%s:%d has %d columns", path, n, len(cols))
		}
		if zones[cols[0]] == nil {
			if zones[cols[0]], err = time.LoadLocation(cols[0]); err != nil {
				t.Fatal(err)
			}
		}
		sec, nsec, _ := strings.Cut(cols[1], ".")
		s, err1 := strconv.ParseInt(sec, 10, 64)
		ns, err2 := strconv.ParseInt(nsec, 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s:%d: instant %q", path, n, cols[1])
		}
		rows = append(rows, goldenRow{n, time.Unix(s, ns).In(zones[cols[0]]), cols[2], cols[3]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestAgainstOthers compares with tables that the JDK and GNU date wrote.
func TestAgainstOthers(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		minRows    int
		parse      func(string) (*Pattern, error)
	}{
		{"java", "testdata/java.tsv", 1800, ParseJava},
		{"strftime", "testdata/strftime.tsv", 1150, ParseStrftime},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows := golden(t, tc.path)
			if len(rows) < tc.minRows {
				t.Fatalf("only %d rows", len(rows))
			}
			for _, row := range rows {
				p, err := tc.parse(row.pattern)
				if err != nil {
					t.Errorf("%s:%d: %v", tc.path, row.line, err)
					continue
				}
				if got := string(p.Append(nil, row.at)); got != row.expected {
					t.Errorf("%s:%d: %q at %v is %q, want %q", tc.path, row.line, row.pattern, row.at, got, row.expected)
				}
				checkSpan(t, p, row.at)
			}
		})
	}
}

// checkSpan tries the ends of the span that p claims for at.
func checkSpan(t *testing.T, p *Pattern, at time.Time) {
	t.Helper()
	from, to, ok := p.Span(at)
	if !ok {
		return
	}
	if at.Unix() < from || at.Unix() >= to {
		t.Errorf("%q: the span %d–%d of %v doesn't hold it", p, from, to, at)
	}
	want := string(p.Append(nil, at))
	for _, sec := range []int64{from, from + 1, (from + to) / 2, to - 1} {
		if sec < from || sec >= to {
			continue
		}
		for _, nsec := range []int64{0, 999999999} {
			other := time.Unix(sec, nsec).In(at.Location())
			if got := string(p.Append(nil, other)); got != want {
				t.Errorf("%q: %q at %v, but %q at %v of the same span", p, want, at, got, other)
			}
		}
	}
}
