package target

import (
	"log/slog"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// logbook keeps what an operator would read. The zero value is ready to use.
type logbook struct{ sinktest.Logbook }

func (l *logbook) logger() *slog.Logger { return slog.New(&l.Logbook) }

// of are the lines of level info and above whose message begins so.
func (l *logbook) of(message string) (out []sinktest.LogLine) {
	for _, x := range l.all(slog.LevelInfo) {
		if strings.HasPrefix(x.Text, message) {
			out = append(out, x)
		}
	}
	return out
}

// all are the lines of a level and above.
func (l *logbook) all(level slog.Level) []sinktest.LogLine { return l.AtLeast(level) }
