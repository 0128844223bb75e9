package target

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logbook is a slog.Handler that keeps what an operator would read: lines of
// level info and above. The zero value is ready to use.
type logbook struct {
	mu    sync.Mutex
	lines []logLine
}

type logLine struct {
	level slog.Level
	text  string
	attrs map[string]string
}

func (x logLine) String() string { return fmt.Sprintf("%v %s %v", x.level, x.text, x.attrs) }

func (l *logbook) logger() *slog.Logger { return slog.New(l) }

func (l *logbook) Enabled(_ context.Context, v slog.Level) bool { return v >= slog.LevelInfo }
func (l *logbook) WithAttrs([]slog.Attr) slog.Handler           { return l }
func (l *logbook) WithGroup(string) slog.Handler                { return l }

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

// of are the lines whose message begins so.
func (l *logbook) of(message string) (out []logLine) {
	for _, x := range l.all(slog.LevelInfo) {
		if strings.HasPrefix(x.text, message) {
			out = append(out, x)
		}
	}
	return out
}

// all are the lines of a level and above.
func (l *logbook) all(level slog.Level) (out []logLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.lines {
		if x.level >= level {
			out = append(out, x)
		}
	}
	return out
}
