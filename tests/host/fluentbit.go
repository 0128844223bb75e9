package host

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FluentBit is the path of a fluent-bit on PATH, or "".
func FluentBit() string {
	path, err := exec.LookPath("fluent-bit")
	if err != nil {
		return ""
	}
	return path
}

// RunFluentBit starts a fluent-bit with the outputs and the storage of o. It
// sends o's records, from a file that it tails, with the same ids and times
// (or those of o.Input); how they fall into chunks is its own affair. What of
// o would ask for the host's own engine (OnOK, Stack, Rate and so on) has no
// meaning. dir takes its configuration, and is kept from run to run with it:
// a record that was once tailed isn't tailed again. It ends when the file is
// read, or with a Linger when it is terminated, and reports no events.
func RunFluentBit(ctx context.Context, dir string, o Options) (*Process, error) {
	input := o.Input
	if input == "" {
		input = filepath.Join(dir, "input.ndjson")
		if err := appendLines(input, o); err != nil {
			return nil, err
		}
	}
	files := map[string]string{
		"fluent-bit.conf": o.fluentBitConf(dir, input),
		"plugins.conf":    "[PLUGINS]\n    Path " + o.Plugin + "\n",
		"parsers.conf":    parsers(o.timeKey()),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return start(exec.CommandContext(ctx, FluentBit(), "-c", filepath.Join(dir, "fluent-bit.conf")))
}

func (o Options) timeKey() string {
	if o.TimeKey == "" {
		return "date"
	}
	return o.TimeKey
}

func parsers(timeKey string) string {
	return section("PARSER", "Name", "lines", "Format", "json", "Time_Key", timeKey, "Time_Format", "%Y-%m-%dT%H:%M:%S.%LZ")
}

func (o Options) fluentBitConf(dir, input string) string {
	grace := o.Grace
	if grace == 0 {
		grace = 5 * time.Second
	}
	tag, storage := "host.test", "filesystem"
	if len(o.Tags) > 0 {
		tag = o.Tags[0]
	}
	if o.Memory {
		storage = "memory"
	}
	text := section("SERVICE",
		"Flush", "0.2", "Grace", fmt.Sprint(int(grace.Seconds())), "Log_Level", "info", "Daemon", onOff(o.Daemon),
		"Parsers_File", filepath.Join(dir, "parsers.conf"), "Plugins_File", filepath.Join(dir, "plugins.conf"),
		"storage.path", o.Storage, "scheduler.base", "1", "scheduler.cap", "2") +
		section("INPUT",
			"Name", "tail", "Path", input, "DB", filepath.Join(dir, "tail.db"), "Read_from_Head", "On",
			"Parser", "lines", "Tag", tag, "Refresh_Interval", "1", "Exit_On_Eof", onOff(o.Linger == 0), "storage.type", storage)
	for _, out := range o.Outputs {
		text += out.section()
	}
	return text
}

func (o Output) section() string {
	retry := "no_limits"
	if o.RetryLimit > 0 {
		retry = fmt.Sprint(o.RetryLimit)
	}
	pairs := []string{"Name", "hdfs", "Match", "*", "Workers", fmt.Sprint(o.Workers), "Retry_Limit", retry}
	if o.Name != "" {
		pairs = append(pairs, "Alias", o.Name)
	}
	if o.LogLevel > 0 {
		pairs = append(pairs, "Log_Level", []string{"off", "error", "warn", "info", "debug", "trace"}[o.LogLevel])
	}
	for _, key := range slices.Sorted(maps.Keys(o.Set)) {
		if o.Set[key] != "" { // Fluent Bit refuses a key without a value
			pairs = append(pairs, key, o.Set[key])
		}
	}
	return section("OUTPUT", pairs...)
}

// section writes keys and values, in turn, in Fluent Bit's classic form.
func section(name string, pairs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", name)
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "    %s %s\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

func onOff(on bool) string {
	if on {
		return "On"
	}
	return "Off"
}

// appendLines writes o's records as JSON lines behind those that are there.
func appendLines(path string, o Options) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	first, hours, perChunk, size, start := max(o.FirstID, 1), max(o.Hours, 1), o.Records, o.RecordSize, o.Start
	if perChunk == 0 {
		perChunk = 100
	}
	if size == 0 {
		size = 200
	}
	if start.IsZero() {
		start = time.Unix(1764460800, 0)
	}
	filling := strings.Repeat("x", size)
	for n := range o.Chunks * perChunk {
		at := start.Add(time.Duration(n%hours)*time.Hour + time.Duration(n/hours%3600)*time.Second).UTC()
		fmt.Fprintf(w, `{%q:%q,"id":%d,"stream":"stdout","log":"请求 %s","kubernetes":{"namespace_name":"shop","pod_name":"cart-0"}}`+"\n",
			o.timeKey(), at.Format("2006-01-02T15:04:05.000Z"), first+uint64(n), filling)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
