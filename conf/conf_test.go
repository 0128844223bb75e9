package conf

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

func environment() Environment {
	return Environment{Formats: FormatNames(), Schemes: []string{"file", "hdfs"}, OpenSchema: schema.Open}
}

// with is the least configuration and pairs of keys and values.
func with(pairs ...string) map[string]string {
	values := map[string]string{KeyPath: "hdfs://prod/logs"}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return values
}

func parse(t *testing.T, values map[string]string) Settings {
	t.Helper()
	s, _, err := Parse(Map(values), environment())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaults(t *testing.T) {
	s := parse(t, with())
	text := s.Format.TextKey.String()
	s.Format.TextKey = nil
	want := Settings{
		Target:       TargetSettings{Location: fs.Location{Scheme: "hdfs", Authority: "prod", Path: "/logs"}},
		Format:       FormatSettings{Name: "json", Compression: "none", DateKey: "date", DateFormat: json.ISO8601},
		CSV:          CSVSettings{Delimiter: "comma", LineEnding: "lf"},
		SequenceFile: SequenceFileSettings{Type: "block", Value: "json", Class: "text"},
		Schema:       SchemaSettings{FreeForm: "json"},
		Buckets:      BucketSettings{Assigner: AssignerDatetime, Format: "yyyy-MM-dd--HH", Zone: time.Local, Time: "record", MaxOpen: 256},
		Rolling: RollingSettings{
			Policy: RollingDefault, Size: 128e6, Interval: 15 * time.Minute, Inactivity: 5 * time.Minute, CheckInterval: time.Minute,
		},
		Files:    FileSettings{Prefix: "part", FileMode: 0o644, DirMode: 0o755},
		State:    StateSettings{Dir: "/var/lib/out_hdfs", DirIsDefault: true, Limit: 10e9, MemoryLimit: 256e6},
		Delivery: DeliverySettings{Uploads: 4, FlushTimeout: 3 * time.Second, ExitTimeout: 15 * time.Second},
	}
	if !reflect.DeepEqual(s, want) || text != "$['log']" {
		t.Errorf("got %+v, %s\nwant %+v", s, text, want)
	}
}

func TestEveryKeyIsTaken(t *testing.T) {
	suffix, zone := ".log.gz", "Asia/Shanghai"
	s := parse(t, map[string]string{
		"PATH": "/logs", "Default_Scheme": "hdfs://nn:8020",
		"format": "TEXT", "compression": "GZip", "compression_level": "9", "json_date_key": "@timestamp", "json_date_format": "EPOCH_MS", "json_tag_key": "tag", "json_metadata_key": "meta", "json_group_key": "group", "text_key": "$a['b']",
		"assigner": "Partition", "bucket_timezone": zone, "bucket_time": "$time", "partition_by": "dt=%Y, ns=$ns",
		"rolling_policy": "default", "roll_size": "64MiB", "roll_interval": "1h30m", "roll_inactivity": "0", "bucket_check_interval": "500ms",
		"max_open_buckets": "7", "part_prefix": "p", "part_suffix": suffix, "writer_id": "edge-7_a.b", "file_mode": "640", "dir_mode": "0o750",
		"state_dir": "/data//state/", "state_limit": "1GB", "memory_limit": "64m", "uploads": "1", "flush_timeout": "2", "exit_timeout": "1d",
		"fs.hdfs.limit.total": "9", "fs.hdfs.limit.input": "-1", "fs.hdfs.limit.output": "3", "fs.hdfs.limit.timeout": "250", "fs.hdfs.limit.stream-timeout": "5m",
	})
	text, location := s.Format.TextKey.String(), s.Buckets.Zone.String()
	s.Format.TextKey, s.Buckets.Zone = nil, nil
	want := Settings{
		Target: TargetSettings{Location: fs.Location{Scheme: "hdfs", Authority: "nn:8020", Path: "/logs"}, DefaultScheme: "hdfs://nn:8020"},
		Format: FormatSettings{
			Name: "text", Compression: "gzip", Level: 9, DateKey: "@timestamp", DateFormat: json.EpochMillis, TagKey: "tag",
			MetadataKey: "meta", GroupKey: "group",
		},
		CSV:          CSVSettings{Delimiter: "comma", LineEnding: "lf"},
		SequenceFile: SequenceFileSettings{Type: "block", Value: "json", Class: "text"},
		Schema:       SchemaSettings{FreeForm: "json"},
		Buckets: BucketSettings{
			Assigner: AssignerPartition, Format: "yyyy-MM-dd--HH", Time: "$time", PartitionBy: "dt=%Y, ns=$ns", MaxOpen: 7,
		},
		Rolling: RollingSettings{
			Policy: RollingDefault, Size: 64 << 20, Interval: 90 * time.Minute, CheckInterval: 500 * time.Millisecond,
		},
		Files:    FileSettings{Prefix: "p", Suffix: &suffix, WriterID: "edge-7_a.b", FileMode: 0o640, DirMode: 0o750},
		State:    StateSettings{Dir: "/data/state", Limit: 1e9, MemoryLimit: 64e6},
		Delivery: DeliverySettings{Uploads: 1, FlushTimeout: 2 * time.Second, ExitTimeout: 24 * time.Hour},
		Limits:   map[string]fs.LimitOptions{"hdfs": {Total: 9, Output: 3, Timeout: 250 * time.Millisecond, StreamTimeout: 5 * time.Minute}},
	}
	if !reflect.DeepEqual(s, want) || text != "$a['b']" || location != zone {
		t.Errorf("got %+v, %s, %s\nwant %+v", s, text, location, want)
	}
}

func TestNoneMeansEmpty(t *testing.T) {
	s := parse(t, with(KeyPartSuffix, "none", KeyJSONDateKey, "None", KeyJSONTagKey, "NONE", KeyFileMode, "none", KeyDirMode, "none", KeyBucketTimezone, "none"))
	if s.Files.Suffix == nil || *s.Files.Suffix != "" || s.Format.DateKey != "" || s.Format.TagKey != "" || s.Files.FileMode != 0 || s.Files.DirMode != 0 || s.Buckets.Zone != time.Local {
		t.Errorf("got %+v", s)
	}
}

func TestKeysThatAreSwitches(t *testing.T) {
	for _, tc := range []struct{ name, dateKey, tagKey, wantDate, wantTag string }{
		{"both off", "false", "off", "", ""},
		{"no", "No", "no", "", ""},
		{"the date on", "true", "", "date", ""},
		{"names", "ts", "tag", "ts", "tag"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parse(t, with(KeyJSONDateKey, tc.dateKey, KeyJSONTagKey, tc.tagKey))
			if s.Format.DateKey != tc.wantDate || s.Format.TagKey != tc.wantTag {
				t.Errorf("date %q, tag %q", s.Format.DateKey, s.Format.TagKey)
			}
		})
	}
}

