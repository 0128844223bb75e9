// Package schematest gives back the records that files with a schema were
// written from, so that tests can compare them: it knows the schema's
// documentation and Avro's JSON, and shares no code with what writes.
package schematest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/codec/event"
	ownjson "github.com/out-hdfs/out_hdfs/codec/json"
)

// Field is what a schema's text says of a field.
type Field struct {
	Name, Column, Key, Source string
	Bound                     bool
	Type                      any // Avro's JSON, without a union with null
}

// Fields reads the fields of a record in Avro's JSON.
func Fields(record any) []Field {
	m, ok := record.(map[string]any)
	if !ok || m["type"] != "record" {
		return nil
	}
	var fields []Field
	for _, v := range m["fields"].([]any) {
		v := v.(map[string]any)
		f := Field{Name: v["name"].(string), Source: "record", Bound: true, Type: NotNull(v["type"])}
		f.Column, f.Key = f.Name, f.Name
		if c, ok := v["column"].(string); ok {
			f.Column = c
		}
		if k, ok := v["key"]; ok {
			f.Key, f.Bound = k.(string)
		}
		if s, ok := v["source"].(string); ok {
			f.Source = s
		}
		fields = append(fields, f)
	}
	return fields
}

// Root reads a schema's text.
func Root(text []byte) ([]Field, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	fields := Fields(v)
	if fields == nil {
		return nil, fmt.Errorf("the schema is no record: %.200s", text)
	}
	return fields, nil
}

// NotNull is the one type other than null of a union, or the type itself.
func NotNull(t any) any {
	list, ok := t.([]any)
	if !ok {
		return t
	}
	var one any
	for _, b := range list {
		if b != "null" {
			if one != nil {
				return t
			}
			one = b
		}
	}
	return one
}

// Row is a record as a reader returns it: values by name or by column, with
// nested rows, lists as []any, bytes as []byte, times as time.Time, and other
// scalars as Go's bool, int32, int64, float32, float64 and string.
type Row = map[string]any

// Restore turns a row of a learned schema back into the record it was written
// from. byColumn says that rows are keyed by column, not by name.
func Restore(fields []Field, row Row, byColumn bool) (map[string]any, error) {
	record := restore(fields, row, byColumn)
	for _, f := range fields {
		if f.Source != "rest" {
			continue
		}
		text, ok := row[label(f, byColumn)].(string)
		if !ok {
			break
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var rest map[string]any
		if err := d.Decode(&rest); err != nil {
			return nil, fmt.Errorf("the rest is no JSON: %q: %w", text, err)
		}
		if len(rest) == 0 {
			return nil, fmt.Errorf("the rest is empty: %q", text)
		}
		merge(record, rest)
	}
	return record, nil
}

func label(f Field, byColumn bool) string {
	if byColumn {
		return f.Column
	}
	return f.Name
}

func restore(fields []Field, row Row, byColumn bool) map[string]any {
	record := map[string]any{}
	for _, f := range fields {
		v := row[label(f, byColumn)]
		if f.Source == "record" && v != nil {
			record[f.Key] = restoreValue(f.Type, v, byColumn)
		}
	}
	return record
}

func restoreValue(t, v any, byColumn bool) any {
	switch v := v.(type) {
	case map[string]any:
		return restore(Fields(t), v, byColumn)
	case []any:
		items := NotNull(t.(map[string]any)["items"])
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = restoreValue(items, x, byColumn)
		}
		return list
	}
	return v
}

// merge puts the rest into the record. What is in both is nested: maps are
// completed, anything else is whole in the rest.
func merge(record, rest map[string]any) {
	for k, v := range rest {
		into, ok := record[k].(map[string]any)
		if more, nested := v.(map[string]any); ok && nested {
			merge(into, more)
			continue
		}
		record[k] = v
	}
}

// Record is what a record holds, as its JSON says: of a key that comes twice
// the last value, keys as text, bin as text if it is that.
func Record(body []byte) (map[string]any, error) {
	var a ownjson.Appender
	text, err := a.AppendValue(nil, body)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var m map[string]any
	err = d.Decode(&m)
	return m, err
}

// Differs says where what was read back isn't what a record's JSON holds, ""
// if it is the same. Null and absent are the same. A text column may hold the
// text of any value.
func Differs(want, got any) string { return differs("", want, got) }

func differs(path string, want, got any) string {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			return report(path, want, got)
		}
		for k := range union(w, g) {
			if d := differs(path+"."+k, w[k], g[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		w, ok := want.([]any)
		if !ok || len(w) != len(g) {
			return report(path, want, got)
		}
		for i := range g {
			if d := differs(path+"["+strconv.Itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if sameScalar(want, got) {
		return ""
	}
	return report(path, want, got)
}

func report(path string, want, got any) string {
	return fmt.Sprintf("%s: %#v was written, %#v was read", path, want, got)
}

func union(a, b map[string]any) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

func sameScalar(want, got any) bool {
	switch g := got.(type) {
	case nil:
		return want == nil
	case bool:
		return want == g
	case json.Number:
		return want == g
	case int64:
		return want == json.Number(strconv.FormatInt(g, 10))
	case float64:
		return sameFloat(want, g)
	case []byte:
		if want == base64.StdEncoding.EncodeToString(g) { // an ext's data
			return true
		}
		if utf8.Valid(g) && !event.HasBinMark(g) {
			return want == string(g)
		}
		return want == event.BinMark+base64.StdEncoding.EncodeToString(g)
	case string:
		return sameText(want, g)
	case time.Time:
		return false
	}
	return false
}

// sameFloat: JSON has no NaN and writes a float32's shortest digits.
func sameFloat(want any, g float64) bool {
	n, ok := want.(json.Number)
	if !ok {
		return want == nil && (g != g || math.IsInf(g, 0))
	}
	f, err := n.Float64()
	return err == nil && (f == g || float64(float32(f)) == g)
}

func sameText(want any, g string) bool {
	if !utf8.ValidString(g) {
		return false
	}
	switch w := want.(type) {
	case string:
		return w == g
	case bool:
		return strconv.FormatBool(w) == g
	case json.Number:
		return string(w) == g
	case nil:
		return g == "NaN" || g == "Infinity" || g == "-Infinity"
	}
	d := json.NewDecoder(strings.NewReader(g))
	d.UseNumber()
	var v any
	return d.Decode(&v) == nil && reflect.DeepEqual(v, want)
}

// Micros is an event's time as a timestamp column holds it.
func Micros(t event.Time) int64 { return t.Sec*1e6 + int64(t.Nsec/1e3) }
