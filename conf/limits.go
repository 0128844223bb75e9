package conf

import (
	"errors"
	"strconv"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// limitOptions are Flink's limits, for each scheme, since Fluent Bit answers
// only for keys that are asked by name.
func limitOptions(schemes []string) []Option {
	var all []Option
	for _, scheme := range schemes {
		prefix := "fs." + scheme + ".limit."
		options := inGroup("Limits",
			streams(scheme, Option{Key: prefix + "total", Help: "How many streams may be open on file systems of this scheme. 0 or -1 is no limit."},
				func(l *fs.LimitOptions) *int { return &l.Total }),
			unread(Option{Key: prefix + "input", Help: "How many of them may read. It is Flink's, and without effect: next to nothing is read."}),
			streams(scheme, Option{Key: prefix + "output", Help: "How many of them may write."},
				func(l *fs.LimitOptions) *int { return &l.Output }),
			waits(scheme, Option{Key: prefix + "timeout", Help: "How long to wait for a stream at a limit before the upload is tried again later. 0 waits for ever; a bare number is milliseconds, as in Flink."},
				func(l *fs.LimitOptions) *time.Duration { return &l.Timeout }),
			waits(scheme, Option{Key: prefix + "stream-timeout", Help: "How long a stream may make no progress before it is given up. 0 is for ever; a bare number is milliseconds, as in Flink."},
				func(l *fs.LimitOptions) *time.Duration { return &l.StreamTimeout }),
		)
		for i := range options {
			options[i].Scheme = scheme
		}
		all = append(all, options...)
	}
	return all
}

// setLimit changes a scheme's limits; those that limit nothing are left out.
func (s *Settings) setLimit(scheme string, change func(*fs.LimitOptions)) {
	l := s.Limits[scheme]
	change(&l)
	if l == (fs.LimitOptions{}) {
		return
	}
	if s.Limits == nil {
		s.Limits = map[string]fs.LimitOptions{}
	}
	s.Limits[scheme] = l
}

func streams(scheme string, o Option, at func(*fs.LimitOptions) *int) Option {
	o.Kind, o.Default = Number, "0"
	o.parse = func(s *Settings, text string) error {
		v, err := parseStreams(text)
		if err == nil {
			s.setLimit(scheme, func(l *fs.LimitOptions) { *at(l) = v })
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) {
		l := s.Limits[scheme]
		return strconv.Itoa(*at(&l)), true
	}
	return o
}

func parseStreams(text string) (int, error) {
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil || v < -1 {
		return 0, errors.New("use a whole number of streams, or 0 for no limit")
	}
	return int(max(v, 0)), nil
}

// unread makes o take a number of streams that nobody opens.
func unread(o Option) Option {
	o.Kind, o.Default = Number, "0"
	o.parse = func(_ *Settings, text string) error {
		_, err := parseStreams(text)
		return err
	}
	o.render = func(*Settings) (string, bool) { return o.Default, true }
	return o
}

func waits(scheme string, o Option, at func(*fs.LimitOptions) *time.Duration) Option {
	o.Kind, o.Default = Duration, "0"
	o.parse = func(s *Settings, text string) error {
		v, err := parseDuration(text, time.Millisecond)
		if err != nil {
			return errors.New("use a duration such as 500ms, 90s or 15m; a bare number is milliseconds")
		}
		s.setLimit(scheme, func(l *fs.LimitOptions) { *at(l) = v })
		return nil
	}
	o.render = func(s *Settings) (string, bool) {
		l := s.Limits[scheme]
		return formatDuration(*at(&l)), true
	}
	return o
}
