package json

import "github.com/out-hdfs/out_hdfs/codec/event"

// Dates writes events' times as a line's date, for formats that aren't JSON. The
// zero Dates writes ISO8601. One goroutine uses it at a time.
type Dates struct{ writer dateWriter }

// NewDates returns a writer of the format.
func NewDates(f DateFormat) *Dates { return &Dates{dateWriter{format: f}} }

// AppendText appends t as it stands in a line, but without quotes. ok is false
// if t is unset; dst then comes back as it was.
func (d *Dates) AppendText(dst []byte, t event.Time) (_ []byte, ok bool) {
	if !t.Set {
		return dst, false
	}
	start := len(dst)
	dst = d.writer.append(dst, t)
	if dst[start] == '"' {
		copy(dst[start:], dst[start+1:])
		dst = dst[:len(dst)-2]
	}
	return dst, true
}
