package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
)

// contents is a file of a learned schema as parquet-go reads it.
type contents struct {
	schema string // its text, in the file's metadata
	rows   []schematest.Row
}

func read(file []byte) (c contents, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return c, fmt.Errorf("open: %w", err)
	}
	c.schema, _ = f.Lookup("out_hdfs.schema")
	buf := make([]parquet.Row, 64)
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		for err == nil {
			var n int
			n, err = rows.ReadRows(buf)
			for _, row := range buf[:n] {
				c.rows = append(c.rows, instanceOf(row).bare(f.Schema(), 0, 0).(schematest.Row))
			}
		}
		if !errors.Is(err, io.EOF) {
			return c, errors.Join(fmt.Errorf("read the rows: %w", err), rows.Close())
		}
		if err = rows.Close(); err != nil {
			return c, fmt.Errorf("end the rows: %w", err)
		}
	}
	if f.NumRows() != int64(len(c.rows)) {
		return c, fmt.Errorf("the footer says %d rows, there are %d", f.NumRows(), len(c.rows))
	}
	return c, nil
}

// instance is one instance of a node: the values of each of the leaves below it
// that belong to it.
type instance [][]parquet.Value

func instanceOf(row parquet.Row) (in instance) {
	for _, v := range row {
		for len(in) <= v.Column() {
			in = append(in, nil)
		}
		in[v.Column()] = append(in[v.Column()], v)
	}
	return in
}

// value puts a node's instance together, below so many optional or repeated and
// so many repeated nodes.
func (in instance) value(n parquet.Node, definition, repetition int) any {
	defined := func() bool {
		definition++
		return in[0][0].DefinitionLevel() >= definition
	}
	switch {
	case n.Optional():
		if !defined() {
			return nil
		}
	case n.Repeated():
		list := []any{}
		if !defined() {
			return list
		}
		for _, one := range in.split(repetition + 1) {
			list = append(list, one.bare(n, definition, repetition+1))
		}
		return list
	}
	return in.bare(n, definition, repetition)
}

// split cuts the instances of a repeated node apart.
func (in instance) split(repetition int) (all []instance) {
	for leaf, values := range in {
		at := -1
		for i, v := range values {
			if i == 0 || v.RepetitionLevel() == repetition {
				if at++; at == len(all) {
					all = append(all, make(instance, len(in)))
				}
			}
			all[at][leaf] = append(all[at][leaf], v)
		}
	}
	return all
}

// bare is a node that is there. A group whose only field is repeated is a list,
// the field one of its items.
func (in instance) bare(n parquet.Node, definition, repetition int) any {
	if n.Leaf() {
		return scalar(n, in[0][0])
	}
	fields := n.Fields()
	if len(fields) == 1 && fields[0].Repeated() {
		items := in.value(fields[0], definition, repetition).([]any)
		for i, item := range items {
			items[i] = item.(schematest.Row)[fields[0].Fields()[0].Name()]
		}
		return items
	}
	row := schematest.Row{}
	for _, f := range fields {
		n := leaves(f)
		row[f.Name()] = in[:n].value(f, definition, repetition)
		in = in[n:]
	}
	return row
}

func leaves(n parquet.Node) (count int) {
	if n.Leaf() {
		return 1
	}
	for _, f := range n.Fields() {
		count += leaves(f)
	}
	return count
}

// scalar is a value of the types that schemas learn.
func scalar(n parquet.Node, v parquet.Value) any {
	var logical any
	if t := n.Type().LogicalType(); t != nil {
		logical = t.Value
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int64:
		if _, ok := logical.(*format.TimestampType); ok {
			return time.UnixMicro(v.Int64())
		}
		return v.Int64()
	case parquet.Double:
		return v.Double()
	case parquet.ByteArray:
		if _, ok := logical.(*format.StringType); ok {
			return string(v.ByteArray())
		}
		return bytes.Clone(v.ByteArray())
	}
	return fmt.Sprintf("a value of kind %v is new to this test", v.Kind())
}
