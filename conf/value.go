package conf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var (
	errSize     = errors.New("use a size such as 512K, 128M, 10G (powers of 1000) or 128MiB (of 1024)")
	errDuration = errors.New("use a duration such as 500ms, 90s, 15m, 1h30m or 1d; a bare number is seconds")
)

func sizeUnit(unit string) (bytes int64, ok bool) {
	switch strings.ToLower(unit) {
	case "", "b":
		return 1, true
	case "k", "kb":
		return 1e3, true
	case "m", "mb":
		return 1e6, true
	case "g", "gb":
		return 1e9, true
	case "ki", "kib":
		return 1 << 10, true
	case "mi", "mib":
		return 1 << 20, true
	case "gi", "gib":
		return 1 << 30, true
	}
	return 0, false
}

// parseSize reads a number of bytes as Fluent Bit does, and the binary units.
func parseSize(text string) (int64, error) {
	digits, unit := cutDigits(text)
	factor, ok := sizeUnit(strings.TrimSpace(unit))
	if !ok || digits == "" {
		return 0, errSize
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || v > math.MaxInt64/factor {
		return 0, fmt.Errorf("it is more than %s", formatSize(math.MaxInt64))
	}
	return v * factor, nil
}

// formatSize is the shortest text that parseSize reads as v.
func formatSize(v int64) string {
	for _, unit := range []string{"G", "GiB", "M", "MiB", "K", "KiB"} {
		factor, _ := sizeUnit(unit)
		if v != 0 && v%factor == 0 {
			return strconv.FormatInt(v/factor, 10) + unit
		}
	}
	return strconv.FormatInt(v, 10)
}

func durationUnit(unit string) (d time.Duration, ok bool) {
	switch strings.ToLower(unit) {
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	}
	return 0, false
}

// parseDuration reads numbers with units one after the other; a number alone
// counts bare.
func parseDuration(text string, bare time.Duration) (time.Duration, error) {
	var sum time.Duration
	last := time.Duration(math.MaxInt64)
	for rest := text; rest != ""; {
		digits, after := cutDigits(rest)
		n := 0
		for n < len(after) && (after[n] < '0' || after[n] > '9') {
			n++
		}
		unit, ok := bare, after == "" && digits == text
		if !ok {
			unit, ok = durationUnit(strings.TrimSpace(after[:n]))
		}
		if !ok || digits == "" || unit >= last {
			return 0, errDuration
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v > int64((math.MaxInt64-sum)/unit) {
			return 0, fmt.Errorf("it is more than %s", formatDuration(math.MaxInt64/(24*time.Hour)*(24*time.Hour)))
		}
		sum += time.Duration(v) * unit
		last, rest = unit, strings.TrimSpace(after[n:])
	}
	if text == "" {
		return 0, errDuration
	}
	return sum, nil
}

// formatDuration is a text that parseDuration reads as d, whose milliseconds
// are whole.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	for _, name := range []string{"d", "h", "m", "s"} {
		if unit, _ := durationUnit(name); d%unit == 0 {
			return strconv.FormatInt(int64(d/unit), 10) + name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

func cutDigits(text string) (digits, rest string) {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return text[:n], text[n:]
}

// parseBool reads what Fluent Bit takes for a boolean; ok is false for
// anything else.
func parseBool(text string) (v, ok bool) {
	switch strings.ToLower(text) {
	case "on", "true", "yes":
		return true, true
	case "off", "false", "no":
		return false, true
	}
	return false, false
}

// checkPlain refuses what no name or path should hold.
func checkPlain(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("it isn't valid UTF-8")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("it has a control character")
	}
	return nil
}
