package conf

import (
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/basepath"
	"github.com/out-hdfs/out_hdfs/assigner/datetime"
	"github.com/out-hdfs/out_hdfs/assigner/eventtime"
	"github.com/out-hdfs/out_hdfs/assigner/partition"
	"github.com/out-hdfs/out_hdfs/assigner/timezone"
)

// BucketSettings say how a record finds its bucket.
type BucketSettings struct {
	Assigner    string // AssignerDatetime, AssignerBasePath or AssignerPartition
	Format      string
	Zone        *time.Location // time.Local is the host's, unless $TZ names another
	Time        string         // eventtime.Record, eventtime.Arrival or an accessor
	PartitionBy string
	MaxOpen     int
}

// The values of BucketSettings.Assigner.
const (
	AssignerDatetime  = "datetime"
	AssignerBasePath  = "base_path"
	AssignerPartition = "partition"
)

func bucketOptions() []Option {
	return inGroup("Buckets",
		Option{Key: KeyAssigner, Default: AssignerDatetime,
			Help: "How a record finds its bucket: by its time, all in the base path, or by Hive partitions."}.
			choice(func(s *Settings) *string { return &s.Buckets.Assigner }, AssignerDatetime, AssignerBasePath, AssignerPartition),
		Option{Key: KeyBucketFormat, Kind: Text, Default: "yyyy-MM-dd--HH",
			Help:    "With `datetime`: a pattern of Java's DateTimeFormatter, or of strftime when it has a `%`. A slash makes folders in folders.",
			Example: "yyyy/MM/dd/HH"}.text(func(s *Settings) *string { return &s.Buckets.Format }, plain).
			where(func(s *Settings) bool { return s.Buckets.Assigner == AssignerDatetime }),
		zoneOption(),
		Option{Key: KeyBucketTime, Kind: Text, Default: eventtime.Record,
			Help: "Which time counts: `record`, `arrival`, or a record accessor that names a time, in any form of docs/times.md. " +
				"A time that is missing, unreadable or not after 1970-01-01 is replaced by the arrival.",
			Example: "$time"}.text(func(s *Settings) *string { return &s.Buckets.Time }, bucketTime).
			where(func(s *Settings) bool { return s.Buckets.Assigner != AssignerBasePath }),
		Option{Key: KeyPartitionBy, Kind: List,
			Help: "With `partition`: the folders, outermost first, as `name=template`. A template mixes text, strftime conversions and record accessors. " +
				"Names are lower-cased and values escaped as Hive does; null, missing and empty is `__HIVE_DEFAULT_PARTITION__`. " +
				"Write it as one text, also in YAML: of a YAML list Fluent Bit hands on only the first element.",
			Example: "dt=%Y-%m-%d, ns=$kubernetes['namespace_name'], tag=$TAG"}.text(func(s *Settings) *string { return &s.Buckets.PartitionBy }, plain),
		Option{Key: KeyMaxOpenBuckets, Default: "256",
			Help: "How many buckets have an in-progress part at a time; beyond it the least recently written is rolled."}.
			number(func(s *Settings) *int { return &s.Buckets.MaxOpen }, 1, 65536),
	)
}

func zoneOption() Option {
	return Option{Key: KeyBucketTimezone, Kind: Text, DefaultText: "the host's", Empty: true,
		Help: "The zone that buckets are named in, and whose local time a time in text is that names none: an IANA name, or what POSIX takes for `TZ`, " +
			"such as `CST-8`, which is 8 hours *ahead* of UTC. The zone database is built in. The host's is that of `TZ` in the agent's environment if it is set.",
		Example: "Asia/Shanghai",
		parse: func(s *Settings, text string) (err error) {
			s.Buckets.Zone = nil
			if text != "" && text != "Local" {
				s.Buckets.Zone, err = timezone.Load(text)
			}
			return err
		},
		render: func(s *Settings) (string, bool) {
			if s.Buckets.Zone == nil || s.Buckets.Zone == time.Local {
				return None, true
			}
			return s.Buckets.Zone.String(), true
		},
	}
}

