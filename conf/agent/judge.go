package agent

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/conf"
)

// Plugin is the name under which Fluent Bit knows the plugin.
const Plugin = "hdfs"

// Finding is one thing to say about a configuration.
type Finding struct {
	File string
	Line int
	// Wrong is true of what must be changed, false of what should be looked at.
	Wrong bool
	Text  string
}

func (f Finding) String() string {
	kind := "warning"
	if f.Wrong {
		kind = "error"
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, kind, f.Text)
}

// Output is an hdfs output, and what it is set to.
type Output struct {
	Section  Section
	Options  map[string]string // its own, in lower case
	Settings *conf.Settings    // nil if they are refused
}

// Judge looks at a file's hdfs outputs and at what they depend on. env says what
// the meaning of their options depends on.
func Judge(f *File, env conf.Environment) (outputs []Output, findings []Finding) {
	j := &judge{file: f, env: env, states: map[string]int{}}
	for i := range f.Outputs {
		if s := &f.Outputs[i]; strings.EqualFold(s.Get("name"), Plugin) {
			outputs = append(outputs, j.output(s))
		}
	}
	if len(outputs) > 0 {
		j.service()
		j.inputs(outputs)
	}
	slices.SortStableFunc(j.found, func(a, b Finding) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return outputs, j.found
}

type judge struct {
	file    *File
	env     conf.Environment
	states  map[string]int // line of the output that has the state directory
	longest time.Duration  // exit_timeout of any output
	found   []Finding
}

func (j *judge) say(s *Section, key string, wrong bool, format string, args ...any) {
	j.found = append(j.found, Finding{File: s.File, Line: s.line(key), Wrong: wrong, Text: fmt.Sprintf(format, args...)})
}

// common are the keys that Fluent Bit takes of any output (5.1).
var common = []string{
	"name", "match", "match_regex", "alias", "log_level", "host", "port", "retry_limit", "workers", "storage.total_limit_size",
	"log_suppress_interval", "no_multiplex", "tls", "net.*", "tls.*",
}

func isCommon(key string) bool {
	return slices.ContainsFunc(common, func(pattern string) bool {
		ok, _ := path.Match(pattern, key)
		return ok
	})
}

// output judges one output.
func (j *judge) output(s *Section) Output {
	out := Output{Section: *s, Options: map[string]string{}}
	known := conf.Options(j.env)
	var keys []string
	for _, o := range known {
		keys = append(keys, o.Key)
	}
	for _, p := range s.Properties {
		key := strings.ToLower(p.Key)
		switch {
		case slices.Contains(keys, key):
			if _, twice := out.Options[key]; twice {
				j.say(&Section{File: s.File, Line: p.Line}, "", false, "%s is set twice; the first counts", key)
				continue
			}
			out.Options[key] = p.Value
		case !isCommon(key):
			j.unknown(s, p, append(slices.Clone(keys), common...))
		}
	}
	j.around(s)
	settings, warnings, err := conf.Parse(conf.Map(out.Options), j.env)
	if err != nil {
		j.mistakes(s, err)
		return out
	}
	for _, w := range warnings {
		key, _, _ := strings.Cut(w, ":")
		j.say(s, key, false, "%s", w)
	}
	j.longest = max(j.longest, settings.Delivery.ExitTimeout)
	dir := settings.State.Dir
	if other, taken := j.states[dir]; taken {
		j.say(s, conf.KeyStateDir, true, "state_dir %s is that of the output at line %d too: give each its own", dir, other)
	}
	j.states[dir] = s.Line
	out.Settings = &settings
	return out
}

// mistakes tells each where its key stands.
func (j *judge) mistakes(s *Section, err error) {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		for _, one := range many.Unwrap() {
			j.mistakes(s, one)
		}
		return
	}
	key := ""
	if m := new(conf.Mistake); errors.As(err, &m) {
		key = m.Key
	}
	j.say(s, key, true, "%v", err)
}

