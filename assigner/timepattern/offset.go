package timepattern

// offsetStyle is a way to write an offset from UTC.
type offsetStyle struct {
	zero      string // what is written for UTC itself; "" if it has no form of its own
	prefix    string
	colon     bool
	shortHour bool // without leading zero
	minutes   bool // even when they are zero
	seconds   bool // when they aren't zero
}

func (s offsetStyle) append(dst []byte, offset int) []byte {
	if offset == 0 && s.zero != "" {
		return append(dst, s.zero...)
	}
	start := len(dst)
	dst = append(dst, s.prefix...)
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	hour, minute, second := offset/3600, offset/60%60, offset%60
	dst = append(dst, sign)
	if hour >= 10 || !s.shortHour {
		dst = append(dst, byte('0'+hour/10%10))
	}
	dst = append(dst, byte('0'+hour%10))
	writeSeconds := s.seconds && second != 0
	shown := hour
	if s.minutes || minute != 0 || writeSeconds {
		dst = s.appendTwo(dst, minute)
		shown += minute
	}
	if writeSeconds {
		dst = s.appendTwo(dst, second)
		shown += second
	}
	if shown == 0 && s.zero != "" { // an offset of seconds that the style doesn't show
		return append(dst[:start], s.zero...)
	}
	return dst
}

func (s offsetStyle) appendTwo(dst []byte, v int) []byte {
	if s.colon {
		dst = append(dst, ':')
	}
	return append(dst, byte('0'+v/10), byte('0'+v%10))
}
