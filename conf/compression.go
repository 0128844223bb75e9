package conf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/compress"
)

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
	}.choice(func(s *Settings) *string { return &s.Compression }, all...)
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
			s.CompressionLevel = v
			return nil
		},
		render: func(s *Settings) (string, bool) { return strconv.Itoa(s.CompressionLevel), s.CompressionLevel > 0 },
	}
}

// checkCompression looks at the format's own compressions, and sets its
// default.
func (p *parsing) checkCompression() {
	s := &p.settings
	if p.failed[KeyFormat] || p.failed[KeyCompression] {
		return
	}
	own := Compressions(s.Format)
	switch {
	case s.Compression == "":
		s.Compression = own[0]
	case !slices.Contains(own, s.Compression):
		p.wrong(KeyCompression, "%s %s takes one of %s", KeyFormat, s.Format, strings.Join(own, ", "))
		return
	}
	if usesSchema(s) {
		return
	}
	if err := compress.Check(s.Compression, s.CompressionLevel); err != nil {
		p.wrong(KeyCompressionLevel, "%w", err)
	}
}
