package conf

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
)

// FormatSequenceFile writes Hadoop's SequenceFiles.
const FormatSequenceFile = "sequencefile"

// SequenceFileSettings say what a file's values are.
type SequenceFileSettings struct {
	Type  string // a sequencefile.Type
	Value string // FormatJSON or FormatText
	Class string // ClassText or ClassBytes
}

// The values of SequenceFileSettings.Class.
const (
	ClassText  = "text"
	ClassBytes = "bytes"
)

func sequenceFileFormat() format {
	return format{
		name: FormatSequenceFile, compressions: sequencefile.Compressions(),
		options: func() []Option {
			return []Option{
				Option{Key: KeySequenceFileType, Default: string(sequencefile.Block),
					Help: "With `sequencefile` and compression: what is compressed together, many records or each by itself."}.
					choice(func(s *Settings) *string { return &s.SequenceFile.Type }, string(sequencefile.Block), string(sequencefile.Record)).of(isFormat(FormatSequenceFile)),
				Option{Key: KeySequenceFileValue, Default: FormatJSON,
					Help: "With `sequencefile`: what a value is, the record as JSON or the text of `text_key`. The key is the event's time in milliseconds."}.
					choice(func(s *Settings) *string { return &s.SequenceFile.Value }, FormatJSON, FormatText).of(isFormat(FormatSequenceFile)),
				Option{Key: KeySequenceFileClass, Default: ClassText,
					Help: "With `sequencefile`: the value's class, Hadoop's `Text` or `BytesWritable`."}.
					choice(func(s *Settings) *string { return &s.SequenceFile.Class }, ClassText, ClassBytes).of(isFormat(FormatSequenceFile)),
			}
		},
		make: (*Settings).sequenceFile,
	}
}

func (s *Settings) sequenceFile(SchemaOpener) (codec.Format, error) {
	values := json.New(s.lines()).(codec.BlockFormat)
	if s.SequenceFile.Value == FormatText {
		values = s.text()
	}
	return sequencefile.New(sequencefile.Options{
		NewLines: values.NewBlockEncoder, Compression: s.Format.Compression, Level: s.Format.Level,
		Type: sequencefile.Type(s.SequenceFile.Type), Bytes: s.SequenceFile.Class == ClassBytes,
	})
}
