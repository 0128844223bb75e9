package conf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

func schemaFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "given.avsc")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const (
	usualSchema   = `{"type":"record","name":"r","fields":[{"name":"log","type":"string"},{"name":"_extra","type":["null","string"]}]}`
	fixedSchema   = `{"type":"record","name":"r","fields":[{"name":"log","type":"string"}]}`
	besideSchema  = `{"type":"record","name":"r","fields":[{"name":"ts","type":"long","logicalType":"timestamp-millis"},{"name":"_extra","type":["null","string"]}]}`
	unknownSchema = `{"type":"record","name":"r","fields":[{"name":"ts","type":{"type":"long","logicalType":"timestamp-nanos"}},{"name":"no","key":null,"type":["null","long"]},{"name":"_extra","type":["null","string"]}]}`
	unionSchema   = `{"type":"record","name":"r","fields":[{"name":"a","type":["int","string"]},{"name":"_extra","type":["null","string"]}]}`
)

// TestSchemas: a given schema is read with the configuration, and its mistakes
// are reported with it.
func TestSchemas(t *testing.T) {
	none := errors.New("none")
	rows := []struct {
		name     string
		format   string
		schema   string // a schema's text, or a value as it is if it isn't JSON
		more     []string
		mistake  error // what the error about schema wraps; nil for none, none for any
		warnings []string
	}{
		{"auto", FormatParquet, SchemaAuto, nil, nil, nil},
		{"auto in another case", FormatAvro, "AUTO", nil, nil, nil},
		{"given", FormatParquet, usualSchema, nil, nil, nil},
		{"given to Avro", FormatAvro, usualSchema, nil, nil, nil},
		{"a logical type beside its type", FormatParquet, besideSchema, nil, schema.ErrSchema, nil},
		{"the same in Avro", FormatAvro, besideSchema, nil, schema.ErrSchema, nil},
		{"what has no effect", FormatParquet, unknownSchema, nil, nil, []string{KeySchema, KeySchema}},
		{"without a field for the rest", FormatParquet, fixedSchema, nil, nil, []string{KeySchema}},
		{"strict without a field for the rest", FormatParquet, fixedSchema, []string{KeySchemaStrict, "on"}, nil, nil},
		{"a union in Avro", FormatAvro, unionSchema, nil, nil, nil},
		{"a union in Parquet", FormatParquet, unionSchema, nil, parquet.ErrSchema, nil},
		{"no record", FormatAvro, `"string"`, nil, schema.ErrSchema, nil},
		{"a relative path", FormatAvro, "app.avsc", nil, none, nil},
		{"a missing file", FormatAvro, "/nowhere/app.avsc", nil, os.ErrNotExist, nil},
		{"strict and learned", FormatAvro, SchemaAuto, []string{KeySchemaStrict, "on"}, nil, []string{KeySchemaStrict}},
		{"with JSON lines", FormatJSON, SchemaAuto, nil, nil, []string{KeySchema}},
		{"VARIANT in Avro", FormatAvro, SchemaAuto, []string{KeySchemaFreeForm, FreeFormVariant}, nil, []string{KeySchemaFreeForm}},
		{"a date format", FormatParquet, SchemaAuto, []string{KeyJSONDateFormat, "epoch"}, nil, []string{KeyJSONDateFormat}},
		{"metadata and group", FormatAvro, SchemaAuto, []string{KeyJSONMetadataKey, "m", KeyJSONGroupKey, "g"}, nil, nil},
		{"metadata and group with a given schema", FormatParquet, usualSchema, []string{KeyJSONMetadataKey, "m", KeyJSONGroupKey, "g"}, nil, []string{KeyJSONMetadataKey, KeyJSONGroupKey}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			value := row.schema
			if strings.ContainsAny(value, `{"`) {
				value = schemaFile(t, value)
			}
			_, warnings, err := Parse(Map(with(append([]string{KeyFormat, row.format, KeySchema, value}, row.more...)...)), environment())
			switch {
			case row.mistake == nil && err != nil:
				t.Fatal(err)
			case row.mistake == none && err == nil, row.mistake != nil && row.mistake != none && !errors.Is(err, row.mistake):
				t.Fatalf("got %v", err)
			case err != nil:
				var m *Mistake
				if !errors.As(err, &m) || m.Key != KeySchema {
					t.Fatalf("the mistake isn't about %s: %v", KeySchema, err)
				}
			}
			if len(warnings) != len(row.warnings) {
				t.Fatalf("warnings: %q", warnings)
			}
			for i, key := range row.warnings {
				if !strings.HasPrefix(warnings[i], key+":") {
					t.Errorf("warning %q isn't about %s", warnings[i], key)
				}
			}
		})
	}
}

// TestTypedFormatsAreMade with each of their compressions.
func TestTypedFormatsAreMade(t *testing.T) {
	for _, format := range []string{FormatParquet, FormatAvro} {
		for _, compression := range Compressions(format) {
			s := parse(t, with(KeyFormat, format, KeyCompression, compression, KeyStateDir, t.TempDir()))
			f, err := s.NewFormat(schema.Open)
			if err != nil {
				t.Fatalf("%s with %s: %v", format, compression, err)
			}
			if f.Extension() != "."+format {
				t.Errorf("%s with %s has the extension %s", format, compression, f.Extension())
			}
		}
		_, _, err := Parse(Map(with(KeyFormat, format, KeyCompressionLevel, "3")), environment())
		if err == nil {
			t.Errorf("%s takes a level", format)
		}
	}
}
