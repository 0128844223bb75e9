package main

import (
	"encoding/json"
	"fmt"
	"time"
	"unsafe"

	"github.com/fluent/fluent-bit-go/output"
)

// fluentBitGo writes JSON lines as output plugins in Go usually do: with
// fluent-bit-go's decoder, whose bytes they make text, and encoding/json.
type fluentBitGo struct{ out discarded }

func (f *fluentBitGo) add(chunk []byte) error {
	d := output.NewDecoder(unsafe.Pointer(unsafe.SliceData(chunk)), len(chunk))
	for n := 0; ; n++ {
		code, ts, record := output.GetRecord(d)
		if code != 0 {
			if n != recordsPerChunk {
				return fmt.Errorf("fluent-bit-go reads %d records of %d", n, recordsPerChunk)
			}
			return nil
		}
		line := texts(record).(map[string]any)
		if at, ok := ts.(output.FLBTime); ok {
			line["date"] = at.UTC().Format(time.RFC3339Nano)
		}
		b, err := json.Marshal(line)
		if err != nil {
			return err
		}
		f.out.n += int64(len(b) + len("\n"))
	}
}

func (f *fluentBitGo) end() (size int64, err error) {
	size, f.out.n = f.out.n, 0
	return size, nil
}

// texts makes values that encoding/json takes.
func texts(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[fmt.Sprint(k)] = texts(x)
		}
		return m
	case []any:
		for i := range v {
			v[i] = texts(v[i])
		}
	}
	return v
}
