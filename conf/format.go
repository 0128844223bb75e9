package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/logfmt"
	"github.com/out-hdfs/out_hdfs/codec/ltsv"
	"github.com/out-hdfs/out_hdfs/codec/schema"
)

// FormatSettings say how records are written, for all formats or for several.
type FormatSettings struct {
	Name        string
	Compression string // one of what the format takes
	Level       int    // 0 is the compression's own default
	DateKey     string // "" leaves the date out
	DateFormat  json.DateFormat
	TagKey      string // "" leaves the tag out
	MetadataKey string // "" leaves the metadata out
	GroupKey    string // "" leaves the group out
	TextKey     *event.Accessor
	Columns     string // as columns.Parse reads it; "" is none
}

// format is a built-in format: what it may be compressed with, the default
// first, its own options and checks, and its construction.
type format struct {
	name         string
	compressions []string
	rows         bool             // its files are compressed as a whole, and named so
	columns      bool             // it takes the option columns
	options      func() []Option  // nil for none
	check        func(p *parsing) // nil for none
	make         func(s *Settings, open SchemaOpener) (codec.Format, error)
}

// formats are the built-in formats, the default first: a new one is a package
// and a line here, and a file beside this one if it has options of its own.

func formats() []format {
	return []format{
		rowsOf(FormatJSON, func(s *Settings) (codec.BlockFormat, error) { return json.New(s.lines()).(codec.BlockFormat), nil }),
		textFormat(),
		csvFormat(),
		labeledFormat(FormatLTSV, ltsv.New),
		labeledFormat("logfmt", logfmt.New),
		sequenceFileFormat(),
		parquetFormat(),
		avroFormat(),
	}
}

// FormatJSON is the default format.
const FormatJSON = "json"

// rowsOf is a format of rows that the same compressions fit.
func rowsOf(name string, make func(s *Settings) (codec.BlockFormat, error)) format {
	return format{name: name, rows: true, compressions: compress.Names(), make: func(s *Settings, _ SchemaOpener) (codec.Format, error) {
		f, err := make(s)
		if err != nil {
			return nil, err
		}
		return compress.Wrap(f, s.Format.Compression, s.Format.Level)
	}}
}

// SchemaOpener opens the schemas of a format that has them: schema.Open.
type SchemaOpener func(schema.Options) (*schema.Schemas, error)

// formatOptions are those of all formats, then each one's own.
func formatOptions(env Environment) []Option {
	all := commonOptions(env)
	for _, f := range formats() {
		if f.options != nil {
			all = append(all, f.options()...)
		}
	}
	return inGroup("Format", all...)
}

func commonOptions(env Environment) []Option {
	return []Option{
		Option{Key: KeyFormat, Default: FormatJSON,
			Help: "How records are written."}.choice(func(s *Settings) *string { return &s.Format.Name }, env.Formats...),
		compressionOption(env),
		levelOption(),
		Option{Key: KeyJSONDateKey, Kind: Text, Default: json.DefaultDateKey, Empty: true,
			Help: "The key that an event's time is written under; `false` leaves it out."}.
			text(func(s *Settings) *string { return &s.Format.DateKey }, dateKey),
		dateFormatOption(),
		Option{Key: KeyJSONTagKey, Kind: Text, DefaultText: "off", Empty: true,
			Help: "The key that the tag is written under; `false` leaves it out.", Example: "tag"}.
			text(func(s *Settings) *string { return &s.Format.TagKey }, outsideKey("tag")),
		Option{Key: KeyJSONMetadataKey, Kind: Text, DefaultText: "off", Empty: true,
			Help:    "The key that an event's metadata is written under, if it has any: what OpenTelemetry says of a log record beside its body.",
			Example: "metadata"}.text(func(s *Settings) *string { return &s.Format.MetadataKey }, outsideKey("metadata")),
		Option{Key: KeyJSONGroupKey, Kind: Text, DefaultText: "off", Empty: true,
			Help:    "The key that what an event's group has in common is written under, if it is in one: OpenTelemetry's resource and scope.",
			Example: "group"}.text(func(s *Settings) *string { return &s.Format.GroupKey }, outsideKey("group")),
	}
}

