package conf

import "github.com/out-hdfs/out_hdfs/sink/fs"

// Settings are a checked configuration, by topic. Sizes are bytes. They are a
// value that whoever has it must not change.
type Settings struct {
	Target       TargetSettings
	Format       FormatSettings
	CSV          CSVSettings          // of FormatCSV
	SequenceFile SequenceFileSettings // of FormatSequenceFile
	Schema       SchemaSettings       // of FormatParquet and FormatAvro
	Buckets      BucketSettings
	Rolling      RollingSettings
	Files        FileSettings
	HDFS         HDFSSettings
	State        StateSettings
	Delivery     DeliverySettings
	Limits       map[string]fs.LimitOptions // by scheme, where there are any
}

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
