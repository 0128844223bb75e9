package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/conf"
)

func environment() conf.Environment {
	return conf.Environment{Formats: conf.FormatNames(), Schemes: []string{"file", "hdfs"}, OpenSchema: schema.Open}
}

// files are written side by side; the first is the configuration.
type files []string

func (f files) judge(t *testing.T) ([]Output, []Finding, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(f); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, f[i]), []byte(f[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"TARGET": "hdfs://prod/logs"}[name] }
	file, err := Read(filepath.Join(dir, f[0]), getenv)
	if err != nil {
		return nil, nil, err
	}
	outputs, findings := Judge(file, environment())
	return outputs, findings, nil
}

const goodService = `[SERVICE]
    grace         60
    storage.path  /var/lib/fluent-bit
    storage.sync  full
`

const goodInput = `[INPUT]
    name          tail
    tag           app
    path          /var/log/*.log
    storage.type  filesystem
`

const goodOutput = `[OUTPUT]
    name         hdfs
    match        *
    path         ${TARGET}
    state_dir    /data/state
    workers      2
    retry_limit  no_limits
`

const goodYAML = `
env:
  LEVEL: /data/state
service:
  grace: 60
  storage.path: /var/lib/fluent-bit
  storage.sync: full
pipeline:
  inputs:
    - name: tail
      tag: app
      storage.type: filesystem
  outputs:
    - name: hdfs
      match: '*'
      path: ${TARGET}
      state_dir: ${LEVEL}
      workers: 2
      retry_limit: no_limits
      bucket_format: "yyyy/MM/dd"
`

// TestConfigurations: each has these findings and no other, each at the line of
// what it is about.
func TestConfigurations(t *testing.T) {
	in := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q isn't in it", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	good := goodService + goodInput + goodOutput
	for name, row := range map[string]struct {
		files files
		want  []string // regular expressions of the findings, "line: text"
	}{
		"good, classic": {files{"a.conf", good}, nil},
		"good, YAML":    {files{"a.yaml", goodYAML}, nil},
		"good, in several files": {files{"a.conf", "@SET DIR=/data/state\n" + goodService + "@INCLUDE in*.conf\n@INCLUDE out.conf\n", "in1.conf", goodInput,
			"out.conf", in(goodOutput, "/data/state", "${DIR}")}, nil},
		"good, YAML in several files": {files{"a.yaml", "includes:\n  - b.yaml\n", "b.yaml", goodYAML}, nil},
		"nothing of hdfs":             {files{"a.conf", in(good, "hdfs\n", "stdout\n")}, nil},
		"a retry_limit":               {files{"a.conf", in(good, "no_limits", "5")}, []string{`16: error: with retry_limit 5 .* set retry_limit no_limits`}},
		"no retry_limit":              {files{"a.conf", in(good, "    retry_limit  no_limits\n", "")}, []string{`10: error: retry_limit isn't set`}},
		"chunks in memory":            {files{"a.conf", in(good, "    storage.type  filesystem\n", "")}, []string{`5: error: input tail has no storage.type filesystem`}},
		"an input for another output": {files{"a.conf", in(in(good, "    storage.type  filesystem\n", ""), "match        *", "match        audit.*")}, nil},
		"no storage.path":             {files{"a.conf", in(good, "    storage.path  /var/lib/fluent-bit\n", "")}, []string{`1: error: storage.path isn't set`}},
		"a checksum":                  {files{"a.conf", in(good, "storage.sync  full", "storage.sync full\n    storage.checksum on")}, []string{`5: error: .*storage.checksum`}},
		"a limit of the storage":      {files{"a.conf", good + "    storage.total_limit_size 1G\n"}, []string{`17: warning: .*deletes the oldest chunks`}},
		"the default grace":           {files{"a.conf", in(good, "    grace         60\n", "")}, []string{`1: warning: grace 5s isn't longer than exit_timeout 15s.*set grace 30`}},
		"no workers":                  {files{"a.conf", in(good, "workers      2", "workers 0")}, []string{`15: warning: without workers`}},
		"a daemon":                    {files{"a.conf", in(good, "grace ", "daemon on\n    grace ")}, []string{`2: error: .*forks`}},
		"a misspelt key":              {files{"a.conf", good + "    roll_intervall 1h\n"}, []string{`17: error: roll_intervall isn't an option.*; roll_interval is`}},
		"a misspelt key of Fluent Bit": {files{"a.conf", in(good, "retry_limit  no_limits", "retry_limits no_limits")}, []string{
			`10: error: retry_limit isn't set`, `16: error: retry_limits isn't an option.*; retry_limit is`}},
		"a key of nobody":    {files{"a.conf", good + "    bucket s3\n"}, []string{`17: error: bucket isn't an option, and Fluent Bit ignores it`}},
		"keys of any output": {files{"a.conf", good + "    alias x\n    log_level debug\n    net.keepalive off\n"}, nil},
		"a key twice":        {files{"a.conf", good + "    STATE_DIR /other\n"}, []string{`17: warning: state_dir is set twice; the first counts`}},
		"quotes":             {files{"a.conf", good + "    bucket_format 'yyyy/MM/dd'\n"}, []string{`17: error: bucket_format.*write yyyy/MM/dd without them`}},
		"two mistakes":       {files{"a.conf", good + "    format jsn\n    roll_size lots\n"}, []string{`17: error: format "jsn"`, `18: error: roll_size "lots"`}},
		"a warning":          {files{"a.conf", good + "    csv_header on\n"}, []string{`17: warning: csv_header: it has no effect with format json`}},
		"one state_dir":      {files{"a.conf", good + goodOutput}, []string{`21: error: state_dir /data/state is that of the output at line 10 too`}},
		"bad YAML": {files{"a.yaml", in(in(goodYAML, "retry_limit: no_limits", "retry_limit: 3\n      processors:\n        logs: []"), "bucket_format", "bucket_fromat")}, []string{
			`14: warning: processors of an output`, `19: error: with retry_limit 3`, `22: error: bucket_fromat isn't an option.*; bucket_format is`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings, err := row.files.judge(t)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				_, text, _ := strings.Cut(f.String(), row.files[0]+":")
				got = append(got, text)
			}
			ok := slices.EqualFunc(got, row.want, func(g, w string) bool { return regexp.MustCompile("^" + w).MatchString(g) })
			if !ok {
				t.Errorf("found\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(row.want, "\n"))
			}
		})
	}
}

