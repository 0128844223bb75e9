package conf

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner/datetime"
	"github.com/out-hdfs/out_hdfs/assigner/partition"
	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// check looks at what only several keys together tell. What concerns a key
// that was refused already isn't reported twice.
func (p *parsing) check() {
	p.settings.StateDirDefault = p.given[KeyStateDir] == ""
	if p.settings.BucketZone == nil {
		p.settings.BucketZone = time.Local
	}
	p.checkTarget()
	p.checkAssigner()
	p.checkRolling()
	p.checkNames()
	p.checkState()
	p.checkFormat()
	if d := p.settings.FlushTimeout; d >= 5*time.Second {
		p.warn(KeyFlushTimeout, "a flush may wait %s, while Fluent Bit's Grace is 5s if it isn't set: raise Grace above it", formatDuration(d))
	}
}

func (p *parsing) wrong(key string, format string, args ...any) {
	if p.failed[key] {
		return
	}
	p.failed[key] = true
	p.mistakes = append(p.mistakes, &Mistake{Key: key, Value: p.given[key], Err: fmt.Errorf(format, args...)})
}

func (p *parsing) warn(key, format string, args ...any) {
	if !p.failed[key] {
		p.warnings = append(p.warnings, key+": "+fmt.Sprintf(format, args...))
	}
}

func (p *parsing) has(key string) bool { return p.given[key] != "" }

// longestBase leaves room for a bucket and a name below Linux's 4096 bytes.
const longestBase = 1024

func (p *parsing) checkTarget() {
	s := &p.settings
	fallback := s.DefaultScheme
	switch {
	case fallback != "":
		d, err := fs.ParseTarget("/", fallback)
		if err != nil {
			p.wrong(KeyDefaultScheme, "use a scheme or a file system's URI, such as hdfs://nameservice: %w", err)
			return
		}
		if !p.known(KeyDefaultScheme, d.Scheme) {
			return
		}
	case p.env.DefaultFS != "":
		fallback = p.env.DefaultFS
	case p.env.DefaultFSErr != nil && !p.failed[KeyPath] && strings.HasPrefix(s.Target.Path, "/"):
		p.wrong(KeyPath, "it names no scheme, and Hadoop's fs.defaultFS, which would, can't be read: %w; mend that, or write hdfs:// or file:// before the path", p.env.DefaultFSErr)
		return
	default:
		fallback = "file:///"
	}
	if p.failed[KeyPath] || p.failed[KeyDefaultScheme] {
		return
	}
	target, err := fs.ParseTarget(s.Target.Path, fallback)
	switch {
	case err != nil:
		p.wrong(KeyPath, "%w", err)
	case !p.known(KeyPath, target.Scheme):
	case target.Scheme == "file" && target.Authority != "":
		p.wrong(KeyPath, "%q is taken for a host, which a local path has none of; write file:///dir with three slashes", target.Authority)
	case target.Scheme != "file" && strings.Contains(target.Path, ":"):
		p.wrong(KeyPath, "Hadoop allows no colon in a path")
	case len(target.Path) > longestBase:
		p.wrong(KeyPath, "it has %d bytes, at most %d are allowed", len(target.Path), longestBase)
	default:
		s.Target = target
	}
}

func (p *parsing) known(key, scheme string) bool {
	if slices.Contains(p.env.Schemes, scheme) {
		return true
	}
	p.wrong(key, "there is no file system for the scheme %q; use one of %s", scheme, strings.Join(p.env.Schemes, ", "))
	return false
}

func (p *parsing) checkAssigner() {
	s := &p.settings
	if p.failed[KeyAssigner] {
		return
	}
	if p.has(KeyBucketFormat) && s.Assigner != AssignerDatetime {
		p.wrong(KeyBucketFormat, "it has no effect with %s %s; leave it out or set %s %s", KeyAssigner, s.Assigner, KeyAssigner, AssignerDatetime)
	}
	if p.has(KeyPartitionBy) && s.Assigner != AssignerPartition {
		p.wrong(KeyPartitionBy, "it has no effect with %s %s; leave it out or set %s %s", KeyAssigner, s.Assigner, KeyAssigner, AssignerPartition)
	}
	if p.has(KeyBucketTime) && s.Assigner == AssignerBasePath {
		p.wrong(KeyBucketTime, "it has no effect with %s %s; leave it out", KeyAssigner, s.Assigner)
	}
	if p.failed[KeyBucketTimezone] || p.failed[KeyBucketTime] {
		return
	}
	switch s.Assigner {
	case AssignerDatetime:
		if _, err := datetime.CheckPattern(s.BucketFormat, s.BucketZone); err != nil {
			p.wrong(KeyBucketFormat, "%w", err)
		}
	case AssignerPartition:
		if s.PartitionBy == "" {
			p.wrong(KeyPartitionBy, "%s %s needs it; write name=template fields, such as dt=%%Y-%%m-%%d", KeyAssigner, AssignerPartition)
		} else if _, err := partition.New(partition.Options{By: s.PartitionBy, Zone: s.BucketZone, Source: s.BucketTime}); err != nil {
			p.wrong(KeyPartitionBy, "%w", err)
		}
	}
}

