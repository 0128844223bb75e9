package conf

import (
	"time"

	"github.com/out-hdfs/out_hdfs/assigner/eventtime"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/codec/sequencefile"
	"github.com/out-hdfs/out_hdfs/codec/text"
)

// The keys.
const (
	KeyPath                = "path"
	KeyDefaultScheme       = "default_scheme"
	KeyFormat              = "format"
	KeyCompression         = "compression"
	KeyCompressionLevel    = "compression_level"
	KeyJSONDateKey         = "json_date_key"
	KeyJSONDateFormat      = "json_date_format"
	KeyJSONTagKey          = "json_tag_key"
	KeyJSONMetadataKey     = "json_metadata_key"
	KeyJSONGroupKey        = "json_group_key"
	KeyTextKey             = "text_key"
	KeyColumns             = "columns"
	KeyCSVDelimiter        = "csv_delimiter"
	KeyCSVHeader           = "csv_header"
	KeyCSVLineEnding       = "csv_line_ending"
	KeySequenceFileType    = "sequencefile_type"
	KeySequenceFileValue   = "sequencefile_value"
	KeySequenceFileClass   = "sequencefile_class"
	KeySchema              = "schema"
	KeySchemaStrict        = "schema_strict"
	KeySchemaFreeForm      = "schema_free_form"
	KeyAssigner            = "assigner"
	KeyBucketFormat        = "bucket_format"
	KeyBucketTimezone      = "bucket_timezone"
	KeyBucketTime          = "bucket_time"
	KeyPartitionBy         = "partition_by"
	KeyRollingPolicy       = "rolling_policy"
	KeyRollSize            = "roll_size"
	KeyRollInterval        = "roll_interval"
	KeyRollInactivity      = "roll_inactivity"
	KeyBucketCheckInterval = "bucket_check_interval"
	KeyMaxOpenBuckets      = "max_open_buckets"
	KeyPartPrefix          = "part_prefix"
	KeyPartSuffix          = "part_suffix"
	KeyWriterID            = "writer_id"
	KeyFileMode            = "file_mode"
	KeyDirMode             = "dir_mode"
	KeyStateDir            = "state_dir"
	KeyStateLimit          = "state_limit"
	KeyMemoryLimit         = "memory_limit"
	KeyUploads             = "uploads"
	KeyFlushTimeout        = "flush_timeout"
	KeyExitTimeout         = "exit_timeout"
	KeyHadoopConfDir       = "hadoop_conf_dir"
	KeyHDFSUser            = "hdfs_user"
	KeyReplication         = "replication"
	KeyBlockSize           = "block_size"
)

const (
	day     = 24 * time.Hour
	century = 36500 * day // longer than any duration that is meant
)

// The least limits that work: a state that holds some segments of the journal
// beside the parts, and memory for some chunks of Fluent Bit's 2 MB with what
// encoding them takes.
const (
	leastStateLimit  = 64e6
	leastMemoryLimit = 16e6
)

// Options is the table of all keys, in the reference's order.
func Options(env Environment) []Option {
	var all []Option
	for _, group := range [][]Option{
		targetOptions(), formatOptions(env), bucketOptions(), rollingOptions(),
		nameOptions(), hdfsOptions(), stateOptions(env), deliveryOptions(), limitOptions(env.Schemes),
	} {
		all = append(all, group...)
	}
	return all
}

func inGroup(name string, options ...Option) []Option {
	for i := range options {
		options[i].Group = name
	}
	return options
}

func targetOptions() []Option {
	return inGroup("Target",
		pathOption(),
		Option{Key: KeyDefaultScheme, Kind: Text, DefaultText: "Hadoop's `fs.defaultFS` if a configuration is found, else `file:///`",
			Help:    "Scheme, and authority if it has one, of a `path` that names none. It is Flink's `fs.default-scheme`.",
			Example: "hdfs://nameservice"}.text(func(s *Settings) *string { return &s.DefaultScheme }, plain),
	)
}

func formatOptions(env Environment) []Option {
	return append(rowOptions(env), inGroup("Format", schemaOptions()...)...)
}

