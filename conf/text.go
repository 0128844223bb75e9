package conf

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

// FormatText writes one text of each record.
const FormatText = "text"

func textFormat() format {
	f := rowsOf(FormatText, func(s *Settings) (codec.BlockFormat, error) { return s.text(), nil })
	f.options = func() []Option {
		return []Option{
			accessorOption(Option{Key: KeyTextKey, Default: text.DefaultKey,
				Help:    "What `text` writes: a key of the record or a record accessor. A record without it is written as JSON.",
				Example: "$kubernetes['labels']['app']"}).of(usesText),
		}
	}
	return f
}

// usesText is true of SequenceFiles too, whose values may be texts.
func usesText(s *Settings) bool {
	return s.Format.Name == FormatText || s.Format.Name == FormatSequenceFile && s.SequenceFile.Value == FormatText
}

func accessorOption(o Option) Option {
	o.Kind = Accessor
	o.parse = func(s *Settings, text string) (err error) {
		if err = checkPlain(text); err == nil {
			s.Format.TextKey, err = event.ParseKey(text)
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) { return s.Format.TextKey.String(), true }
	return o
}

func (s *Settings) text() codec.BlockFormat {
	return text.New(text.Options{Key: s.Format.TextKey, JSON: s.lines()}).(codec.BlockFormat)
}
