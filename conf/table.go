package conf

import (
	"time"
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
	KeyKerberosPrincipal   = "kerberos_principal"
	KeyKerberosKeytab      = "kerberos_keytab"
	KeyKerberosConfig      = "kerberos_config"
	KeyReplication         = "replication"
	KeyBlockSize           = "block_size"
)

const (
	day     = 24 * time.Hour
	century = 36500 * day // longer than any duration that is meant
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