func rowOptions(env Environment) []Option {
	return inGroup("Format",
		Option{Key: KeyFormat, Default: "json",
			Help: "How records are written."}.choice(func(s *Settings) *string { return &s.Format }, env.Formats...),
		compressionOption(env),
		levelOption(),
		Option{Key: KeyJSONDateKey, Kind: Text, Default: json.DefaultDateKey, Empty: true,
			Help: "The key that an event's time is written under; `false` leaves it out."}.
			text(func(s *Settings) *string { return &s.JSONDateKey }, dateKey),
		dateFormatOption(),
		Option{Key: KeyJSONTagKey, Kind: Text, DefaultText: "off", Empty: true,
			Help: "The key that the tag is written under; `false` leaves it out.", Example: "tag"}.
			text(func(s *Settings) *string { return &s.JSONTagKey }, besideKey("tag")),
		Option{Key: KeyJSONMetadataKey, Kind: Text, DefaultText: "off", Empty: true,
			Help:    "The key that an event's metadata is written under, if it has any: what OpenTelemetry says of a log record beside its body.",
			Example: "metadata"}.text(func(s *Settings) *string { return &s.JSONMetadataKey }, besideKey("metadata")),
		Option{Key: KeyJSONGroupKey, Kind: Text, DefaultText: "off", Empty: true,
			Help:    "The key that what an event's group has in common is written under, if it is in one: OpenTelemetry's resource and scope.",
			Example: "group"}.text(func(s *Settings) *string { return &s.JSONGroupKey }, besideKey("group")),
		accessorOption(Option{Key: KeyTextKey, Default: text.DefaultKey,
			Help:    "What `text` writes: a key of the record or a record accessor. A record without it is written as JSON.",
			Example: "$kubernetes['labels']['app']"}).where(usesText),
		columnsOption().where(usesColumns),
		Option{Key: KeyCSVDelimiter, Default: CSVComma, Help: "What stands between the fields of `csv`."}.
			choice(func(s *Settings) *string { return &s.CSVDelimiter }, CSVComma, CSVTab, CSVSemicolon, CSVPipe).where(isFormat(FormatCSV)),
		Option{Key: KeyCSVHeader, Default: "false", Help: "With `csv`: each file's first row names the columns."}.
			flag(func(s *Settings) *bool { return &s.CSVHeader }).where(isFormat(FormatCSV)),
		Option{Key: KeyCSVLineEnding, Default: LineEndingLF, Help: "What ends a row of `csv`."}.
			choice(func(s *Settings) *string { return &s.CSVLineEnding }, LineEndingLF, LineEndingCRLF).where(isFormat(FormatCSV)),
		Option{Key: KeySequenceFileType, Default: string(sequencefile.Block),
			Help: "With `sequencefile` and compression: what is compressed together, many records or each by itself."}.
			choice(func(s *Settings) *string { return &s.SequenceFileType }, string(sequencefile.Block), string(sequencefile.Record)).where(isFormat(FormatSequenceFile)),
		Option{Key: KeySequenceFileValue, Default: FormatJSON,
			Help: "With `sequencefile`: what a value is, the record as JSON or the text of `text_key`. The key is the event's time in milliseconds."}.
			choice(func(s *Settings) *string { return &s.SequenceFileValue }, FormatJSON, FormatText).where(isFormat(FormatSequenceFile)),
		Option{Key: KeySequenceFileClass, Default: ClassText,
			Help: "With `sequencefile`: the value's class, Hadoop's `Text` or `BytesWritable`."}.
			choice(func(s *Settings) *string { return &s.SequenceFileClass }, ClassText, ClassBytes).where(isFormat(FormatSequenceFile)),
	)
}

func usesText(s *Settings) bool {
	return s.Format == FormatText || s.Format == FormatSequenceFile && s.SequenceFileValue == FormatText
}

func usesColumns(s *Settings) bool { return s.Format == FormatCSV || s.Format == FormatLTSV }

func isFormat(name string) func(*Settings) bool {
	return func(s *Settings) bool { return s.Format == name }
}

func bucketOptions() []Option {
	return inGroup("Buckets",
		Option{Key: KeyAssigner, Default: AssignerDatetime,
			Help: "How a record finds its bucket: by its time, all in the base path, or by Hive partitions."}.
			choice(func(s *Settings) *string { return &s.Assigner }, AssignerDatetime, AssignerBasePath, AssignerPartition),
		Option{Key: KeyBucketFormat, Kind: Text, Default: "yyyy-MM-dd--HH",
			Help:    "With `datetime`: a pattern of Java's DateTimeFormatter, or of strftime when it has a `%`. A slash makes folders in folders.",
			Example: "yyyy/MM/dd/HH"}.text(func(s *Settings) *string { return &s.BucketFormat }, plain).
			where(func(s *Settings) bool { return s.Assigner == AssignerDatetime }),
		zoneOption(),
		Option{Key: KeyBucketTime, Kind: Text, Default: eventtime.Record,
			Help: "Which time counts: `record`, `arrival`, or a record accessor that names a Unix time or an ISO 8601 text. " +
				"A time that is missing, unreadable or not after 1970-01-01 is replaced by the arrival.",
			Example: "$time"}.text(func(s *Settings) *string { return &s.BucketTime }, bucketTime).
			where(func(s *Settings) bool { return s.Assigner != AssignerBasePath }),
		Option{Key: KeyPartitionBy, Kind: List,
			Help: "With `partition`: the folders, outermost first, as `name=template`. A template mixes text, strftime conversions and record accessors. " +
				"Names are lower-cased and values escaped as Hive does; null, missing and empty is `__HIVE_DEFAULT_PARTITION__`. " +
				"Write it as one text, also in YAML: of a YAML list Fluent Bit hands on only the first element.",
			Example: "dt=%Y-%m-%d, ns=$kubernetes['namespace_name'], tag=$TAG"}.text(func(s *Settings) *string { return &s.PartitionBy }, plain),
		Option{Key: KeyMaxOpenBuckets, Default: "256",
			Help: "How many buckets have an in-progress part at a time; beyond it the least recently written is rolled."}.
			number(func(s *Settings) *int { return &s.MaxOpenBuckets }, 1, 65536),
	)
}

