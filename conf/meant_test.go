package conf

import (
	"strings"
	"testing"
)

// TestWhatCantBeMeant is refused, with what was probably meant; what looks like
// it and can be meant is taken.
func TestWhatCantBeMeant(t *testing.T) {
	columns := func(list string) []string { return []string{KeyFormat, "csv", KeyColumns, list} }
	partition := func(by string) []string { return []string{KeyAssigner, "partition", KeyPartitionBy, by} }
	suffix := func(suffix string, more ...string) []string { return append([]string{KeyPartSuffix, suffix}, more...) }
	for name, row := range map[string]struct {
		pairs []string
		says  string // of the mistake; "" takes it
	}{
		"a pattern in quotes":              {[]string{KeyBucketFormat, "'yyyy/MM/dd'"}, "write yyyy/MM/dd without them"},
		"a pattern in double quotes":       {[]string{KeyBucketFormat, `"yyyy/MM/dd"`}, "write yyyy/MM/dd without them"},
		"one literal":                      {[]string{KeyBucketFormat, "'logs'"}, "quotes"},
		"a literal and a time":             {[]string{KeyBucketFormat, "'dt='yyyy-MM-dd"}, ""},
		"literals around a time":           {[]string{KeyBucketFormat, "'dt='yyyy'/x'"}, ""},
		"a suffix in quotes":               {suffix(`".log"`), "write .log without them"},
		"a name in quotes":                 {[]string{KeyJSONDateKey, `"time"`}, "write time without them"},
		"a size in quotes":                 {[]string{KeyRollSize, `"128M"`}, "write 128M without them"},
		"a path in quotes":                 {[]string{KeyPath, `"/logs"`}, "write /logs without them"},
		"a choice in quotes":               {[]string{KeyFormat, "'json'"}, "write json without them"},
		"an accessor in quotes":            {[]string{KeyBucketTime, `"$time"`}, "write $time without them"},
		"an accessor with quotes":          {[]string{KeyBucketTime, "$a['b']"}, ""},
		"quotes around nothing":            {suffix(`""`), "write none for an empty one"},
		"single quotes around nothing":     {[]string{KeyJSONTagKey, "''"}, "write none for an empty one"},
		"columns in quotes":                {columns(`"date, n"`), "write date, n without them"},
		"one quote":                        {[]string{KeyJSONTagKey, "'"}, ""},
		"a pattern without time":           {[]string{KeyBucketFormat, "'a'/'b'"}, "assigner base_path"},
		"strftime without time":            {[]string{KeyBucketFormat, "logs%%"}, "no time in it"},
		"a pattern of the zone alone":      {[]string{KeyBucketFormat, "VV", KeyBucketTimezone, "Asia/Shanghai"}, "no time in it"},
		"a pattern of the year":            {[]string{KeyBucketFormat, "yyyy"}, ""},
		"Java's letters in a partition":    {partition("dt=yyyy-MM-dd"), "yyyy-MM-dd is taken literally here; write %Y-%m-%d"},
		"Java's hour in a partition":       {partition("dt=%Y-%m-%d, hour=HH"), "HH is taken literally here; write %H"},
		"Java's month and day":             {partition("ns=$ns, dt=MM-dd"), "write %m-%d"},
		"a text with such letters":         {partition("c=address, dt=%Y"), ""},
		"a key with such letters":          {partition("v=$yyyy, w=$a['MM']"), ""},
		"a field with such a name":         {partition("yyyy=%Y, dd=%d"), ""},
		"strftime in the path":             {[]string{KeyPath, "/logs/%Y/%m"}, "%Y is taken literally in a path; the folders below it are named by bucket_format"},
		"the tag in the path":              {[]string{KeyPath, "/logs/$TAG"}, "$TAG is taken literally in a path; the folders below it are named by assigner partition"},
		"an accessor in the path":          {[]string{KeyPath, "/logs/$kubernetes['namespace_name']"}, "partition_by"},
		"a percent sign in the path":       {[]string{KeyPath, "/logs/100%"}, ""},
		"columns with semicolons":          {columns("date;level;log"), "separate columns by commas"},
		"columns with blanks":              {columns("date level log"), "separate columns by commas"},
		"a key with a blank":               {columns("date, user agent"), ""},
		"the only key has a blank":         {columns("ua=$['user agent']"), ""},
		"a suffix of text under gzip":      {suffix(".json", KeyCompression, "gzip"), "write .json.gz"},
		"a suffix of another compression":  {suffix(".json.gz", KeyCompression, "zstd"), "write .json.gz.zst"},
		"the right one":                    {suffix(".log.gz", KeyCompression, "gzip"), ""},
		"a compression that isn't":         {suffix(".log.gz"), "compressed by gzip, which it isn't"},
		"one of a format that has its own": {suffix(".parquet.snappy", KeyFormat, "parquet"), "compressed by snappy, which it isn't"},
		"a format's own within":            {suffix(".pq", KeyFormat, "parquet", KeyCompression, "gzip"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse(Map(with(row.pairs...)), environment())
			switch {
			case row.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
				t.Errorf("%v doesn't say %q", err, row.says)
			}
		})
	}
	_, warnings, err := Parse(Map(with(suffix("none", KeyCompression, "gzip")...)), environment())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "compressed by gzip") {
		t.Errorf("no suffix: %v, warned %q", err, warnings)
	}
}
