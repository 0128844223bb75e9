package sinktest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// Logbook is a slog.Handler that keeps every line. The zero value is ready to
// use.
type Logbook struct {
	mu    sync.Mutex
	lines []LogLine
}

type LogLine struct {
	Level slog.Level
	Text  string            // message
	Attrs map[string]string // as text
}

func (l *Logbook) Enabled(context.Context, slog.Level) bool { return true }
func (l *Logbook) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *Logbook) WithGroup(string) slog.Handler            { return l }

func (l *Logbook) Handle(_ context.Context, r slog.Record) error {
	line := LogLine{r.Level, r.Message, map[string]string{}}
	r.Attrs(func(a slog.Attr) bool {
		line.Attrs[a.Key] = a.Value.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

// With are the lines whose message contains text.
func (l *Logbook) With(text string) (out []LogLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.lines {
		if strings.Contains(x.Text, text) {
			out = append(out, x)
		}
	}
	return out
}

func (l *Logbook) Count(text string) int { return len(l.With(text)) }

// AtLeast are the lines of a level and above.
func (l *Logbook) AtLeast(level slog.Level) (out []LogLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.lines {
		if x.Level >= level {
			out = append(out, x)
		}
	}
	return out
}

func (x LogLine) String() string { return fmt.Sprintf("%v %s %v", x.Level, x.Text, x.Attrs) }
