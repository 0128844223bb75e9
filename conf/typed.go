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

// The formats that write records under a schema.
const (
	FormatParquet = "parquet"
	FormatAvro    = "avro"
)

// SchemaSettings say where the schema comes from.
type SchemaSettings struct {
	Path     string // of an .avsc; "" learns the schema
	Strict   bool
	FreeForm string // FreeFormJSON or FreeFormVariant
}

func parquetFormat() format {
	return format{
		name: FormatParquet, compressions: parquet.Compressions(), options: schemaOptions, check: (*parsing).checkSchema,
		make: func(s *Settings, open SchemaOpener) (codec.Format, error) {
			schemas, err := open(s.schemaSource())
			if err != nil {
				return nil, err
			}
			return parquet.New(parquet.Options{
				Compression: s.Format.Compression, Schemas: schemas, Variant: s.Schema.FreeForm == FreeFormVariant, Memory: s.Memory().Encoders(),
			})
		},
	}
}

func avroFormat() format {
	return format{
		name: FormatAvro, compressions: avro.Compressions(), check: (*parsing).checkSchema,
		make: func(s *Settings, open SchemaOpener) (codec.Format, error) {
			schemas, err := open(s.schemaSource())
			if err != nil {
				return nil, err
			}
			return avro.New(avro.Options{Compression: s.Format.Compression, Schemas: schemas})
		},
	}
}

// SchemaAuto learns the schema from the records.
const SchemaAuto = "auto"

// How Parquet holds what is too varied for columns.
const (
	FreeFormJSON    = "json"
	FreeFormVariant = "variant"
)

// schemaOptions are declared with the first format that has a schema.
func schemaOptions() []Option {
	return []Option{
		Option{Key: KeySchema, Kind: Path, Default: SchemaAuto,
			Help: "With `parquet` and `avro`: `auto` learns the columns from the records, or the path of an Avro schema (`.avsc`), which both formats take. " +
				"docs/schemas.md has the rules.",
			Example: "/etc/fluent-bit/app.avsc",
			parse: func(s *Settings, text string) error {
				s.Schema.Path = ""
				if strings.EqualFold(text, SchemaAuto) {
					return nil
				}
				if !path.IsAbs(text) {
					return errors.New("use auto, or the absolute path of an .avsc file")
				}
				s.Schema.Path = path.Clean(text)
				return nil
			},
			render: func(s *Settings) (string, bool) {
				if s.Schema.Path == "" {
					return SchemaAuto, true
				}
				return s.Schema.Path, true
			}}.of((*Settings).hasSchema),
		Option{Key: KeySchemaStrict, Default: "false",
			Help: "With a given `schema`: a record is a dead letter if a value isn't of its column's own type or if the schema doesn't name a key of it, " +
				"instead of being converted."}.
			flag(func(s *Settings) *bool { return &s.Schema.Strict }).of((*Settings).hasSchema),
		Option{Key: KeySchemaFreeForm, Default: FreeFormJSON,
			Help: "With `parquet`: how maps are written that are too deep, or have too many different keys, for columns: as JSON text, or as VARIANT, " +
				"which Spark 4 and DuckDB read and most others don't."}.
			choice(func(s *Settings) *string { return &s.Schema.FreeForm }, FreeFormJSON, FreeFormVariant).of(isFormat(FormatParquet)),
	}
}

// hasSchema reports whether the format is one of those with a schema.
func (s *Settings) hasSchema() bool { return isFormat(FormatParquet, FormatAvro)(s) }

func (s *Settings) schemaSource() schema.Options {
	o := schema.Options{
		Path: s.Schema.Path, Strict: s.Schema.Strict, DateKey: s.Format.DateKey, TagKey: s.Format.TagKey,
		MetadataKey: s.Format.MetadataKey, GroupKey: s.Format.GroupKey,
	}
	if s.Schema.Path == "" {
		o.Dir = s.State.Dir
	}
	return o
}

// checkSchema reads a given schema: a mistake in it is one of the
// configuration's.
func (p *parsing) checkSchema() {
	s := &p.settings
	if p.failed[KeySchema] {
		return
	}
	if s.Format.Level > 0 && !p.failed[KeyCompressionLevel] {
		p.wrong(KeyCompressionLevel, "%s %s has none to choose; leave it out", KeyFormat, s.Format.Name)
	}
	if s.Schema.Path == "" {
		if s.Schema.Strict {
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
	given, err := p.env.OpenSchema(s.schemaSource())
	if err == nil && s.Format.Name == FormatParquet {
		err = parquet.Check(given.Current())
	}
	switch {
	case err != nil:
		p.wrong(KeySchema, "%w", err)
	case !s.Schema.Strict && given.Current().Rest < 0:
		p.warn(KeySchema, `keys of records that it doesn't name are left out; add the field {"name": "%s", "type": ["null", "string"]} to keep them`, schema.RestKey)
	}
}
