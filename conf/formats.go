package conf

import (
	"fmt"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/avro"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/csv"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/ltsv"
	"github.com/out-hdfs/out_hdfs/codec/parquet"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

// builtIn is a format and what it may be compressed with, the default first.
type builtIn struct {
	name         string
	compressions []string
	make         func(s *Settings) (codec.Format, error)
}

// formats are the built-in formats, the default first: a new one is a package
// and a row here.
func formats() []builtIn {
	return []builtIn{
		{FormatJSON, compress.Names(), func(s *Settings) (codec.Format, error) {
			return s.rows(json.New(s.lines()).(codec.BlockFormat), nil)
		}},
		{FormatText, compress.Names(), func(s *Settings) (codec.Format, error) {
			return s.rows(s.text(), nil)
		}},
		{FormatCSV, compress.Names(), func(s *Settings) (codec.Format, error) {
			return s.rows(s.csv())
		}},
		{FormatLTSV, compress.Names(), func(s *Settings) (codec.Format, error) {
			list, err := columns.Parse(s.Columns)
			return s.rows(ltsv.New(ltsv.Options{Columns: list, Values: s.columnValues()}), err)
		}},
		{FormatSequenceFile, sequencefile.Compressions(), func(s *Settings) (codec.Format, error) {
			return s.sequenceFile()
		}},
		{FormatParquet, parquet.Compressions(), func(s *Settings) (codec.Format, error) { return s.parquet() }},
		{FormatAvro, avro.Compressions(), func(s *Settings) (codec.Format, error) { return s.avro() }},
	}
}

// FormatNames are the built-in formats' names, the default first.
func FormatNames() (names []string) {
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Compressions are what a format takes, its default first.
func Compressions(format string) []string {
	for _, f := range formats() {
		if f.name == format {
			return f.compressions
		}
	}
	return []string{compress.None}
}

// OpenFormat makes the format of a configuration alone, for who only encodes.
func OpenFormat(lookup Lookup, env Environment) (codec.Format, error) {
	s, _, err := Parse(lookup, env)
	if err != nil {
		return nil, err
	}
	return s.newFormat()
}

// newFormat makes the configured format, which Parse has found among formats.
func (s *Settings) newFormat() (codec.Format, error) {
	for _, f := range formats() {
		if f.name != s.Format {
			continue
		}
		made, err := f.make(s)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", KeyFormat, s.Format, err)
		}
		return made, nil
	}
	return nil, fmt.Errorf("bug: %s %s passed the checks and isn't built in", KeyFormat, s.Format)
}

// rows compresses a format of rows.
func (s *Settings) rows(f codec.BlockFormat, err error) (codec.Format, error) {
	if err != nil {
		return nil, err
	}
	return compress.Wrap(f, s.Compression, s.CompressionLevel)
}

func (s *Settings) lines() json.Options {
	return json.Options{
		DateKey: s.JSONDateKey, DateFormat: s.JSONDateFormat, TagKey: s.JSONTagKey,
		MetadataKey: s.JSONMetadataKey, GroupKey: s.JSONGroupKey,
	}
}

func (s *Settings) text() codec.BlockFormat {
	return text.New(text.Options{Key: s.TextKey, JSON: s.lines()}).(codec.BlockFormat)
}

func (s *Settings) columnValues() columns.Options {
	return columns.Options{
		DateKey: s.JSONDateKey, DateFormat: s.JSONDateFormat, TagKey: s.JSONTagKey,
		MetadataKey: s.JSONMetadataKey, GroupKey: s.JSONGroupKey,
	}
}

func (s *Settings) csv() (codec.BlockFormat, error) {
	list, err := columns.Parse(s.Columns)
	if err != nil {
		return nil, err
	}
	o := csv.Options{Columns: list, Values: s.columnValues(), CRLF: s.CSVLineEnding == LineEndingCRLF, Header: s.CSVHeader}
	switch s.CSVDelimiter {
	case CSVComma:
		o.Delimiter = ','
	case CSVTab:
		o.Delimiter = '\t'
	case CSVSemicolon:
		o.Delimiter = ';'
	case CSVPipe:
		o.Delimiter = '|'
	}
	return csv.New(o)
}

func (s *Settings) sequenceFile() (codec.Format, error) {
	values := json.New(s.lines()).(codec.BlockFormat)
	if s.SequenceFileValue == FormatText {
		values = s.text()
	}
	return sequencefile.New(sequencefile.Options{
		NewLines: values.NewBlockEncoder, Compression: s.Compression, Level: s.CompressionLevel,
		Type: sequencefile.Type(s.SequenceFileType), Bytes: s.SequenceFileClass == ClassBytes,
	})
}
