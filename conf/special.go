package conf

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner/datetime"
	"github.com/out-hdfs/out_hdfs/assigner/eventtime"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// The options and checks that no kind covers.

func plain(text string) (string, error) { return text, checkPlain(text) }

// pathOption keeps the text in Target.Path until check has read it with the
// default scheme.
func pathOption() Option {
	return Option{Key: KeyPath, Kind: Path, Required: true,
		Help: "The base path: `hdfs://nameservice/dir`, `hdfs://host:port/dir`, `hdfs:///dir` (the configured default), `file:///dir`, " +
			"or `/dir` with `default_scheme`.",
		Example: "hdfs://nameservice/logs",
		parse: func(s *Settings, text string) error {
			s.Target.Path = text
			return checkPlain(text)
		},
		render: func(s *Settings) (string, bool) { return s.Target.String(), true },
	}
}

func dateFormatOption() Option {
	return Option{Key: KeyJSONDateFormat, Kind: Choice, Default: json.ISO8601.String(), Allowed: json.DateFormats(),
		Help: "How an event's time is written, as in Fluent Bit's own outputs.",
		parse: func(s *Settings, text string) (err error) {
			s.JSONDateFormat, err = json.ParseDateFormat(text)
			return err
		},
		render: func(s *Settings) (string, bool) { return s.JSONDateFormat.String(), true },
	}
}

func accessorOption(o Option) Option {
	o.Kind = Accessor
	o.parse = func(s *Settings, text string) (err error) {
		if err = checkPlain(text); err == nil {
			s.TextKey, err = event.ParseKey(text)
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) { return s.TextKey.String(), true }
	return o
}

func columnsOption() Option {
	return Option{Key: KeyColumns, Kind: List,
		Help: "What `csv`, which needs it, and `ltsv`, which else writes all fields, write of a record: keys, record accessors, or either under another name as `name=$accessor`. " +
			"A key that the record doesn't have may be `json_date_key`, `json_tag_key`, `json_metadata_key` or `json_group_key`, as in a line of JSON. " +
			"Write it as one text, also in YAML: of a YAML list Fluent Bit hands on only the first element.",
		Example: "date, level, pod=$kubernetes['pod_name'], tag=$TAG, log",
	}.text(func(s *Settings) *string { return &s.Columns }, func(text string) (string, error) {
		if err := checkPlain(text); err != nil {
			return "", err
		}
		_, err := columns.Parse(text)
		return text, err
	})
}

func zoneOption() Option {
	return Option{Key: KeyBucketTimezone, Kind: Text, DefaultText: "the host's", Empty: true,
		Help:    "The zone that buckets are named in, by its IANA name. The zone database is built in.",
		Example: "Asia/Shanghai",
		parse: func(s *Settings, text string) (err error) {
			s.BucketZone, err = datetime.Zone(text)
			return err
		},
		render: func(s *Settings) (string, bool) {
			if s.BucketZone == nil || s.BucketZone == time.Local {
				return None, true
			}
			return s.BucketZone.String(), true
		},
	}
}

func suffixOption() Option {
	return Option{Key: KeyPartSuffix, Kind: Text, DefaultText: "by format, such as `.json`", Empty: true,
		Help:    "What a part's name ends with; `none` is nothing.",
		Example: ".log",
		parse: func(s *Settings, text string) error {
			if err := partName(text); err != nil {
				return err
			}
			if strings.HasSuffix(text, "._COPYING_") {
				return errors.New("a file that ends with ._COPYING_ counts as unfinished to Spark")
			}
			s.PartSuffix = &text
			return nil
		},
		render: func(s *Settings) (string, bool) {
			switch {
			case s.PartSuffix == nil:
				return "", false
			case *s.PartSuffix == "":
				return None, true
			}
			return *s.PartSuffix, true
		},
	}
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

// besideKey reads a key that is off by default and has no name of its own.
func besideKey(example string) func(text string) (string, error) {
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

func bucketTime(text string) (string, error) {
	for _, name := range []string{eventtime.Record, eventtime.Arrival} {
		if strings.EqualFold(text, name) {
			return name, nil
		}
	}
	_, err := eventtime.Parse(text, time.UTC)
	return text, err
}

// partName checks a piece of a part's name.
func partName(text string) error {
	if strings.ContainsAny(text, "/:\\") {
		return errors.New("no slash, colon or backslash is allowed in a file name")
	}
	return checkPlain(text)
}

func partPrefix(text string) (string, error) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "_") {
		return "", fmt.Errorf("a name that starts with %q is hidden from Hive, Spark, Trino and MapReduce", text[:1])
	}
	return text, partName(text)
}

// longestWriterID is a host name's 64 bytes, a dash and 8 more, rounded up.
const longestWriterID = 80

func writerID(text string) (string, error) {
	if len(text) > longestWriterID {
		return "", fmt.Errorf("at most %d characters are allowed", longestWriterID)
	}
	for _, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._-", c) {
			return "", fmt.Errorf("%q isn't allowed; use letters, digits, dots, underscores and dashes", c)
		}
	}
	return text, nil
}

// absolute checks a directory of this host and cleans it.
func absolute(text string) (string, error) {
	if err := checkPlain(text); err != nil {
		return "", err
	}
	if !path.IsAbs(text) {
		return "", errors.New("it must be an absolute path on this host, such as " + defaultStateDir)
	}
	clean := path.Clean(text)
	if clean == "/" {
		return "", errors.New("it can't be the root directory")
	}
	return clean, nil
}
