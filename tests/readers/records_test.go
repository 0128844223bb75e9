package readers

import (
	"fmt"
	"math"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// The records that every format writes. All have the same fields, and a field
// has one type, so that readers which infer a schema find one.

// texts are what breaks quoting, escaping and line ends.
var texts = []string{
	"", "plain", `say "hi", "you"`, `"`, `""`, ",", ",,", `",`, "line\nbreak", "\n", "tab\there", "a\\tb",
	"订单已支付，张伟", "🙂👩\u200d👩\u200d👧", `C:\temp\new`, `ends with \`, `\N`, "null", "NULL", "NaN", "true", "1", "01", "1e3",
	" blank at both ends ", "'single'", "a;b|c", "=1+1", "#no comment", "{\"json\":\"in text\"}", "\u2028\u2029\u0085", "\ufeffbom", "%41", "$a['b']",
}

// oddNames are field names that readers mistake for something else.
var oddNames = []string{"x-y", "a.b", "日志", "with space", "1st", "UPPER", "quote\"d", "select", "$dollar", "emoji🙂"}

// record is the i-th one.
func record(i int) eventtest.Map {
	var opt any
	switch i % 3 {
	case 1:
		opt = ""
	case 2:
		opt = fmt.Sprint("opt ", i)
	}
	ratio := float64(i) / 8
	switch i {
	case 3:
		ratio = math.NaN()
	case 4:
		ratio = math.MaxFloat64
	case 5:
		ratio = 5e-324
	case 6:
		ratio = 0.1
	}
	big := int64(math.MaxInt64) - int64(i)
	if i%2 == 1 {
		big = math.MinInt64 + int64(i)
	}
	m := eventtest.Map{
		"id", int64(i), "text", texts[i%len(texts)], "opt", opt, "big", big, "ratio", ratio, "flag", i%2 == 0,
		"nested", eventtest.Map{"pod name", fmt.Sprint("web-", i), "list", []any{int64(i), int64(-i)}},
	}
	for k, name := range oddNames {
		m = append(m, name, fmt.Sprint(name, k+i))
	}
	return m
}

// large is the record whose text has a megabyte.
const large = 2500

func recordOf(i int) eventtest.Map {
	m := record(i)
	if i == large {
		m[3] = strings.Repeat("长\"x\n", 1<<20/6)
	}
	return m
}

// second is when record i happened, in seconds since 1970.
func second(i int) int64 { return 1767225600 + int64(i) }

// millis is the same as json_date_format epoch_ms has it.
func millis(i int) int64 { return second(i)*1000 + 123 }

const tag = "kube.web"

// chunks are small and large ones in turn, so that files have members of one
// chunk and of many.
func chunks() (all []host.Chunk) {
	from := 0
	for _, n := range []int{len(texts), 2300, 1, 2, 3, 100, 160, 1, 1} {
		var data []byte
		for i := from; i < from+n; i++ {
			data = eventtest.Append(data, eventtest.Event(eventtest.At(second(i), 123456789), eventtest.Map{}, recordOf(i)))
		}
		from += n
		all = append(all, host.Chunk{Tag: tag, Data: data, Records: uint64(n)})
	}
	return all
}

// count is how many records the chunks hold.
const count = 2602

// field is a record's value of the name.
func field(m eventtest.Map, name string) any {
	for i := 0; i < len(m); i += 2 {
		if m[i] == name {
			return m[i+1]
		}
	}
	return nil
}
