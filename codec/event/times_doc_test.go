package event_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Where docs/times.md has the table.
const (
	tableBegins = "<!-- times: what TestTimes checks; do not edit -->\n"
	tableEnds   = "<!-- end of times -->\n"
)

// TestTheDocumentedTable: docs/times.md has the rows that TestTimes checks. On a
// difference the page as it should be is left with .got behind its name.
func TestTheDocumentedTable(t *testing.T) {
	const page = "../../docs/times.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), tableBegins)
	old, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok1 || !ok2 {
		t.Fatal("the page has no marks around the table")
	}
	want := timesTable()
	if old == want {
		return
	}
	if err := os.WriteFile(page+".got", []byte(before+tableBegins+want+tableEnds+after), 0o600); err != nil {
		t.Error(err)
	}
	t.Errorf("%s is out of date; take %s.got", page, page)
}

func timesTable() string {
	var b strings.Builder
	for _, group := range Times() {
		fmt.Fprintf(&b, "\n### %s\n\n", group.Name)
		if group.Rows[0].Want == "" {
			for i, row := range group.Rows {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(shown(row.Value))
			}
			b.WriteString(".\n")
			continue
		}
		b.WriteString("| value | time | as text in a `timestamp-millis` |\n|---|---|---|\n")
		for _, row := range group.Rows {
			column := "the same"
			switch {
			case row.Millis == NoTime:
				column = "a dead letter"
			case row.Millis != "" && row.Millis != row.Want:
				column = row.Millis
			case event.KindOf(Pack(row.Value)) == event.KindExt:
				column = ""
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", shown(row.Value), row.Want, column)
		}
	}
	return b.String()
}

// shown is a value in the table.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		text := fmt.Sprintf("%q", v)
		return "`" + strings.ReplaceAll(strings.ReplaceAll(text, `\u2212`, "\u2212"), "|", `\|`) + "`"
	case float32:
		return fmt.Sprintf("`%.0f` as float32", v)
	case float64:
		text, _ := event.AppendScalar(nil, Pack(v))
		return "`" + string(text) + "`"
	case Wide:
		return shown(v.Value) + ", in msgpack's longest form"
	case Ext:
		name := "msgpack's timestamp"
		switch {
		case v.Type == 0:
			name = "EventTime"
		case v.Type != -1:
			name = fmt.Sprintf("ext %d", v.Type)
		}
		return name + " `" + hex.EncodeToString(v.Data) + "`"
	case Map:
		return "a map"
	case []any:
		return "a list"
	}
	return fmt.Sprintf("`%v`", v)
}
