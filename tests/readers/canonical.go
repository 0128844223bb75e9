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
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// Canonical is a value as read.py prints it, for what a test expects: nil,
// bool, int, int64, uint64, float64, string, []byte, time.Time, []any and
// eventtest.Map, of whose repeated keys the last counts.
func Canonical(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value(v)); err != nil {
		panic(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

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

// float is Python's repr, as far as tests use it: the shortest digits, with an
// exponent from 1e16 on and below 1e-4.
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

// Normal is a canonical value with its members in order, so that texts are
// equal if the values are.
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
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
