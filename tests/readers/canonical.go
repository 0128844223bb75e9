package readers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Canonical is a value as read.py prints it, for what a test expects: nil,
// bool, int, int64, uint64, float64, string, []byte, time.Time, Local, Date,
// TimeOfDay, Decimal, []any and eventtest.Map, of whose repeated keys the last counts.
func Canonical(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value(v)); err != nil {
		panic(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Types that Go has none for.
type (
	Local     time.Time     // without a zone
	Date      int           // days since 1970
	TimeOfDay time.Duration // since midnight
	Decimal   string        // with all digits of its scale
)

// longText is from how many bytes on read.py prints a digest of a text.
const longText = 1000

func value(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		if len(v) > longText {
			sum := sha256.Sum256([]byte(v))
			return map[string]any{"long": len(v), "sha256": hex.EncodeToString(sum[:])}
		}
		return v
	case int, int64, uint64:
		return map[string]any{"int": fmt.Sprint(v)}
	case float64:
		return map[string]any{"float": float(v)}
	case []byte:
		return map[string]any{"bytes": base64.StdEncoding.EncodeToString(v)}
	case time.Time:
		return map[string]any{"micros": strconv.FormatInt(v.UnixMicro(), 10)}
	case Local:
		return map[string]any{"local": strconv.FormatInt(time.Time(v).UnixMicro(), 10)}
	case Date:
		return map[string]any{"days": fmt.Sprint(int(v))}
	case TimeOfDay:
		return map[string]any{"time": fmt.Sprint(time.Duration(v).Microseconds())}
	case Decimal:
		return map[string]any{"decimal": string(v)}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = value(v[i])
		}
		return list
	case eventtest.Map:
		fields := map[string]any{}
		for i := 0; i < len(v); i += 2 {
			delete(fields, v[i].(string))
			if v[i+1] != nil {
				fields[v[i].(string)] = value(v[i+1])
			}
		}
		return map[string]any{"fields": fields}
	}
	panic(fmt.Sprintf("readers: %T has no canonical form", v))
}

// float is the shortest digits, as Python has them.
func float(f float64) string {
	abs := math.Abs(f)
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 0):
		if f < 0 {
			return "-Infinity"
		}
		return "Infinity"
	case abs != 0 && (abs < 1e-4 || abs >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !bytes.ContainsRune([]byte(text), '.') {
		text += ".0"
	}
	return text
}

// Normal is a canonical value with its members in order and the shortest digits
// of floats, so that texts are equal if the values are.
func Normal(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(shortest(v)); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

func shortest(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = shortest(v[i])
		}
	case map[string]any:
		if text, ok := v["float"].(string); ok && len(v) == 1 {
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				return map[string]any{"float": float(f)}
			}
		}
		for k := range v {
			if text, ok := v[k].(string); ok && k == "_extra" {
				v[k] = ordered(text)
				continue
			}
			v[k] = shortest(v[k])
		}
	}
	return v
}

// Value is what a canonical value stands for: nil, bool, int64, float64, string,
// []byte, time.Time, []any, and map[string]any for a record. Text is whole, and
// of no other types than these.
func Value(canonical any) (any, error) {
	switch v := canonical.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = Value(v[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		for tag, inner := range v { // the only one
			return tagged(tag, inner)
		}
	}
	return canonical, nil
}

func tagged(tag string, inner any) (any, error) {
	if fields, ok := inner.(map[string]any); ok && tag == "fields" {
		row := make(map[string]any, len(fields))
		for k, v := range fields {
			var err error
			if row[k], err = Value(v); err != nil {
				return nil, err
			}
		}
		return row, nil
	}
	text, _ := inner.(string)
	switch tag {
	case "int":
		return strconv.ParseInt(text, 10, 64)
	case "float":
		return strconv.ParseFloat(text, 64)
	case "bytes":
		return base64.StdEncoding.DecodeString(text)
	case "micros":
		micros, err := strconv.ParseInt(text, 10, 64)
		return time.UnixMicro(micros).UTC(), err
	}
	return nil, fmt.Errorf("a canonical value with %q has no type of Go", tag)
}

// ordered is a JSON object as text with its members in order.
func ordered(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(b)
}