// compressionOption takes what any built-in format takes; check looks at the
// format.
func compressionOption(env Environment) Option {
	var all, defaults []string
	for _, format := range env.Formats {
		own := Compressions(format)
		for _, name := range own {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		if own[0] != compress.None {
			defaults = append(defaults, fmt.Sprintf("%s: `%s`", format, own[0]))
		}
	}
	return Option{Key: KeyCompression, DefaultText: strings.Join(append([]string{"`none`"}, defaults...), "; "),
		Help: "How files are compressed, as Hadoop and its readers expect it. It adds its extension to the names of files of rows, such as `.json.gz`.",
	}.choice(func(s *Settings) *string { return &s.Format.Compression }, all...)
}

func levelOption() Option {
	return Option{Key: KeyCompressionLevel, Kind: Number, DefaultText: "by compression",
		Help: "How much work compression does: `gzip` 1 to 9 (default 5), `zstd` 1 to 22 (1, in four steps: an open part takes 1 MB, 2 MB from 3 on, " +
			"5 MB from 6 on and 36 MB from 10 on), `snappy` 1 to 3 (1), `lz4` 1 to 9 (1), `bzip2` 1 to 9 (9), `deflate` 1 to 9 (5).",
		parse: func(s *Settings, text string) error {
			v, err := strconv.Atoi(text)
			if err != nil || v < 1 {
				return fmt.Errorf("use a whole number from 1 on")
			}
			s.Format.Level = v
			return nil
		},
		render: func(s *Settings) (string, bool) { return strconv.Itoa(s.Format.Level), s.Format.Level > 0 },
	}
}

func dateFormatOption() Option {
	return Option{Key: KeyJSONDateFormat, Kind: Choice, Default: json.ISO8601.String(), Allowed: json.DateFormats(),
		Help: "How an event's time is written, as in Fluent Bit's own outputs.",
		parse: func(s *Settings, text string) (err error) {
			s.Format.DateFormat, err = json.ParseDateFormat(text)
			return err
		},
		render: func(s *Settings) (string, bool) { return s.Format.DateFormat.String(), true },
	}.of(func(s *Settings) bool { return !s.hasSchema() })
}

// dateKey reads a key that is on by default.
func dateKey(text string) (string, error) {
	if on, ok := parseBool(text); ok {
		if on {
			return json.DefaultDateKey, nil
		}
		return "", nil
	}
	return text, checkPlain(text)
}

// outsideKey reads a key that is off by default and has no name of its own.
func outsideKey(example string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if on, ok := parseBool(text); ok {
			if on {
				return "", fmt.Errorf("name the key, such as %s, or leave it out with false", example)
			}
			return "", nil
		}
		return text, checkPlain(text)
	}
}

// checkFormat looks at what concerns the format.
func (p *parsing) checkFormat() {
	p.checkCompression()
	p.checkOutside()
	if p.failed[KeyFormat] {
		return
	}
	for _, f := range formats() {
		if f.name == p.settings.Format.Name && f.check != nil {
			f.check(p)
		}
	}
	p.checkSuffix()
	p.dropUnused()
}

// checkCompression looks at the format's own compressions, and sets its
// default.
func (p *parsing) checkCompression() {
	s := &p.settings
	if p.failed[KeyFormat] || p.failed[KeyCompression] {
		return
	}
	own := Compressions(s.Format.Name)
	switch {
	case s.Format.Compression == "":
		s.Format.Compression = own[0]
	case !slices.Contains(own, s.Format.Compression):
		p.wrong(KeyCompression, "%s %s takes one of %s", KeyFormat, s.Format.Name, strings.Join(own, ", "))
		return
	}
	if s.hasSchema() {
		return
	}
	if err := compress.Check(s.Format.Compression, s.Format.Level); err != nil {
		p.wrong(KeyCompressionLevel, "%w", err)
	}
}

// checkOutside looks at the keys of what lies outside the record.
func (p *parsing) checkOutside() {
	s, named := &p.settings, map[string]string{}
	for _, k := range []struct{ key, name string }{
		{KeyJSONDateKey, s.Format.DateKey}, {KeyJSONTagKey, s.Format.TagKey},
		{KeyJSONMetadataKey, s.Format.MetadataKey}, {KeyJSONGroupKey, s.Format.GroupKey},
	} {
		if other := named[k.name]; other != "" {
			p.wrong(k.key, "it is also %s; a line can't have both under one key", other)
		} else if k.name != "" {
			named[k.name] = k.key
		}
	}
}

// dropUnused warns of options that the format has no use for, and forgets them.
func (p *parsing) dropUnused() {
	for _, o := range Options(p.env) {
		if !o.ofFormat || o.effective(&p.settings) || !p.has(o.Key) || p.failed[o.Key] {
			continue
		}
		p.warn(o.Key, "it has no effect with %s %s", KeyFormat, p.settings.Format.Name)
		if err := o.parse(&p.settings, o.Default); err != nil {
			p.mistake(o, o.Default, err)
		}
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

// takesColumns is the predicate of the option columns.
func takesColumns(s *Settings) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.name == s.Format.Name && f.columns })
}

// OpenFormat makes the format of a configuration alone, for who only encodes.
func OpenFormat(lookup Lookup, env Environment) (codec.Format, error) {
	s, _, err := Parse(lookup, env)
	if err != nil {
		return nil, err
	}
	return s.NewFormat(env.OpenSchema)
}

// NewFormat makes the configured format, which Parse has found among formats.
func (s *Settings) NewFormat(open SchemaOpener) (codec.Format, error) {
	for _, f := range formats() {
		if f.name != s.Format.Name {
			continue
		}
		made, err := f.make(s, open)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", KeyFormat, s.Format.Name, err)
		}
		return made, nil
	}
	return nil, fmt.Errorf("bug: %s %s passed the checks and isn't built in", KeyFormat, s.Format.Name)
}

// isFormat is the predicate of an option that belongs to one of the formats.
func isFormat(names ...string) func(*Settings) bool {
	return func(s *Settings) bool { return slices.Contains(names, s.Format.Name) }
}

func (s *Settings) lines() json.Options {
	return json.Options{
		DateKey: s.Format.DateKey, DateFormat: s.Format.DateFormat, TagKey: s.Format.TagKey,
		MetadataKey: s.Format.MetadataKey, GroupKey: s.Format.GroupKey,
	}
}

func (s *Settings) columnValues() columns.Options {
	return columns.Options{
		DateKey: s.Format.DateKey, DateFormat: s.Format.DateFormat, TagKey: s.Format.TagKey,
		MetadataKey: s.Format.MetadataKey, GroupKey: s.Format.GroupKey,
	}
}
