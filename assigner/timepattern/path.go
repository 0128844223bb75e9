package timepattern

import (
	"fmt"
	"strings"
	"time"
)

// MaxSegment is the longest file or directory name in bytes that HDFS (by its
// default) and Linux take.
const MaxSegment = 255

// CheckPath tells whether every result for an instant in loc, from 1970 to
// 9999, is a path below a base that HDFS takes and readers see: no segment is
// empty, hidden (a leading '.' or '_') or longer than MaxSegment, and none has
// a colon, which Hadoop refuses, or a control character.
func (p *Pattern) CheckPath(loc *time.Location) error {
	c := pathCheck{}
	for i := range p.ops {
		o := &p.ops[i]
		var err error
		switch o.kind {
		case opLiteral:
			err = c.text(o.text)
		case opZoneID:
			err = c.zoneID(loc)
		case opOffset, opZoneAbbrev:
			err = c.zoneText(o, loc)
		default:
			c.segment += o.maxLen()
			err = c.tooLong()
		}
		if err != nil {
			return fmt.Errorf("time pattern %q: %w", p.source, err)
		}
	}
	if c.segment == 0 {
		return fmt.Errorf("time pattern %q: %w", p.source, errEmptySegment(c.slash))
	}
	return nil
}

func errEmptySegment(slash bool) error {
	if !slash {
		return fmt.Errorf("the result is empty; use assigner base_path to write into the base path itself")
	}
	return fmt.Errorf("a folder name in the result is empty; leave out a slash at the start or end, and double ones")
}

// pathCheck walks a result from left to right.
type pathCheck struct {
	segment int // the longest that the current segment can be so far
	slash   bool
}

func (c *pathCheck) text(s string) error {
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case b == '/':
			if c.slash = true; c.segment == 0 {
				return errEmptySegment(true)
			}
			c.segment = 0
			continue
		case b == ':':
			return fmt.Errorf("the result has a colon, which Hadoop allows in no path; write HH-mm instead of HH:mm")
		case b < 0x20 || b == 0x7f:
			return fmt.Errorf("the result has the control character %#02x", b)
		case c.segment == 0 && (b == '.' || b == '_'):
			return fmt.Errorf("a folder name in the result starts with %q, which hides it from Hive, Spark, Trino and MapReduce", b)
		}
		c.segment++
	}
	return c.tooLong()
}

func (c *pathCheck) tooLong() error {
	if c.segment > MaxSegment {
		return fmt.Errorf("a folder name in the result can have %d bytes, at most %d are allowed", c.segment, MaxSegment)
	}
	return nil
}

func (c *pathCheck) zoneID(loc *time.Location) error {
	if loc == time.Local || loc.String() == "" || loc.String() == "Local" {
		return fmt.Errorf("VV needs a named zone, and the host's has no name; set bucket_timezone")
	}
	return c.text(loc.String())
}

// zoneText tries the op in each period of the zone's history and future.
func (c *pathCheck) zoneText(o *op, loc *time.Location) error {
	start, longest := c.segment, 0
	for t := time.Unix(0, 0).In(loc); ; {
		s := string(o.append(nil, t))
		if strings.Contains(s, "/") {
			return fmt.Errorf("the zone's abbreviation %q has a slash", s)
		}
		c.segment = start
		if err := c.text(s); err != nil {
			return err
		}
		longest = max(longest, c.segment)
		_, end, bounded := zonePeriod(t)
		// A zone's last rule repeats year by year: it has been seen by then.
		if !bounded || t.Year() > 2050 {
			break
		}
		t = time.Unix(end, 0).In(loc)
	}
	c.segment = longest
	return nil
}