// checkZone takes the host's zone if none is set, and warns of what is mostly
// meant the other way round.
func (p *parsing) checkZone() {
	s := &p.settings
	if s.Buckets.Zone == nil && !p.failed[KeyBucketTimezone] {
		host, err := timezone.Host(p.env.Timezone)
		if err != nil {
			p.wrong(KeyBucketTimezone, "it isn't set, and the environment's TZ can't be used: %w", err)
			return
		}
		s.Buckets.Zone = host
	}
	if s.Buckets.Zone == nil {
		return
	}
	for _, utc := range []string{"UTC", "GMT"} {
		sign, hours, _ := strings.Cut(s.Buckets.Zone.String(), utc)
		if sign != "" || hours == "" || strings.Trim(hours, "+-:0") == "" {
			continue
		}
		p.warn(KeyBucketTimezone, "%s is POSIX's, whose sign is the other way round: its clocks show %s; for clocks 8 hours ahead of UTC write %s-8 or Etc/GMT-8",
			s.Buckets.Zone, time.Unix(0, 0).In(s.Buckets.Zone).Format("-07:00"), utc)
	}
}

func bucketTime(text string) (string, error) {
	for _, name := range []string{eventtime.Record, eventtime.Arrival} {
		if strings.EqualFold(text, name) {
			return name, nil
		}
	}
	_, err := eventtime.Parse(text, time.UTC)
	return text, err
}

func (p *parsing) checkAssigner() {
	s := &p.settings
	if p.failed[KeyAssigner] {
		return
	}
	if p.has(KeyBucketFormat) && s.Buckets.Assigner != AssignerDatetime {
		p.noEffect(KeyBucketFormat, KeyAssigner, s.Buckets.Assigner, AssignerDatetime)
	}
	if p.has(KeyPartitionBy) && s.Buckets.Assigner != AssignerPartition {
		p.noEffect(KeyPartitionBy, KeyAssigner, s.Buckets.Assigner, AssignerPartition)
	}
	if p.has(KeyBucketTime) && s.Buckets.Assigner == AssignerBasePath {
		p.wrong(KeyBucketTime, "it has no effect with %s %s; leave it out", KeyAssigner, s.Buckets.Assigner)
	}
	if p.failed[KeyBucketTimezone] || p.failed[KeyBucketTime] {
		return
	}
	switch s.Buckets.Assigner {
	case AssignerDatetime:
		pattern, err := datetime.CheckPattern(s.Buckets.Format, s.Buckets.Zone)
		if err == nil {
			err = checkHasTime(pattern)
		}
		if err != nil {
			p.wrong(KeyBucketFormat, "%w", err)
		}
	case AssignerPartition:
		if s.Buckets.PartitionBy == "" {
			p.wrong(KeyPartitionBy, "%s %s needs it; write name=template fields, such as dt=%%Y-%%m-%%d", KeyAssigner, AssignerPartition)
		} else if _, err := partition.New(partition.Options{By: s.Buckets.PartitionBy, Zone: s.Buckets.Zone, Source: s.Buckets.Time}); err != nil {
			p.wrong(KeyPartitionBy, "%w", err)
		} else if err := checkPartitionLetters(s.Buckets.PartitionBy); err != nil {
			p.wrong(KeyPartitionBy, "%w", err)
		}
	}
}

// NewAssigner makes the configured assigner, for one goroutine. A new assigner
// is a package, a line here and one in checkAssigner.
func (s *Settings) NewAssigner() (assigner.Assigner, error) {
	switch s.Buckets.Assigner {
	case AssignerBasePath:
		return basepath.Assigner{}, nil
	case AssignerPartition:
		return partition.New(partition.Options{By: s.Buckets.PartitionBy, Zone: s.Buckets.Zone, Source: s.Buckets.Time})
	}
	return datetime.New(datetime.Options{Pattern: s.Buckets.Format, Zone: s.Buckets.Zone, Source: s.Buckets.Time})
}
