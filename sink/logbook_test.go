package sink_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logbook is a slog.Handler that keeps every line. The zero value is ready to
// use.
type logbook struct {
	mu    sync.Mutex
	lines []logLine
}

type logLine struct {
	level slog.Level
	text  string            // message
	attrs map[string]string // as text
}

func (l *logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logbook) WithGroup(string) slog.Handler            { return l }

func (l *logbook) Handle(_ context.Context, r slog.Record) error {
	line := logLine{r.Level, r.Message, map[string]string{}}
	r.Attrs(func(a slog.Attr) bool {
		line.attrs[a.Key] = a.Value.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// with are the lines whose message contains text.
func (l *logbook) with(text string) (out []logLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.lines {
		if strings.Contains(x.text, text) {
			out = append(out, x)
		}
	}
	return out
}

func (l *logbook) count(text string) int { return len(l.with(text)) }

// atLeast are the lines of a level and above.
func (l *logbook) atLeast(level slog.Level) (out []logLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.lines {
		if x.level >= level {
			out = append(out, x)
		}
	}
	return out
}

func (x logLine) String() string { return fmt.Sprintf("%v %s %v", x.level, x.text, x.attrs) }
