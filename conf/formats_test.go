package conf

import (
	"slices"
	"testing"
)

func TestExtensionOfEveryFormat(t *testing.T) {
	for _, tc := range []struct {
		format, compression, want string
	}{
		{"json", "", ".json"},
		{"json", "zstd", ".json.zst"},
		{"text", "none", ".txt"},
		{"text", "gzip", ".txt.gz"},
		{"csv", "bzip2", ".csv.bz2"},
		{"ltsv", "lz4", ".ltsv.lz4"},
		{"sequencefile", "", ".seq"},
		{"sequencefile", "snappy", ".seq"},
	} {
		t.Run(tc.format+" "+tc.compression, func(t *testing.T) {
			s := parse(t, with(KeyFormat, tc.format, KeyCompression, tc.compression, KeyColumns, "a"))
			f, err := s.newFormat()
			if err != nil || f.Extension() != tc.want {
				t.Errorf("got %v, error %v", f, err)
			}
		})
	}
}

// Whatever passes the checks can be built.
func TestEveryFormatTakesItsCompressions(t *testing.T) {
	for _, f := range formats() {
		if len(f.compressions) == 0 || !slices.Contains(FormatNames(), f.name) {
			t.Errorf("%s takes no compression, or isn't listed", f.name)
		}
		for _, compression := range f.compressions {
			s := parse(t, with(KeyFormat, f.name, KeyCompression, compression, KeyColumns, "a"))
			if _, err := s.newFormat(); err != nil {
				t.Errorf("%s %s: %v", f.name, compression, err)
			}
		}
	}
}

func TestEachFormatTakesItsOwnKeys(t *testing.T) {
	keys := []string{
		KeyTextKey, "msg", KeyColumns, "a, b=$c['d']", KeyCSVDelimiter, "PIPE", KeyCSVHeader, "on", KeyCSVLineEnding, "crlf",
		KeySequenceFileType, "record", KeySequenceFileValue, "text", KeySequenceFileClass, "bytes",
	}
	type own struct {
		textKey, columns, delimiter string
		header                      bool
		ending, typ, value, class   string
	}
	for format, want := range map[string]own{
		"json":         {"$['log']", "", "comma", false, "lf", "block", "json", "text"},
		"text":         {"$['msg']", "", "comma", false, "lf", "block", "json", "text"},
		"csv":          {"$['log']", "a, b=$c['d']", "pipe", true, "crlf", "block", "json", "text"},
		"ltsv":         {"$['log']", "a, b=$c['d']", "comma", false, "lf", "block", "json", "text"},
		"sequencefile": {"$['msg']", "", "comma", false, "lf", "record", "text", "bytes"},
	} {
		t.Run(format, func(t *testing.T) {
			s := parse(t, with(append(keys, KeyFormat, format)...))
			got := own{s.TextKey.String(), s.Columns, s.CSVDelimiter, s.CSVHeader, s.CSVLineEnding, s.SequenceFileType, s.SequenceFileValue, s.SequenceFileClass}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}
