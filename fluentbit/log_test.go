package fluentbit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// writes counts the calls, since a line that takes two can be torn.
type writes struct {
	bytes.Buffer
	calls int
}

func (w *writes) Write(p []byte) (int, error) {
	w.calls++
	return w.Buffer.Write(p)
}

func TestLogLinesReadLikeFluentBits(t *testing.T) {
	rows := []struct {
		name string
		log  func(l *slog.Logger)
		want string // behind the time
	}{
		{"info", func(l *slog.Logger) { l.Info("started") }, "[ info] [output:hdfs:hdfs.1] started"},
		{"warn", func(l *slog.Logger) { l.Warn("slow") }, "[ warn] [output:hdfs:hdfs.1] slow"},
		{"error", func(l *slog.Logger) { l.Error("held") }, "[error] [output:hdfs:hdfs.1] held"},
		{"debug", func(l *slog.Logger) { l.Debug("rolled") }, "[debug] [output:hdfs:hdfs.1] rolled"},
		{"trace", func(l *slog.Logger) { l.Log(context.Background(), levelTrace, "put") }, "[trace] [output:hdfs:hdfs.1] put"},
		{"attributes", func(l *slog.Logger) { l.Info("rolled", "part", "part-0", "records", 12) }, "[ info] [output:hdfs:hdfs.1] rolled part=part-0 records=12"},
		{"a value with spaces", func(l *slog.Logger) { l.Info("x", "error", errors.New(`no "room" left`)) }, `[ info] [output:hdfs:hdfs.1] x error="no \"room\" left"`},
		{"a value of two lines", func(l *slog.Logger) { l.Info("x", "error", "a\nb") }, `[ info] [output:hdfs:hdfs.1] x error="a\nb"`},
		{"a text of two lines", func(l *slog.Logger) { l.Info("a\nb\r\nc") }, "[ info] [output:hdfs:hdfs.1] a b  c"},
		{"a text in another script", func(l *slog.Logger) { l.Info("日志") }, "[ info] [output:hdfs:hdfs.1] 日志"},
		{"an attribute called time", func(l *slog.Logger) { l.Info("x", "time", 3) }, "[ info] [output:hdfs:hdfs.1] x time=3"},
		{"derived", func(l *slog.Logger) { l.With("bucket", "b").WithGroup("part").Info("x", "n", 1) }, "[ info] [output:hdfs:hdfs.1] x bucket=b part.n=1"},
	}
	stamp := regexp.MustCompile(`^\[\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}\] `)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			out := &writes{}
			row.log(slog.New(newLogHandler(out, "hdfs.1", 5)))
			got := out.String()
			if !stamp.MatchString(got) || stamp.ReplaceAllString(got, "") != row.want+"\n" {
				t.Errorf("logged %q, want %q behind the time", got, row.want)
			}
			if out.calls != 1 {
				t.Errorf("a line took %d writes, want 1", out.calls)
			}
		})
	}
}

func TestLogLevelIsFluentBits(t *testing.T) {
	levels := []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug, levelTrace}
	for level, name := range []string{"off", "error", "warn", "info", "debug", "trace", "beyond"} {
		t.Run(name, func(t *testing.T) {
			out := &writes{}
			log := slog.New(newLogHandler(out, "hdfs.0", level))
			for _, l := range levels {
				log.Log(context.Background(), l, "x")
			}
			if want := min(level, len(levels)); out.calls != want {
				t.Errorf("level %d lets %d of the levels through, want %d", level, out.calls, want)
			}
		})
	}
}

func TestLogLinesOfManyGoroutinesStayWhole(t *testing.T) {
	out := &writes{}
	log := slog.New(newLogHandler(out, "hdfs.0", 3))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			mine := log.With("bucket", strings.Repeat("b", 200))
			for range 100 {
				mine.Info("rolled", "part", strings.Repeat("p", 300))
			}
		})
	}
	all.Wait()
	whole := regexp.MustCompile(`^\[[^\]]+\] \[ info\] \[output:hdfs:hdfs\.0\] rolled bucket=b{200} part=p{300}$`)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 800 {
		t.Fatalf("%d lines, want 800", len(lines))
	}
	for _, line := range lines {
		if !whole.MatchString(line) {
			t.Fatalf("torn line %q", line)
		}
	}
}