// unknown tells of a key that nobody takes, and which one is near it.
func (j *judge) unknown(s *Section, p Property, known []string) {
	at := &Section{File: s.File, Line: p.Line}
	key, nearest, least := strings.ToLower(p.Key), "", 3
	for _, k := range known {
		if d := distance(key, k); d < least {
			nearest, least = k, d
		}
	}
	if nearest != "" {
		j.say(at, "", true, "%s isn't an option, and Fluent Bit ignores it without a word; %s is", p.Key, nearest)
		return
	}
	j.say(at, "", true, "%s isn't an option, and Fluent Bit ignores it without a word", p.Key)
}

// around judges what Fluent Bit makes of the output's own keys.
func (j *judge) around(s *Section) {
	switch limit := strings.ToLower(s.Get("retry_limit")); limit {
	case "no_limits", "false", "off":
	case "":
		j.say(s, "", true, "retry_limit isn't set: Fluent Bit deletes a chunk after one retry; set retry_limit no_limits")
	default:
		j.say(s, "retry_limit", true, "with retry_limit %s Fluent Bit deletes chunks while the state directory is full; set retry_limit no_limits", limit)
	}
	if limit := s.Get("storage.total_limit_size"); limit != "" {
		j.say(s, "storage.total_limit_size", false, "Fluent Bit deletes the oldest chunks beyond storage.total_limit_size %s without a word; "+
			"leave it out, and make room for storage.path", limit)
	}
	if workers := s.Get("workers"); workers == "" || workers == "0" {
		j.say(s, "workers", false, "without workers a flush that waits for a disk stops the whole agent; set workers 2")
	}
	if on(s.Get("tls")) {
		j.say(s, "tls", true, "Fluent Bit doesn't start a Go plugin with tls on")
	}
	if s.Processors {
		j.say(s, "", false, "processors of an output take from its chunks what tells them apart: one that is delivered twice is written twice; "+
			"put them on the inputs")
	}
}

func on(value string) bool {
	switch strings.ToLower(value) {
	case "on", "true", "yes", "1":
		return true
	}
	return false
}

// service judges what all of an agent's outputs share.
func (j *judge) service() {
	s := &j.file.Service
	if on(s.Get("storage.checksum")) {
		j.say(s, "storage.checksum", true, "after a kill Fluent Bit refuses its own chunks with storage.checksum on, and loses them; leave it off")
	}
	if s.Get("storage.path") == "" {
		j.say(s, "", true, "storage.path isn't set: chunks are in memory only, and lost with the agent")
	} else if !strings.EqualFold(s.Get("storage.sync"), "full") {
		j.say(s, "storage.sync", false, "without storage.sync full a power loss takes what Fluent Bit holds and hasn't handed on")
	}
	if on(s.Get("daemon")) {
		j.say(s, "daemon", true, "a Go plugin doesn't survive that the agent forks; set daemon off, and let systemd keep it")
	}
	grace, err := time.ParseDuration(strings.TrimSpace(s.Get("grace")) + "s")
	if s.Get("grace") == "" {
		grace, err = 5*time.Second, nil // Fluent Bit's default
	}
	if err == nil && grace <= j.longest {
		j.say(s, "grace", false, "grace %s isn't longer than exit_timeout %s: a stop cuts off what could still be published; set grace %d",
			grace, j.longest, int((j.longest * 2).Seconds()))
	}
}

// inputs judges those whose records may reach one of the outputs.
func (j *judge) inputs(outputs []Output) {
	for i := range j.file.Inputs {
		in := &j.file.Inputs[i]
		if !slices.ContainsFunc(outputs, func(o Output) bool { return reaches(in, &o.Section) }) {
			continue
		}
		if !strings.EqualFold(in.Get("storage.type"), "filesystem") {
			j.say(in, "storage.type", true, "input %s has no storage.type filesystem: its chunks have no file and no identity, and are lost or "+
				"written twice when the agent dies", in.Get("name"))
		}
	}
}

// reaches reports whether an input's records may match an output. Where that
// can't be told they may.
func reaches(in, out *Section) bool {
	tag, match := in.Get("tag"), out.Get("match")
	if tag == "" || match == "" || strings.ContainsAny(tag, "*<$") {
		return true
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(match), `\*`, ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(tag)
}

// distance is how many letters must be changed, added or left out (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := before
			if a[i] != b[k] {
				cost++
			}
			before = row[k+1]
			row[k+1] = min(cost, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