// TestOutputs are what the plugin will be given.
func TestOutputs(t *testing.T) {
	for _, f := range []files{{"a.conf", goodService + goodInput + goodOutput}, {"a.yaml", goodYAML}} {
		outputs, _, err := f.judge(t)
		if err != nil || len(outputs) != 1 {
			t.Fatalf("%d outputs: %v", len(outputs), err)
		}
		o := outputs[0]
		if o.Options["path"] != "hdfs://prod/logs" || o.Options["state_dir"] != "/data/state" || o.Settings.Target.Location.String() != "hdfs://prod/logs" {
			t.Errorf("options %v", o.Options)
		}
	}
}

// TestUnreadable: what can't be read is told with its place.
func TestUnreadable(t *testing.T) {
	for name, row := range map[string]struct {
		files files
		says  string
	}{
		"a key outside":             {files{"a.conf", "name hdfs\n"}, "a.conf:1: a key outside"},
		"a section that is open":    {files{"a.conf", "[OUTPUT\n"}, "a.conf:1: a section isn't closed"},
		"a key without a value":     {files{"a.conf", "[OUTPUT]\n    name\n"}, "a.conf:2: Fluent Bit doesn't start"},
		"an unknown command":        {files{"a.conf", "@INCLUD x\n"}, "a.conf:1: @INCLUD isn't a command"},
		"an include that's missing": {files{"a.conf", "@INCLUDE none.conf\n"}, "none.conf"},
		"an include of itself":      {files{"a.conf", "@INCLUDE a.conf\n"}, "includes itself"},
		"YAML that isn't":           {files{"a.yaml", "a: [\n"}, "a.yaml"},
		"YAML of another kind":      {files{"a.yaml", "- a\n"}, "a.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := row.files.judge(t); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v doesn't say %q", err, row.says)
			}
		})
	}
}
