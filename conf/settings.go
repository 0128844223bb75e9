package conf

import (
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Settings are a checked configuration. Sizes are bytes. They are a value that
// whoever has it must not change.
type Settings struct {
	Target        fs.Location // path with default_scheme applied
	DefaultScheme string      // as given; "" is Hadoop's or file:///

	Format           string
	Compression      string // one of what the format takes
	CompressionLevel int    // 0 is the compression's own default
	JSONDateKey      string // "" leaves the date out
	JSONDateFormat   json.DateFormat
	JSONTagKey       string // "" leaves the tag out
	JSONMetadataKey  string // "" leaves the metadata out
	JSONGroupKey     string // "" leaves the group out
	TextKey          *event.Accessor

	Columns           string // as columns.Parse reads it; "" is none
	CSVDelimiter      string
	CSVHeader         bool
	CSVLineEnding     string
	SequenceFileType  string // a sequencefile.Type
	SequenceFileValue string // FormatJSON or FormatText
	SequenceFileClass string

	Schema         string // path of an .avsc; "" learns the schema
	SchemaStrict   bool
	SchemaFreeForm string // FreeFormJSON or FreeFormVariant

	Assigner     string // AssignerDatetime, AssignerBasePath or AssignerPartition
	BucketFormat string
	BucketZone   *time.Location // time.Local is the host's
	BucketTime   string         // eventtime.Record, eventtime.Arrival or an accessor
	PartitionBy  string

	RollingPolicy       string        // RollingDefault or RollingOnCheckpoint
	RollSize            int64         // 0 is off
	RollInterval        time.Duration // 0 is off
	RollInactivity      time.Duration // 0 is off
	BucketCheckInterval time.Duration
	MaxOpenBuckets      int

	PartPrefix string
	PartSuffix *string // nil is by format and compression
	WriterID   string  // "" is the state's own
	FileMode   uint32  // 0 is the file system's default
	DirMode    uint32  // 0 is the file system's default

	HadoopConfDir string // "" is where Hadoop's own rules find it
	HDFSUser      string // "" is the driver's default
	Replication   int    // 0 is the default
	BlockSize     int64  // 0 is the default

	StateDir        string
	StateDirDefault bool // nobody chose it: see CheckVolatile
	StateLimit      int64
	MemoryLimit     int64

	Uploads      int
	FlushTimeout time.Duration
	ExitTimeout  time.Duration
	Limits       map[string]fs.LimitOptions // by scheme, where there are any
}

// The values of Settings.Format that other options depend on.
const (
	FormatJSON         = "json"
	FormatText         = "text"
	FormatCSV          = "csv"
	FormatLTSV         = "ltsv"
	FormatSequenceFile = "sequencefile"
	FormatParquet      = "parquet"
	FormatAvro         = "avro"
)

// The values of the formats' own settings.
const (
	CSVComma     = "comma"
	CSVTab       = "tab"
	CSVSemicolon = "semicolon"
	CSVPipe      = "pipe"

	LineEndingLF   = "lf"
	LineEndingCRLF = "crlf"

	ClassText  = "text"
	ClassBytes = "bytes"
)

// The values of Settings.Assigner and Settings.RollingPolicy.
const (
	AssignerDatetime  = "datetime"
	AssignerBasePath  = "base_path"
	AssignerPartition = "partition"

	RollingDefault      = "default"
	RollingOnCheckpoint = "on_checkpoint"
)

// Values renders s as keys and values that Parse, in the same environment,
// reads as the same Settings again.
func (s Settings) Values(env Environment) map[string]string {
	values := map[string]string{}
	for _, o := range Options(env) {
		if v, ok := o.render(&s); ok {
			values[o.Key] = v
		}
	}
	return values
}
