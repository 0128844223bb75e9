package conf

import (
	"errors"
	"path"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// SchemaAuto learns the schema from the records.
const SchemaAuto = "auto"

// How Parquet holds what is too varied for columns.
const (
	FreeFormJSON    = "json"
	FreeFormVariant = "variant"
)

func schemaOptions() []Option {
	return []Option{
		{Key: KeySchema, Kind: Path, Default: SchemaAuto,
			Help: "With `parquet` and `avro`: `auto` learns the columns from the records, or the path of an Avro schema (`.avsc`), which both formats take. " +
				"docs/schemas.md has the rules.",
			Example: "/etc/fluent-bit/app.avsc",
			parse: func(s *Settings, text string) error {
				s.Schema = ""
				if strings.EqualFold(text, SchemaAuto) {
					return nil
				}
				if !path.IsAbs(text) {
					return errors.New("use auto, or the absolute path of an .avsc file")
				}
				s.Schema = path.Clean(text)
				return nil
			},
			render: func(s *Settings) (string, bool) {
				if s.Schema == "" {
					return SchemaAuto, usesSchema(s)
				}
				return s.Schema, usesSchema(s)
			}},
		Option{Key: KeySchemaStrict, Default: "false",
			Help: "With a given `schema`: a record is a dead letter if a value isn't of its column's own type or if the schema doesn't name a key of it, " +
				"instead of being converted."}.
			flag(func(s *Settings) *bool { return &s.SchemaStrict }).where(usesSchema),
		Option{Key: KeySchemaFreeForm, Default: FreeFormJSON,
			Help: "With `parquet`: how maps are written that are too deep, or have too many different keys, for columns: as JSON text, or as VARIANT, " +
				"which Spark 4 and DuckDB read and most others don't."}.
			choice(func(s *Settings) *string { return &s.SchemaFreeForm }, FreeFormJSON, FreeFormVariant).where(isFormat(FormatParquet)),
	}
}

func usesSchema(s *Settings) bool { return s.Format == FormatParquet || s.Format == FormatAvro }

func (s *Settings) schemaSource() schema.Options {
	o := schema.Options{
		Path: s.Schema, Strict: s.SchemaStrict, DateKey: s.JSONDateKey, TagKey: s.JSONTagKey,
		MetadataKey: s.JSONMetadataKey, GroupKey: s.JSONGroupKey,
	}
	if s.Schema == "" {
		o.Dir = s.StateDir
	}
	return o
}

// checkSchema reads a given schema: a mistake in it is one of the
// configuration's.
func (p *parsing) checkSchema() {
	s := &p.settings
	if !usesSchema(s) || p.failed[KeySchema] {
		return
	}
	if s.CompressionLevel > 0 && !p.failed[KeyCompressionLevel] {
		p.wrong(KeyCompressionLevel, "%s %s has none to choose; leave it out", KeyFormat, s.Format)
	}
	if s.Schema == "" {
		if s.SchemaStrict {
			p.warn(KeySchemaStrict, "it has no effect with %s %s", KeySchema, SchemaAuto)
		}
		return
	}
	for _, from := range []struct {
		key    string
		source schema.From
	}{{KeyJSONMetadataKey, schema.FromMetadata}, {KeyJSONGroupKey, schema.FromGroup}} {
		if p.has(from.key) {
			p.warn(from.key, `it has no effect with a schema of your own; give a field of it "source": "%s"`, from.source)
		}
	}
	given, err := schema.Open(s.schemaSource())
	if err == nil && s.Format == FormatParquet {
		err = parquet.Check(given.Current())
	}
	switch {
	case err != nil:
		p.wrong(KeySchema, "%w", err)
	case !s.SchemaStrict && given.Current().Rest < 0:
		p.warn(KeySchema, `keys of records that it doesn't name are left out; add the field {"name": "%s", "type": ["null", "string"]} to keep them`, schema.RestKey)
	}
}

// encodersMemory is what all open Parquet files together may hold. The sink
// gives half of memory_limit to parts in progress, staging buffers included.
func (s *Settings) encodersMemory() int64 { return s.MemoryLimit * 3 / 8 }

func (s *Settings) parquet() (codec.Format, error) {
	schemas, err := schema.Open(s.schemaSource())
	if err != nil {
		return nil, err
	}
	return parquet.New(parquet.Options{
		Compression: s.Compression, Schemas: schemas, Variant: s.SchemaFreeForm == FreeFormVariant, Memory: s.encodersMemory(),
	})
}

func (s *Settings) avro() (codec.Format, error) {
	schemas, err := schema.Open(s.schemaSource())
	if err != nil {
		return nil, err
	}
	return avro.New(avro.Options{Compression: s.Compression, Schemas: schemas})
}
