package conf

import (
	"bytes"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/schema"
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
			f, err := s.NewFormat(schema.Open)
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
			if _, err := s.NewFormat(schema.Open); err != nil {
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
			got := own{s.Format.TextKey.String(), s.Format.Columns, s.CSV.Delimiter, s.CSV.Header, s.CSV.LineEnding, s.SequenceFile.Type, s.SequenceFile.Value, s.SequenceFile.Class}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestMetadataAndGroups: what OpenTelemetry says beside a record's body is in
// every format that was asked for it, and in none that wasn't.
func TestMetadataAndGroups(t *testing.T) {
	chunk := eventtest.OTLP(1, 1)
	for _, f := range formats() {
		for _, asked := range []bool{true, false} {
			values := []string{KeyFormat, f.name, KeyCompression, compress.None, KeyColumns, "log,meta,group", KeyTextKey, "nothing", KeyStateDir, t.TempDir()}
			if asked {
				values = append(values, KeyJSONMetadataKey, "meta", KeyJSONGroupKey, "group")
			}
			s := parse(t, with(values...))
			format, err := s.NewFormat(schema.Open)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w, err := format.NewWriter(&out, codec.Meta{})
			if err != nil {
				t.Fatal(err)
			}
			events, _ := eventtest.Read(chunk)
			if rejects, err := w.Write(&event.Batch{Tag: "tag", Events: events}); err != nil || len(rejects) > 0 {
				t.Fatalf("%s: %v, error %v", f.name, rejects, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"severity_text", "service-0"} {
				if got := bytes.Contains(out.Bytes(), []byte(text)); got != asked {
					t.Errorf("%s: asked %v, %s is there %v", f.name, asked, text, got)
				}
			}
		}
	}
}
