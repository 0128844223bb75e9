package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckSaysWhatAConfigurationComesTo: options and Hadoop's files lead to one
// cluster, and what is wrong names the file to look at.
func TestCheckSaysWhatAConfigurationComesTo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("<configuration>"+content+"</configuration>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := func(name, value string) string {
		return "<property><name>" + name + "</name><value>" + value + "</value></property>"
	}
	write("core-site.xml", p("fs.defaultFS", "hdfs://logs"))
	write("hdfs-site.xml", p("dfs.nameservices", "logs,archive")+p("dfs.ha.namenodes.logs", "nn1,nn2")+
		p("dfs.namenode.rpc-address.logs.nn1", "a:8020")+p("dfs.namenode.rpc-address.logs.nn2", "b:8020")+
		p("dfs.namenode.rpc-address.archive", "c:8020"))
	for _, row := range []struct {
		name  string
		path  string
		says  []string
		fails bool
	}{
		{"the default", "/logs", []string{"hdfs://logs/logs", dir + "/core-site.xml", dir + "/hdfs-site.xml", "a:8020, b:8020", "alice"}, false},
		{"another nameservice", "hdfs://archive/x", []string{"hdfs://archive/x", "c:8020"}, false},
		{"a local path", "file:///x", []string{"file:///x"}, false},
		{"one that isn't configured", "hdfs://log/x", []string{"log", "logs, archive", dir + "/hdfs-site.xml"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := run(t, "check", "-o", "hadoop_conf_dir="+dir, "-o", "hdfs_user=alice", "-o", "path="+row.path)
			if (err != nil) != row.fails {
				t.Fatal(err)
			}
			if err != nil {
				out += err.Error()
			}
			for _, want := range row.says {
				if !strings.Contains(out, want) {
					t.Errorf("it doesn't say %q:\n%s", want, out)
				}
			}
			if strings.Contains(out, "c:8020") && strings.Contains(out, "a:8020") {
				t.Errorf("NameNodes of two nameservices:\n%s", out)
			}
		})
	}
}

// TestCheckTriesTheTarget leaves nothing behind, and fails where a sink would.
func TestCheckTriesTheTarget(t *testing.T) {
	a := newAgent(t)
	if err := a.open().Close(); err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, "check", "--state-dir", a.stateDir, "--connect")
	for _, want := range []string{"file://" + a.lands, "create", "rename", "find", "remove"} {
		if !strings.Contains(out, want) {
			t.Errorf("it doesn't say %q:\n%s", want, out)
		}
	}
	if left, err := os.ReadDir(a.lands); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "check", "--connect", "-o", "path=file://"+file+"/x")
	if err == nil || !strings.Contains(out, "FAILED") || !strings.Contains(out, file) {
		t.Errorf("below a file it says %v:\n%s", err, out)
	}
}

// TestCheckReadsFluentBitsConfiguration says what is wrong and what it comes to,
// and fails where something must be changed.
func TestCheckReadsFluentBitsConfiguration(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	good := `[SERVICE]
    grace         60
    storage.path  /var/lib/fluent-bit
    storage.sync  full
[INPUT]
    name          tail
    storage.type  filesystem
[OUTPUT]
    name         hdfs
    match        *
    path         file://` + dir + `/logs
    state_dir    ` + dir + `/state
    workers      2
    retry_limit  no_limits
`
	for name, row := range map[string]struct {
		content string
		args    []string
		says    []string
		fails   bool
	}{
		"a good one":        {good, nil, []string{"a.conf:8", "file://" + dir + "/logs"}, false},
		"a good one, tried": {good, []string{"--connect"}, []string{"ok"}, false},
		"a bad one": {strings.Replace(good, "no_limits", "3", 1) + "    roll_intervall 1h\n", nil,
			[]string{"a.conf:14: error: with retry_limit 3", "a.conf:15: error: roll_intervall", "roll_interval is", "2 things must be changed"}, true},
		"one that warns":    {strings.Replace(good, "workers      2", "workers      0", 1), nil, []string{"a.conf:13: warning: without workers"}, false},
		"options refused":   {good + "    format jsn\n", nil, []string{"a.conf:15: error: format"}, true},
		"none of ours":      {strings.Replace(good, "hdfs\n", "stdout\n", 1), nil, []string{"no output of the name hdfs"}, true},
		"nothing to read":   {"[OUTPUT\n", nil, []string{"a.conf:1"}, true},
		"options beside it": {good, []string{"-o", "path=/x"}, []string{"leave -o"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "a.conf")
			if err := os.WriteFile(file, []byte(row.content), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, append([]string{"check", file}, row.args...)...)
			if (err != nil) != row.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			if err != nil {
				out += err.Error()
			}
			for _, want := range row.says {
				if !strings.Contains(out, want) {
					t.Errorf("it doesn't say %q:\n%s", want, out)
				}
			}
		})
	}
}
