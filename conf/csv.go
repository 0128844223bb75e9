package conf

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/csv"
)

// FormatCSV writes rows of columns.
const FormatCSV = "csv"

// CSVSettings say what stands between and behind the fields.
type CSVSettings struct {
	Delimiter  string // CSVComma, CSVTab, CSVSemicolon or CSVPipe
	Header     bool
	LineEnding string // LineEndingLF or LineEndingCRLF
}

// The values of CSVSettings.
const (
	CSVComma     = "comma"
	CSVTab       = "tab"
	CSVSemicolon = "semicolon"
	CSVPipe      = "pipe"

	LineEndingLF   = "lf"
	LineEndingCRLF = "crlf"
)

func csvFormat() format {
	f := rowsOf(FormatCSV, (*Settings).csv)
	f.columns = true
	f.options = func() []Option {
		return []Option{
			columnsOption().of(takesColumns),
			Option{Key: KeyCSVDelimiter, Default: CSVComma, Help: "What stands between the fields of `csv`."}.
				choice(func(s *Settings) *string { return &s.CSV.Delimiter }, CSVComma, CSVTab, CSVSemicolon, CSVPipe).of(isFormat(FormatCSV)),
			Option{Key: KeyCSVHeader, Default: "false", Help: "With `csv`: each file's first row names the columns."}.
				flag(func(s *Settings) *bool { return &s.CSV.Header }).of(isFormat(FormatCSV)),
			Option{Key: KeyCSVLineEnding, Default: LineEndingLF, Help: "What ends a row of `csv`."}.
				choice(func(s *Settings) *string { return &s.CSV.LineEnding }, LineEndingLF, LineEndingCRLF).of(isFormat(FormatCSV)),
		}
	}
	f.check = func(p *parsing) {
		if p.settings.Format.Columns == "" {
			p.wrong(KeyColumns, "%s %s needs it; name the record's keys, such as date, level, log", KeyFormat, FormatCSV)
		}
	}
	return f
}

func columnsOption() Option {
	return Option{Key: KeyColumns, Kind: List,
		Help: "What `csv`, which needs it, and formats of labeled values such as `ltsv`, which else write all fields, write of a record: keys, record accessors, or either under another name as `name=$accessor`. " +
			"A key that the record doesn't have may be `json_date_key`, `json_tag_key`, `json_metadata_key` or `json_group_key`, as in a line of JSON. " +
			"Write it as one text, also in YAML: of a YAML list Fluent Bit hands on only the first element.",
		Example: "date, level, pod=$kubernetes['pod_name'], tag=$TAG, log",
	}.text(func(s *Settings) *string { return &s.Format.Columns }, func(text string) (string, error) {
		if err := checkPlain(text); err != nil {
			return "", err
		}
		list, err := columns.Parse(text)
		if err == nil {
			err = checkSeparated(list)
		}
		return text, err
	})
}

func (s *Settings) csv() (codec.BlockFormat, error) {
	list, err := columns.Parse(s.Format.Columns)
	if err != nil {
		return nil, err
	}
	o := csv.Options{Columns: list, Values: s.columnValues(), CRLF: s.CSV.LineEnding == LineEndingCRLF, Header: s.CSV.Header}
	switch s.CSV.Delimiter {
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