func (p *parsing) checkRolling() {
	s := &p.settings
	if p.failed[KeyRollingPolicy] {
		return
	}
	limits := []string{KeyRollSize, KeyRollInterval, KeyRollInactivity}
	if s.RollingPolicy == RollingOnCheckpoint {
		for _, key := range limits {
			if p.has(key) {
				p.wrong(key, "it has no effect with %s %s; leave it out or set %s %s", KeyRollingPolicy, s.RollingPolicy, KeyRollingPolicy, RollingDefault)
			}
		}
		return
	}
	if slices.ContainsFunc(limits, func(key string) bool { return p.failed[key] }) {
		return
	}
	if s.RollSize == 0 && s.RollInterval == 0 && s.RollInactivity == 0 {
		p.wrong(KeyRollingPolicy, "%s are all 0, so no part would ever be finished; set one of them", strings.Join(limits, ", "))
	}
	if s.RollInterval == 0 && s.RollInactivity == 0 {
		p.warn(KeyRollInterval, "with %s off too, a bucket that gets no more records is only finished when Fluent Bit stops", KeyRollInactivity)
	}
	for _, d := range []struct {
		key string
		d   time.Duration
	}{{KeyRollInterval, s.RollInterval}, {KeyRollInactivity, s.RollInactivity}} {
		if p.has(d.key) && d.d > 0 && d.d < s.BucketCheckInterval {
			p.warn(d.key, "it is checked every %s only; lower %s", formatDuration(s.BucketCheckInterval), KeyBucketCheckInterval)
		}
	}
}

// An in-progress file's name is .<prefix>-<writer_id>-<n><suffix>.inprogress.<uuid>.
const (
	longestName  = 255 // bytes, on HDFS and Linux
	nameOverhead = len(".--") + 20 + len(".inprogress.") + 36
)

func (p *parsing) checkNames() {
	s := &p.settings
	writer, suffix := len(s.WriterID), 0
	if writer == 0 {
		writer = longestWriterID
	}
	if s.PartSuffix != nil {
		suffix = len(*s.PartSuffix)
	}
	over := len(s.PartPrefix) + writer + suffix + nameOverhead - longestName
	if over <= 0 {
		return
	}
	key := KeyPartPrefix
	if suffix > len(s.PartPrefix) {
		key = KeyPartSuffix
	}
	p.wrong(key, "with %s a file's name may have %d bytes more than the %d that are allowed; shorten it", KeyWriterID, over, longestName)
}

func (p *parsing) checkState() {
	s := &p.settings
	if !p.failed[KeyStateLimit] && !p.failed[KeyRollSize] && rollsByLimit(s) && s.RollSize > s.StateLimit/2 {
		p.wrong(KeyRollSize, "a part is staged below %s %s, so it may be %s at most; lower it or raise %s",
			KeyStateLimit, formatSize(s.StateLimit), formatSize(s.StateLimit/2), KeyStateLimit)
	}
	if p.failed[KeyPath] || p.failed[KeyStateDir] || s.Target.Scheme != "file" {
		return
	}
	if inside(s.StateDir, s.Target.Path) || inside(s.Target.Path, s.StateDir) {
		p.wrong(KeyStateDir, "%s and %s %s lie in one another; readers would see staged parts", s.StateDir, KeyPath, s.Target)
	}
}

// inside reports whether dir is parent or below it; both are clean.
func inside(dir, parent string) bool {
	return dir == parent || parent == "/" || strings.HasPrefix(dir, parent+"/")
}

func (p *parsing) checkFormat() {
	p.checkCompression()
	p.checkBeside()
	if p.failed[KeyFormat] {
		return
	}
	p.checkColumns()
	p.checkSchema()
	p.unused()
}

// checkBeside looks at the keys of what lies beside the record.
func (p *parsing) checkBeside() {
	s, named := &p.settings, map[string]string{}
	for _, k := range []struct{ key, name string }{
		{KeyJSONDateKey, s.JSONDateKey}, {KeyJSONTagKey, s.JSONTagKey},
		{KeyJSONMetadataKey, s.JSONMetadataKey}, {KeyJSONGroupKey, s.JSONGroupKey},
	} {
		if other := named[k.name]; other != "" {
			p.wrong(k.key, "it is also %s; a line can't have both under one key", other)
		} else if k.name != "" {
			named[k.name] = k.key
		}
	}
}

func (p *parsing) checkColumns() {
	s := &p.settings
	if s.Format == FormatCSV && s.Columns == "" {
		p.wrong(KeyColumns, "%s %s needs it; name the record's keys, such as date, level, log", KeyFormat, s.Format)
	}
}

// unused warns of what the format has no use for, and forgets it.
func (p *parsing) unused() {
	used := map[string]bool{
		KeyTextKey:           usesText(&p.settings),
		KeyColumns:           usesColumns(&p.settings),
		KeyCSVDelimiter:      isFormat(FormatCSV)(&p.settings),
		KeyCSVHeader:         isFormat(FormatCSV)(&p.settings),
		KeyCSVLineEnding:     isFormat(FormatCSV)(&p.settings),
		KeySequenceFileType:  isFormat(FormatSequenceFile)(&p.settings),
		KeySequenceFileValue: isFormat(FormatSequenceFile)(&p.settings),
		KeySequenceFileClass: isFormat(FormatSequenceFile)(&p.settings),
		KeySchema:            usesSchema(&p.settings),
		KeySchemaStrict:      usesSchema(&p.settings),
		KeySchemaFreeForm:    isFormat(FormatParquet)(&p.settings),
		KeyJSONDateFormat:    !usesSchema(&p.settings),
	}
	for _, o := range Options(p.env) {
		if isUsed, ofFormat := used[o.Key]; !ofFormat || isUsed || !p.has(o.Key) || p.failed[o.Key] {
			continue
		}
		p.warn(o.Key, "it has no effect with %s %s", KeyFormat, p.settings.Format)
		if o.Default == "" {
			p.settings.Columns = "" // the only one without a default
		} else if err := o.parse(&p.settings, o.Default); err != nil {
			p.mistake(o, o.Default, err)
		}
	}
}