func TestTargets(t *testing.T) {
	for _, tc := range []struct{ name, path, scheme, defaultFS, want string }{
		{"an authority of its own", "hdfs://a/x", "hdfs://b", "", "hdfs://a/x"},
		{"no scheme at all", "/x", "", "", "file:///x"},
		{"Hadoop's default", "/x", "", "hdfs://ns", "hdfs://ns/x"},
		{"default_scheme over Hadoop's", "/x", "file", "hdfs://ns", "file:///x"},
		{"no authority, Hadoop's default", "hdfs:///x", "", "hdfs://ns", "hdfs://ns/x"},
		{"no authority, no default", "hdfs:///x", "", "", "hdfs:///x"},
		{"capitals", "HDFS://NS/X", "", "", "hdfs://NS/X"},
		{"a local path with a colon", "file:///a:b", "", "", "file:///a:b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := environment()
			env.DefaultFS = tc.defaultFS
			s, _, err := Parse(Map(map[string]string{KeyPath: tc.path, KeyDefaultScheme: tc.scheme}), env)
			if err != nil {
				t.Fatal(err)
			}
			if s.Target.Location.String() != tc.want {
				t.Errorf("got %s, want %s", s.Target.Location, tc.want)
			}
		})
	}
}

func TestStateDirectory(t *testing.T) {
	for _, tc := range []struct {
		name, given, systemd, want string
		unchosen                   bool
	}{
		{"nothing", "", "", "/var/lib/out_hdfs", true},
		{"systemd's", "", "/var/lib/fluent-bit", "/var/lib/fluent-bit", true},
		{"the first of systemd's", "", "/var/lib/a:/var/lib/b", "/var/lib/a", true},
		{"an empty first", "", ":/var/lib/b", "/var/lib/out_hdfs", true},
		{"the key wins", "/data/s", "/var/lib/a", "/data/s", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := environment()
			env.StateDirectory = tc.systemd
			s, _, err := Parse(Map(with(KeyStateDir, tc.given)), env)
			if err != nil || s.State.Dir != tc.want || s.State.DirIsDefault != tc.unchosen {
				t.Errorf("got %s, unchosen %v, error %v", s.State.Dir, s.State.DirIsDefault, err)
			}
		})
	}
}

