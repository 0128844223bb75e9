package main

import (
	"github.com/linkedin/goavro/v2"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// goavroFile writes Avro with goavro: under the schema that our own encoder
// learns, and of the values, from the same walk over the chunk, in the form
// that it takes.
type goavroFile struct {
	compression string
	schema      string
	w           *goavro.OCFWriter
	out         discarded
	walk        walk
}

func newGoavro(compression string) (*goavroFile, error) {
	return &goavroFile{compression: compression}, nil
}

func (g *goavroFile) add(chunk []byte) (err error) {
	b := g.walk.batch(chunk)
	if g.schema == "" {
		s, err := schema.Open(schema.Options{DateKey: "date"})
		if err != nil {
			return err
		}
		g.schema = string(s.Begin(b).Text)
	}
	if g.w == nil {
		g.out = discarded{}
		g.w, err = goavro.NewOCFWriter(goavro.OCFConfig{W: &g.out, Schema: g.schema, CompressionName: g.compression})
		if err != nil {
			return err
		}
	}
	records := make([]any, 0, len(b.Events))
	for _, e := range b.Events {
		m := fieldsOf(e.Body, avroRecord)
		m["date"] = goavro.Union("long.timestamp-micros", e.Time.Std())
		m["_extra"] = nil
		records = append(records, m)
	}
	return g.w.Append(records)
}

func (g *goavroFile) end() (int64, error) {
	g.w = nil // each Append is a block; there is nothing to close
	return g.out.n, nil
}

// avroRecord is the name of our schema's record.
const avroRecord = "out_hdfs.event"

func fieldsOf(raw []byte, name string) map[string]any {
	m := map[string]any{}
	for f := event.FieldsOf(raw); f.Next(); {
		key, _ := event.Text(f.Key)
		k := string(key)
		if k == "pod-template-hash" {
			k = "pod_template_hash"
		}
		m[k] = union(f.Value, name+"."+k)
	}
	return m
}

// union is a value as goavro takes it, in the union with null.
func union(raw []byte, name string) any {
	switch event.KindOf(raw) {
	case event.KindBool:
		v, _ := event.Bool(raw)
		return goavro.Union("boolean", v)
	case event.KindInt:
		v, _ := event.Int(raw)
		return goavro.Union("long", v)
	case event.KindFloat64:
		v, _ := event.Float(raw)
		return goavro.Union("double", v)
	case event.KindString:
		s, _ := event.Text(raw)
		return goavro.Union("string", string(s))
	case event.KindMap:
		return goavro.Union(name+"_record", fieldsOf(raw, name))
	}
	return nil
}
