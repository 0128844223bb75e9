package fluentbit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/assigner/timezone"
)

// levelTrace is Fluent Bit's level below debug.
const levelTrace = slog.LevelDebug - 4

// logHandler writes events as Fluent Bit writes its own:
//
//	[2026/11/29 21:56:51.123] [ info] [output:hdfs:hdfs.0] text key=value
//
// An event is one line and one write. It is safe for concurrent use.
type logHandler struct {
	source string
	level  slog.Level
	zone   *time.Location // of TZ as Fluent Bit's own log reads it
	text   slog.Handler   // formats the attributes into line
	*line
}

// line is where a handler and all that are derived from it put a line together.
type line struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
	out io.Writer
}

// newLogHandler logs to out, up to Fluent Bit's level (0 off, 1 error … 5 trace).
func newLogHandler(out io.Writer, instance string, level int) *logHandler {
	levels := []slog.Level{slog.LevelError + 1, slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug, levelTrace}
	l := &line{out: out}
	zone, err := timezone.Host(os.Getenv("TZ"))
	if err != nil {
		zone = time.Local // opening an output says what is wrong with it
	}
	return &logHandler{
		source: "[output:hdfs:" + instance + "] ",
		level:  levels[min(max(level, 0), len(levels)-1)],
		zone:   zone,
		line:   l,
		text: slog.NewTextHandler(&l.buf, &slog.HandlerOptions{
			Level:       levelTrace,
			ReplaceAttr: withoutBuiltin,
		}),
	}
}

var _ slog.Handler = (*logHandler)(nil)

// withoutBuiltin leaves out what the line says in its own form. The time isn't
// among it, as the record that is formatted has none.
func withoutBuiltin(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return a
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Reset()
	at := r.Time
	if at.IsZero() {
		at = time.Now()
	}
	h.buf.WriteString(at.In(h.zone).Format("[2006/01/02 15:04:05.000] ["))
	h.buf.WriteString(title(r.Level))
	h.buf.WriteString("] ")
	h.buf.WriteString(h.source)
	h.buf.WriteString(printable.Replace(r.Message))
	h.buf.WriteByte(' ')
	r.Time = time.Time{}
	if err := h.text.Handle(ctx, r); err != nil {
		return err
	}
	line := bytes.TrimRight(h.buf.Bytes(), " \n")
	_, err := h.out.Write(append(line, '\n'))
	return err
}

// printable keeps a message on its line.
var printable = strings.NewReplacer("\n", " ", "\r", " ")

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.text = h.text.WithAttrs(attrs)
	return &with
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.text = h.text.WithGroup(name)
	return &with
}

// title is Fluent Bit's name for a level, five characters wide.
func title(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return " warn"
	case level >= slog.LevelInfo:
		return " info"
	case level >= slog.LevelDebug:
		return "debug"
	default:
		return "trace"
	}
}

// stderr writes to the process's standard error. Unlike os.Stderr it doesn't
// end the process when nobody reads that any more: the line is lost.
type stderr struct{}

func (stderr) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		n, err := unix.Write(unix.Stderr, p[done:])
		if err != nil && !errors.Is(err, unix.EINTR) {
			return done, err
		}
		done += max(n, 0)
	}
	return len(p), nil
}