// mistakes are the keys of an error of Parse, in order.
func mistakes(t *testing.T, err error) []string {
	t.Helper()
	var keys []string
	var each func(error)
	each = func(err error) {
		if m, ok := err.(*Mistake); ok {
			keys = append(keys, m.Key)
			if strings.Contains(m.Error(), "\n") || m.Err == nil || m.Err.Error() == "" {
				t.Errorf("not one line with a reason: %q", m)
			}
			return
		}
		if j, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range j.Unwrap() {
				each(e)
			}
			return
		}
		t.Errorf("%v isn't a Mistake", err)
	}
	each(err)
	return keys
}

func TestMistakes(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, tc := range []struct {
		name   string
		values map[string]string
		keys   []string
	}{
		{"no path", map[string]string{}, []string{KeyPath}},
		{"path none", with(KeyPath, "none"), []string{KeyPath}},
		{"relative path", with(KeyPath, "logs"), []string{KeyPath}},
		{"relative file path", with(KeyPath, "file:logs"), []string{KeyPath}},
		{"two slashes for three", with(KeyPath, "file://logs/x"), []string{KeyPath}},
		{"unknown scheme", with(KeyPath, "s3://bucket/x"), []string{KeyPath}},
		{"parent in path", with(KeyPath, "hdfs://ns/a/../b"), []string{KeyPath}},
		{"hidden path", with(KeyPath, "hdfs://ns/_logs"), []string{KeyPath}},
		{"colon in a path on HDFS", with(KeyPath, "hdfs://ns/a:b"), []string{KeyPath}},
		{"control character in path", with(KeyPath, "hdfs://ns/a\x01b"), []string{KeyPath}},
		{"path too long", with(KeyPath, "hdfs://ns/"+strings.Repeat("a/", 600)), []string{KeyPath}},
		{"unknown default scheme", with(KeyPath, "/x", KeyDefaultScheme, "s3"), []string{KeyDefaultScheme}},
		{"default scheme that is a path", with(KeyDefaultScheme, "/x"), []string{KeyDefaultScheme}},
		{"unknown format", with(KeyFormat, "xml"), []string{KeyFormat}},
		{"unknown compression", with(KeyCompression, "rar"), []string{KeyCompression}},
		{"level without compression", with(KeyCompressionLevel, "1"), []string{KeyCompressionLevel}},
		{"level too high", with(KeyCompression, "gzip", KeyCompressionLevel, "10"), []string{KeyCompressionLevel}},
		{"level zero", with(KeyCompression, "gzip", KeyCompressionLevel, "0"), []string{KeyCompressionLevel}},
		{"level of an unknown compression", with(KeyCompression, "rar", KeyCompressionLevel, "99"), []string{KeyCompression}},
		{"compression of other formats", with(KeyFormat, "json", KeyCompression, "deflate"), []string{KeyCompression}},
		{"csv without columns", with(KeyFormat, "csv"), []string{KeyColumns}},
		{"csv with no columns", with(KeyFormat, "csv", KeyColumns, "none"), []string{KeyColumns}},
		{"a column twice", with(KeyFormat, "csv", KeyColumns, "a,$a"), []string{KeyColumns}},
		{"a column that is no accessor", with(KeyFormat, "ltsv", KeyColumns, "$a['b"), []string{KeyColumns}},
		{"an unknown delimiter", with(KeyFormat, "csv", KeyColumns, "a", KeyCSVDelimiter, ","), []string{KeyCSVDelimiter}},
		{"a header that is neither on nor off", with(KeyFormat, "csv", KeyColumns, "a", KeyCSVHeader, "maybe"), []string{KeyCSVHeader}},
		{"an unknown line ending", with(KeyFormat, "csv", KeyColumns, "a", KeyCSVLineEnding, "cr"), []string{KeyCSVLineEnding}},
		{"an unknown type of sequence file", with(KeyFormat, "sequencefile", KeySequenceFileType, "file"), []string{KeySequenceFileType}},
		{"unknown date format", with(KeyJSONDateFormat, "rfc"), []string{KeyJSONDateFormat}},
		{"tag key on", with(KeyJSONTagKey, "on"), []string{KeyJSONTagKey}},
		{"tag under the date's key", with(KeyJSONTagKey, "date"), []string{KeyJSONTagKey}},
		{"metadata on", with(KeyJSONMetadataKey, "on"), []string{KeyJSONMetadataKey}},
		{"metadata under the tag's key", with(KeyJSONTagKey, "x", KeyJSONMetadataKey, "x"), []string{KeyJSONMetadataKey}},
		{"metadata, group and date under one key", with(KeyJSONMetadataKey, "date", KeyJSONGroupKey, "date"), []string{KeyJSONMetadataKey, KeyJSONGroupKey}},
		{"text key no accessor", with(KeyTextKey, "$a['b"), []string{KeyTextKey}},
		{"unknown assigner", with(KeyAssigner, "hive"), []string{KeyAssigner}},
		{"pattern with week year", with(KeyBucketFormat, "YYYY-MM-dd"), []string{KeyBucketFormat}},
		{"pattern with a colon", with(KeyBucketFormat, "HH:mm"), []string{KeyBucketFormat}},
		{"pattern that hides", with(KeyBucketFormat, "_yyyy"), []string{KeyBucketFormat}},
		{"pattern none", with(KeyBucketFormat, "none"), []string{KeyBucketFormat}},
		{"unknown zone", with(KeyBucketTimezone, "Europe/Bonn"), []string{KeyBucketTimezone}},
		{"unknown time source", with(KeyBucketTime, "now"), []string{KeyBucketTime}},
		{"time source no accessor", with(KeyBucketTime, "$"), []string{KeyBucketTime}},
		{"pattern without datetime", with(KeyAssigner, "base_path", KeyBucketFormat, "yyyy"), []string{KeyBucketFormat}},
		{"pattern with partition", with(KeyAssigner, "partition", KeyPartitionBy, "a=$a", KeyBucketFormat, "yyyy"), []string{KeyBucketFormat}},
		{"partition without fields", with(KeyAssigner, "partition"), []string{KeyPartitionBy}},
		{"fields without partition", with(KeyPartitionBy, "a=$a"), []string{KeyPartitionBy}},
		{"bad fields", with(KeyAssigner, "partition", KeyPartitionBy, "a"), []string{KeyPartitionBy}},
		{"time source with base_path", with(KeyAssigner, "base_path", KeyBucketTime, "arrival"), []string{KeyBucketTime}},
		{"unknown policy", with(KeyRollingPolicy, "never"), []string{KeyRollingPolicy}},
		{"nothing rolls", with(KeyRollSize, "0", KeyRollInterval, "0", KeyRollInactivity, "0s"), []string{KeyRollingPolicy}},
		{"limits on checkpoint", with(KeyRollingPolicy, "on_checkpoint", KeyRollSize, "1M", KeyRollInterval, "1m"), []string{KeyRollSize, KeyRollInterval}},
		{"negative size", with(KeyRollSize, "-1"), []string{KeyRollSize}},
		{"garbage size", with(KeyRollSize, "big"), []string{KeyRollSize}},
		{"size overflow", with(KeyRollSize, "99999999999G"), []string{KeyRollSize}},
		{"size over the state", with(KeyRollSize, "6G"), []string{KeyRollSize}},
		{"negative duration", with(KeyRollInterval, "-5m"), []string{KeyRollInterval}},
		{"duration overflow", with(KeyRollInterval, "999999999999d"), []string{KeyRollInterval}},
		{"duration beyond sense", with(KeyRollInterval, "100000d"), []string{KeyRollInterval}},
		{"no check interval", with(KeyBucketCheckInterval, "0"), []string{KeyBucketCheckInterval}},
		{"no buckets", with(KeyMaxOpenBuckets, "0"), []string{KeyMaxOpenBuckets}},
		{"fraction of buckets", with(KeyMaxOpenBuckets, "1.5"), []string{KeyMaxOpenBuckets}},
		{"prefix with slash", with(KeyPartPrefix, "a/b"), []string{KeyPartPrefix}},
		{"hidden prefix", with(KeyPartPrefix, "_part"), []string{KeyPartPrefix}},
		{"dot prefix", with(KeyPartPrefix, ".part"), []string{KeyPartPrefix}},
		{"no prefix", with(KeyPartPrefix, "none"), []string{KeyPartPrefix}},
		{"prefix with colon", with(KeyPartPrefix, "a:b"), []string{KeyPartPrefix}},
		{"prefix too long", with(KeyPartPrefix, long), []string{KeyPartPrefix}},
		{"suffix with slash", with(KeyPartSuffix, "/x"), []string{KeyPartSuffix}},
		{"suffix too long", with(KeyPartSuffix, long), []string{KeyPartSuffix}},
		{"suffix that Spark skips", with(KeyPartSuffix, ".json._COPYING_"), []string{KeyPartSuffix}},
		{"writer id with slash", with(KeyWriterID, "a/b"), []string{KeyWriterID}},
		{"writer id with blank", with(KeyWriterID, "a b"), []string{KeyWriterID}},
		{"writer id too long", with(KeyWriterID, long), []string{KeyWriterID}},
		{"decimal mode", with(KeyFileMode, "0689"), []string{KeyFileMode}},
		{"mode too big", with(KeyDirMode, "7777"), []string{KeyDirMode}},
		{"folders that can't be entered", with(KeyDirMode, "0644"), []string{KeyDirMode}},
		{"mode zero", with(KeyFileMode, "0"), []string{KeyFileMode}},
		{"relative state", with(KeyStateDir, "state"), []string{KeyStateDir}},
		{"state at the root", with(KeyStateDir, "/../"), []string{KeyStateDir}},
		{"state inside the path", with(KeyPath, "file:///data", KeyStateDir, "/data/state"), []string{KeyStateDir}},
		{"path inside the state", with(KeyPath, "file:///data/logs", KeyStateDir, "/data"), []string{KeyStateDir}},
		{"path and state the same", with(KeyPath, "file:///data", KeyStateDir, "/data/"), []string{KeyStateDir}},
		{"state too small", with(KeyStateLimit, "10M", KeyRollSize, "1M"), []string{KeyStateLimit}},
		{"state too small for the default part", with(KeyStateLimit, "100M"), []string{KeyRollSize}},
		{"memory too small", with(KeyMemoryLimit, "1M"), []string{KeyMemoryLimit}},
		{"memory too small for the uploads", with(KeyMemoryLimit, "64M", KeyUploads, "64"), []string{KeyMemoryLimit}},
		{"the least memory is too small for four uploads", with(KeyMemoryLimit, "16M"), []string{KeyMemoryLimit}},
		{"no uploads", with(KeyUploads, "0"), []string{KeyUploads}},
		{"no flush timeout", with(KeyFlushTimeout, "0"), []string{KeyFlushTimeout}},
		{"no exit timeout", with(KeyExitTimeout, "0"), []string{KeyExitTimeout}},
		{"negative streams", with("fs.hdfs.limit.total", "-2"), []string{"fs.hdfs.limit.total"}},
		{"garbage patience", with("fs.file.limit.timeout", "soon"), []string{"fs.file.limit.timeout"}},
		{"invalid UTF-8", with(KeyJSONDateKey, "a\xff"), []string{KeyJSONDateKey}},
		{"all at once", map[string]string{KeyPath: "logs", KeyFormat: "xml", KeyRollSize: "x", KeyRollInterval: "y", KeyUploads: "many", KeyBucketFormat: "YYYY", KeyStateDir: "s"},
			[]string{KeyFormat, KeyRollSize, KeyRollInterval, KeyStateDir, KeyUploads, KeyPath, KeyBucketFormat}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, err := Parse(Map(tc.values), environment())
			if err == nil {
				t.Fatalf("accepted as %+v", s)
			}
			if keys := mistakes(t, err); !slices.Equal(keys, tc.keys) {
				t.Errorf("mistakes at %v, want %v:\n%v", keys, tc.keys, err)
			}
			if !reflect.DeepEqual(s, Settings{}) {
				t.Errorf("there are settings beside the error: %+v", s)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values map[string]string
		keys   []string
	}{
		{"nothing", with(), nil},
		{"a flush over Grace", with(KeyFlushTimeout, "5s"), []string{KeyFlushTimeout}},
		{"no time rolls", with(KeyRollInterval, "0", KeyRollInactivity, "0"), []string{KeyRollInterval}},
		{"checked too rarely", with(KeyRollInterval, "10s", KeyRollInactivity, "5s"), []string{KeyRollInterval, KeyRollInactivity}},
		{"text_key with json", with(KeyTextKey, "msg"), []string{KeyTextKey}},
		{"text_key with text", with(KeyTextKey, "msg", KeyFormat, "text"), nil},
		{"text_key with values of JSON", with(KeyTextKey, "msg", KeyFormat, "sequencefile"), []string{KeyTextKey}},
		{"text_key with values of text", with(KeyTextKey, "msg", KeyFormat, "sequencefile", KeySequenceFileValue, "text"), nil},
		{"columns with json", with(KeyColumns, "a"), []string{KeyColumns}},
		{"columns with ltsv", with(KeyColumns, "a", KeyFormat, "ltsv"), nil},
		{"options of csv with ltsv", with(KeyFormat, "ltsv", KeyCSVHeader, "true", KeyCSVDelimiter, "tab", KeyCSVLineEnding, "lf"),
			[]string{KeyCSVDelimiter, KeyCSVHeader, KeyCSVLineEnding}},
		{"options of sequencefile with text", with(KeyFormat, "text", KeySequenceFileType, "block", KeySequenceFileValue, "json", KeySequenceFileClass, "text"),
			[]string{KeySequenceFileType, KeySequenceFileValue, KeySequenceFileClass}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, warnings, err := Parse(Map(tc.values), environment())
			var keys []string
			for _, w := range warnings {
				key, _, _ := strings.Cut(w, ":")
				keys = append(keys, key)
			}
			if err != nil || !slices.Equal(keys, tc.keys) {
				t.Errorf("warnings %q, error %v", warnings, err)
			}
		})
	}
}

func TestAMistakeShowsItsValueButNoSecret(t *testing.T) {
	cause := errors.New("no good")
	for _, tc := range []struct {
		name string
		m    Mistake
		want string
	}{
		{"plain", Mistake{Key: "k", Value: "v\n", Err: cause}, `k "v\n": no good`},
		{"unset", Mistake{Key: "k", Err: cause}, `k: no good`},
		{"secret", Mistake{Key: "k", Value: "hush", Secret: true, Err: cause}, `k (not shown): no good`},
		{"long", Mistake{Key: "k", Value: strings.Repeat("v", 1000), Err: cause}, `k "` + strings.Repeat("v", longestShown) + `"…: no good`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.m.Error(); got != tc.want || !errors.Is(&tc.m, cause) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestTheTableIsSound looks at what the compiler doesn't.
func TestTheTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Options(environment()) {
		switch {
		case seen[o.Key] || o.Key != strings.ToLower(o.Key):
			t.Errorf("%s comes twice or has capitals", o.Key)
		case o.Kind == "" || o.Help == "" || o.Group == "" || o.parse == nil || o.render == nil:
			t.Errorf("%s lacks a kind, help, group, parser or renderer", o.Key)
		case (o.Kind == Choice) != (len(o.Allowed) > 0):
			t.Errorf("%s is a %s with the values %v", o.Key, o.Kind, o.Allowed)
		case o.Default == "" && o.DefaultText == "" && !o.Required && o.Key != KeyPartitionBy && o.Key != KeyColumns:
			t.Errorf("%s doesn't say what it is without a value", o.Key)
		}
		seen[o.Key] = true
		if o.Default != "" {
			if err := o.parse(&Settings{}, o.Default); err != nil {
				t.Errorf("%s: its default is refused: %v", o.Key, err)
			}
		}
		if o.Example != "" {
			if err := o.parse(&Settings{}, o.Example); err != nil {
				t.Errorf("%s: its example is refused: %v", o.Key, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	keys := make([]string, 0, 64)
	for _, o := range Options(environment()) {
		keys = append(keys, o.Key)
	}
	f.Add("path=hdfs://ns/x\nroll_size=1M\nroll_interval=90")
	f.Add("path=/x\ndefault_scheme=hdfs://ns\nassigner=partition\npartition_by=dt=%Y, a=$b['c']\nbucket_timezone=Asia/Kolkata")
	f.Add("path=file:///x\nrolling_policy=on_checkpoint\npart_suffix=none\njson_date_key=false\nfile_mode=none\nfs.hdfs.limit.timeout=5\nwriter_id=a")
	f.Add("path=file:///x\nassigner=base_path\nformat=text\ntext_key=$a[1]\nstate_dir=/s\nroll_size=1GiB\njson_tag_key=tag\nbucket_time=arrival")
	f.Add("path=/x\nformat=csv\ncolumns=a,b=$c['d']\ncsv_header=yes\ncsv_delimiter=tab")
	f.Add("path=/x\nformat=sequencefile\ncompression=deflate\nsequencefile_class=bytes")
	f.Add("path=/x\nformat=ltsv\njson_metadata_key=m\njson_group_key=no")
	f.Add("path=/x\ncompression=zstd\ncompression_level=19")
	f.Add("path=hdfs:///x\nbucket_format=%Y/%m\nbucket_time=$a['x y']\nfs.file.limit.total=-1\nexit_timeout=1h1s\npart_prefix=none")
	f.Fuzz(func(t *testing.T, lines string) {
		values := map[string]string{}
		for line := range strings.SplitSeq(lines, "\n") {
			if key, value, ok := strings.Cut(line, "="); ok {
				values[key] = value
			}
		}
		env := environment()
		s, _, err := Parse(Map(values), env)
		if err != nil {
			for _, key := range mistakes(t, err) {
				if !slices.Contains(keys, key) {
					t.Errorf("%q is no key", key)
				}
			}
			return
		}
		rendered := s.Values(env)
		again, _, err := Parse(Map(rendered), env)
		if err != nil {
			t.Fatalf("%v was rendered as %v, which is refused: %v", values, rendered, err)
		}
		if !maps.Equal(again.Values(env), rendered) {
			t.Errorf("%v is rendered as %v", rendered, again.Values(env))
		}
		// Those two are equal if their texts are, which the rendering shows.
		s.Format.TextKey, again.Format.TextKey, s.Buckets.Zone, again.Buckets.Zone = nil, nil, nil, nil
		if !reflect.DeepEqual(s, again) {
			t.Errorf("%+v became %+v", s, again)
		}
	})
}