func rollingOptions() []Option {
	return inGroup("Rolling",
		Option{Key: KeyRollingPolicy, Default: RollingDefault,
			Help: "When a part is finished: by the three limits below, or with every chunk, which makes many small files."}.
			choice(func(s *Settings) *string { return &s.RollingPolicy }, RollingDefault, RollingOnCheckpoint),
		Option{Key: KeyRollSize, Default: "128M", Help: "Rolls a part that has this many encoded bytes. 0 is off."}.
			size(func(s *Settings) *int64 { return &s.RollSize }, 0).where(rollsByLimit),
		Option{Key: KeyRollInterval, Default: "15m", Help: "Rolls a part this long after its first record. 0 is off."}.
			duration(func(s *Settings) *time.Duration { return &s.RollInterval }, 0, century).where(rollsByLimit),
		Option{Key: KeyRollInactivity, Default: "5m", Help: "Rolls a part this long after its last record. 0 is off."}.
			duration(func(s *Settings) *time.Duration { return &s.RollInactivity }, 0, century).where(rollsByLimit),
		Option{Key: KeyBucketCheckInterval, Default: "1m", Help: "How often the two time limits are checked."}.
			duration(func(s *Settings) *time.Duration { return &s.BucketCheckInterval }, 10*time.Millisecond, day),
	)
}

func rollsByLimit(s *Settings) bool { return s.RollingPolicy == RollingDefault }

func nameOptions() []Option {
	return inGroup("Files",
		Option{Key: KeyPartPrefix, Kind: Text, Default: "part", Help: "What a part's name begins with: `<prefix>-<writer_id>-<n><suffix>`."}.
			text(func(s *Settings) *string { return &s.PartPrefix }, partPrefix),
		suffixOption(),
		Option{Key: KeyWriterID, Kind: Text, DefaultText: "`<hostname>-<8 hex of the state's id>`",
			Help: "Names this instance in its parts' names; should be unique below `path`. Kept in the state once chosen.", Example: "edge-7"}.
			text(func(s *Settings) *string { return &s.WriterID }, writerID),
		Option{Key: KeyFileMode, Default: "0644", Help: "Permissions of finished files; `none` is the file system's default."}.
			mode(func(s *Settings) *uint32 { return &s.FileMode }, 0o400),
		Option{Key: KeyDirMode, Default: "0755", Help: "Permissions of folders that are made; `none` is the file system's default."}.
			mode(func(s *Settings) *uint32 { return &s.DirMode }, 0o700),
	)
}

func stateOptions(env Environment) []Option {
	return inGroup("State",
		stateDirOption(env),
		Option{Key: KeyStateLimit, Default: "10G", Help: "What journal and staged parts may take together on the disk."}.
			size(func(s *Settings) *int64 { return &s.StateLimit }, leastStateLimit),
		Option{Key: KeyMemoryLimit, Default: "256M", Help: "What this instance's buffers may take in memory."}.
			size(func(s *Settings) *int64 { return &s.MemoryLimit }, leastMemoryLimit),
	)
}

func deliveryOptions() []Option {
	return inGroup("Delivery",
		Option{Key: KeyUploads, Default: "4", Help: "Uploads at a time."}.
			number(func(s *Settings) *int { return &s.Uploads }, 1, 256),
		Option{Key: KeyFlushTimeout, Default: "3s", Help: "How long a flush waits for space below `state_limit` before Fluent Bit is told to retry. Keep it below Fluent Bit's `Grace`."}.
			duration(func(s *Settings) *time.Duration { return &s.FlushTimeout }, time.Millisecond, time.Hour),
		Option{Key: KeyExitTimeout, Default: "15s", Help: "How long a stop may take to publish what is open; the next start finishes the rest. Keep it below the supervisor's kill."}.
			duration(func(s *Settings) *time.Duration { return &s.ExitTimeout }, time.Millisecond, day),
	)
}
