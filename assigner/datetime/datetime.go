// Package datetime is the assigner that names buckets by an event's time, as
// Flink's DateTimeBucketAssigner does: one bucket an hour with the default
// pattern, folders in folders with a pattern that has slashes.
//
// It never fails: an event without a usable time is placed by its arrival. Its
// answers are visible paths below the base path, which New has made sure of.
package datetime

import (
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/eventtime"
	"github.com/out-hdfs/out_hdfs/assigner/timepattern"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Options says how buckets are named.
type Options struct {
	// Pattern has Java's DateTimeFormatter letters, or strftime conversions if
	// it has a '%'. See timepattern.
	Pattern string
	Zone    *time.Location // in which the pattern is filled in; nil is the host's
	Source  string         // which time counts; see eventtime.Parse
}

// Assigner names buckets by time. One goroutine uses it at a time.
type Assigner struct {
	source eventtime.Source
	memo   *timepattern.Memo
}

var _ assigner.Assigner = (*Assigner)(nil)

// New compiles the options. It refuses a pattern that could make a path which
// leaves the base path, is hidden from readers, or can't exist on HDFS.
func New(o Options) (*Assigner, error) {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	source, err := eventtime.Parse(o.Source, o.Zone)
	if err != nil {
		return nil, err
	}
	pattern, err := CheckPattern(o.Pattern, o.Zone)
	if err != nil {
		return nil, err
	}
	return &Assigner{source: source, memo: timepattern.NewMemo(pattern, o.Zone)}, nil
}

// CheckPattern compiles a pattern that New would take.
func CheckPattern(pattern string, zone *time.Location) (*timepattern.Pattern, error) {
	p, err := timepattern.Parse(pattern)
	if err != nil {
		return nil, err
	}
	return p, p.CheckPath(zone)
}

// Bucket answers with the pattern's result for the event's time. The error is
// always nil.
func (a *Assigner) Bucket(e *event.Event, c *assigner.Context) (string, error) {
	return a.memo.Format(a.source.At(e, c)), nil
}
