package conf

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/assigner/timepattern"
	"github.com/out-hdfs/out_hdfs/codec/columns"
	"github.com/out-hdfs/out_hdfs/codec/compress"
)

// This file refuses what can be taken literally and can't be meant so, each with
// what was probably meant. A value that only may be a mistake is warned of.

// checkQuotes refuses a value in quotes. Fluent Bit's classic configuration hands
// quotes on as part of the value, its YAML doesn't.
func checkQuotes(text string) error {
	if len(text) < 2 || text[0] != '\'' && text[0] != '"' || text[len(text)-1] != text[0] {
		return nil
	}
	inner := text[1 : len(text)-1]
	switch {
	case strings.IndexByte(inner, text[0]) >= 0: // 'dt='yyyy'/x'
		return nil
	case strings.TrimSpace(inner) == "":
		return fmt.Errorf("the quotes are part of the value here; write %s for an empty one", None)
	}
	return fmt.Errorf("the quotes are part of the value here; write %s without them", inner)
}

// checkHasTime refuses a pattern whose result never changes.
func checkHasTime(pattern *timepattern.Pattern) error {
	if !pattern.Constant() {
		return nil
	}
	return fmt.Errorf("it has no time in it: all records would go to one folder; write a pattern such as yyyy-MM-dd or %%Y-%%m-%%d, or set %s %s",
		KeyAssigner, AssignerBasePath)
}

// javaDate is a text of Java's letters for a date or time, which strftime takes
// for itself.
var javaDate = regexp.MustCompile(`\b(?:[yu]{4}|yy)(?:[-/_.]?(?:MM|dd|HH|mm|ss))*\b|\b(?:MM|dd|HH)(?:[-/_.](?:MM|dd|HH|mm|ss))+\b|\b(?:MM|dd|HH)\b`)

// strftimeOf writes Java's letters as strftime does.
var strftimeOf = strings.NewReplacer("yyyy", "%Y", "uuuu", "%Y", "yy", "%y", "MM", "%m", "dd", "%d", "HH", "%H", "mm", "%M", "ss", "%S")

// checkPartitionLetters refuses Java's letters in the text of a partition's
// template. Names of fields may be what they like.
func checkPartitionLetters(by string) error {
	for _, field := range strings.Split(by, ",") {
		_, template, _ := strings.Cut(field, "=")
		template = accessor.ReplaceAllString(template, "")
		if found := javaDate.FindString(template); found != "" {
			return fmt.Errorf("%s is taken literally here; write %s for the time", found, strftimeOf.Replace(found))
		}
	}
	return nil
}

// accessor is a record accessor in a text.
var accessor = regexp.MustCompile(`\$[A-Za-z_]\w*(?:\[[^]]*\])*|\$(?:\[[^]]*\])+`)

// conversion is a conversion of strftime that names a folder by time.
var conversion = regexp.MustCompile(`%[YymdHMSjF]`)

// checkPathLiteral refuses patterns and accessors in the base path, where nothing
// replaces them.
func checkPathLiteral(text string) error {
	const how = "%s is taken literally in a path; the folders below it are named by %s"
	if found := conversion.FindString(text); found != "" {
		return fmt.Errorf(how, found, KeyBucketFormat)
	}
	if found := accessor.FindString(text); found != "" {
		return fmt.Errorf(how, found, KeyAssigner+" "+AssignerPartition+" and "+KeyPartitionBy)
	}
	return nil
}

// checkSeparated refuses columns that nobody separated by commas.
func checkSeparated(list []columns.Column) error {
	for i := range list {
		c := &list[i]
		switch {
		case !c.IsPlain():
		case strings.Contains(c.Name, ";"):
			return fmt.Errorf("%q is one name; separate columns by commas", c.Name)
		case len(list) == 1 && strings.ContainsAny(c.Name, " \t"):
			return fmt.Errorf("%q is one name; separate columns by commas, or write %s if the key has blanks in it", c.Name, "name=$['"+c.Name+"']")
		}
	}
	return nil
}

// extensions are what readers tell a file's compression by.
var extensions = map[string]string{
	compress.Gzip: ".gz", compress.Zstd: ".zst", compress.Bzip2: ".bz2", compress.Snappy: ".snappy", compress.LZ4: ".lz4",
}

// checkSuffix refuses a suffix that tells readers of another compression than the
// files'.
func (p *parsing) checkSuffix() {
	s := &p.settings
	if s.Files.Suffix == nil || p.failed[KeyCompression] {
		return
	}
	suffix, needed := *s.Files.Suffix, extensions[s.Format.Compression]
	if slices.ContainsFunc(formats(), func(f format) bool { return f.name == s.Format.Name && !f.rows }) {
		needed = "" // it compresses within its files
	}
	told := path.Ext(suffix)
	switch {
	case told == needed:
	case needed != "" && suffix == "":
		p.warn(KeyPartSuffix, "readers that go by the name don't see that files are compressed by %s", s.Format.Compression)
	case needed != "":
		p.wrong(KeyPartSuffix, "with %s %s readers that go by the name take such a file for plain text; write %s",
			KeyCompression, s.Format.Compression, suffix+needed)
	default:
		for name, extension := range extensions {
			if told == extension {
				p.wrong(KeyPartSuffix, "readers that go by the name take such a file for compressed by %s, which it isn't", name)
			}
		}
	}
}
