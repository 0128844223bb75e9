package json

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// DateFormat is how the event's time is written, by the names that Fluent
// Bit's json_date_format takes and with the text that it writes, and one more.
type DateFormat uint8

const (
	ISO8601          DateFormat = iota // "2018-05-30T09:39:52.000681Z"
	Double                             // 1527673192.000681
	Epoch                              // 1527673192
	EpochMillis                        // 1527673192000
	JavaSQLTimestamp                   // "2018-05-30 09:39:52.000681", UTC
	ISO8601Nanos                       // "2018-05-30T09:39:52.000681999Z", which Fluent Bit doesn't have
)

// ErrDateFormat is wrapped by ParseDateFormat's error.
var ErrDateFormat = errors.New("unknown date format")

// DateFormats are the names ParseDateFormat takes.
func DateFormats() []string {
	return []string{"iso8601", "double", "epoch", "epoch_ms", "java_sql_timestamp", "iso8601_ns"}
}

// ParseDateFormat finds a format by its name, in any case. epoch_millis and
// epoch_milliseconds are Fluent Bit's other names for epoch_ms.
func ParseDateFormat(name string) (DateFormat, error) {
	lower := strings.ToLower(name)
	switch lower {
	case "epoch_millis", "epoch_milliseconds":
		return EpochMillis, nil
	}
	for i, known := range DateFormats() {
		if known == lower {
			return DateFormat(i), nil
		}
	}
	return 0, fmt.Errorf("%w %q: use one of %s", ErrDateFormat, name, strings.Join(DateFormats(), ", "))
}

func (f DateFormat) String() string {
	if names := DateFormats(); int(f) < len(names) {
		return names[f]
	}
	return "DateFormat(" + strconv.Itoa(int(f)) + ")"
}

// dateWriter writes times. Most events of a chunk share their second with the
// one before, so it keeps the text of the last second.
type dateWriter struct {
	format DateFormat
	cached bool
	sec    int64
	text   []byte // opening quote, date, time and the decimal point
}

// append renders t, cut to the microsecond as in Fluent Bit where the format
// has a fraction, but for ISO8601Nanos; null if it is unset.
func (d *dateWriter) append(dst []byte, t event.Time) []byte {
	if !t.Set {
		return append(dst, "null"...)
	}
	switch d.format {
	case Double:
		return appendSeconds(dst, float64(t.Sec)+float64(t.Nsec)/1e9)
	case Epoch:
		return strconv.AppendInt(dst, t.Sec, 10)
	case EpochMillis:
		return strconv.AppendInt(dst, t.Sec*1000+int64(t.Nsec/1e6), 10)
	}
	if !d.cached || d.sec != t.Sec {
		d.render(t.Sec)
	}
	dst = append(dst, d.text...)
	us := t.Nsec / 1000
	dst = append(dst,
		'0'+byte(us/100000%10), '0'+byte(us/10000%10), '0'+byte(us/1000%10),
		'0'+byte(us/100%10), '0'+byte(us/10%10), '0'+byte(us%10))
	switch d.format {
	case ISO8601Nanos:
		ns := t.Nsec % 1000
		return append(dst, '0'+byte(ns/100), '0'+byte(ns/10%10), '0'+byte(ns%10), 'Z', '"')
	case ISO8601:
		return append(dst, 'Z', '"')
	}
	return append(dst, '"')
}

func (d *dateWriter) render(sec int64) {
	layout := `"2006-01-02T15:04:05.`
	if d.format == JavaSQLTimestamp {
		layout = `"2006-01-02 15:04:05.`
	}
	d.text = time.Unix(sec, 0).UTC().AppendFormat(d.text[:0], layout)
	d.sec, d.cached = sec, true
}

// appendSeconds writes 16 significant digits, which is what Fluent Bit writes
// and a little more than a float64 holds of a present-day microsecond; a whole
// number with ".0".
func appendSeconds(dst []byte, f float64) []byte {
	if f == float64(int64(f)) {
		return append(strconv.AppendInt(dst, int64(f), 10), ".0"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 16, 64)
}
