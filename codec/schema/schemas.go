package schema

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Options say where schemas come from.
type Options struct {
	// Path is an .avsc file; "" learns the schema from the records.
	Path   string
	Strict bool // of a given schema: Strict instead of Lenient
	// Dir is where a learned schema is kept, so that a restart need not learn
	// again; "" keeps none.
	Dir string
	// The columns of what lies outside the record; an empty key leaves it out.
	// In a given schema DateKey and TagKey name the fields that take the event's
	// time and tag.
	DateKey, TagKey, MetadataKey, GroupKey string
	Zone                                   *time.Location // see Schema
}

// Schemas is where a format has its schemas from: one that is given, or the
// latest of those that are learned. It is safe for concurrent use.
type Schemas struct {
	current atomic.Pointer[Schema]

	lock    sync.Mutex
	options Options
	learner *learner // nil if the schema is given
	learned bool     // something was learned, or read from Dir
}

// Open reads the given schema, or what was learned before.
func Open(o Options) (*Schemas, error) {
	s := &Schemas{options: o}
	if o.Path != "" {
		text, err := os.ReadFile(o.Path)
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		rules := Lenient
		if o.Strict {
			rules = Strict
		}
		given, err := Parse(text, rules, o.DateKey, o.TagKey)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Path, err)
		}
		given.Zone = o.Zone
		s.current.Store(given)
		return s, nil
	}
	s.learner = newLearner(s.reserved()...)
	if before := load(o.Dir); before != nil {
		s.learner.load(s.learner.root, before.Fields)
		s.learned = len(s.learner.root.members) > 0
	}
	s.current.Store(s.make())
	return s, nil
}

// Current is the schema that parts begin with now, but for what was learned
// since the last of them did.
func (s *Schemas) Current() *Schema { return s.current.Load() }

// First is Current for a batch. If nothing was learned yet, it learns from the
// batch first.
func (s *Schemas) First(b *event.Batch) *Schema {
	if s.learner == nil {
		return s.Current()
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if !s.learned {
		s.learnLocked(b)
		s.widenLocked()
	}
	return s.Current()
}

// Begin is the schema of a part whose first batch is b: the last one, widened
// to all that was learned since and to the batch. A nil batch is one from which
// Learn has learned already.
func (s *Schemas) Begin(b *event.Batch) *Schema {
	if s.learner == nil {
		return s.Current()
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if b != nil {
		s.learnLocked(b)
	}
	s.widenLocked()
	return s.Current()
}

func (s *Schemas) learnLocked(b *event.Batch) {
	for _, e := range b.Events {
		s.learner.record(e.Body)
	}
	s.learned = s.learned || len(s.learner.root.members) > 0
}

// Learn takes in what records had no column for: raw maps as Extra makes them,
// one behind the other. Schemas of parts that begin later have one, unless it
// is beyond what is learned at all.
func (s *Schemas) Learn(rests []byte) {
	if s.learner == nil || len(rests) == 0 {
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		n, ok := event.Span(rests)
		if !ok {
			break
		}
		s.learner.record(rests[:n])
		rests = rests[n:]
	}
	s.learned = s.learned || len(s.learner.root.members) > 0
}

// widenLocked makes what was learned the current schema.
func (s *Schemas) widenLocked() {
	if !s.learner.changed {
		return
	}
	s.learner.changed = false
	next := s.make()
	if next.ID == s.Current().ID {
		return
	}
	s.current.Store(next)
	// Only a restart would read it, and can do without: an error costs nothing
	// but learning again.
	_ = save(s.options.Dir, next.Text)
}

func (s *Schemas) reserved() []string {
	var keys []string
	for _, key := range []string{s.options.DateKey, s.options.TagKey, s.options.MetadataKey, s.options.GroupKey, RestKey} {
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// make is the learned schema: what lies outside the record, its fields in the
// order in which they were met, and what they can't hold.
func (s *Schemas) make() *Schema {
	const namespace, name = "out_hdfs", "event"
	o, root := s.options, &Record{Name: namespace + "." + name}
	outside := func(key string, from From, kind Kind, logical Logical) {
		if key == "" {
			return
		}
		root.Fields = append(root.Fields, &Field{
			Name: avroName(key), Column: columnName(key), Key: key, From: from,
			Type: &Type{Kind: kind, Logical: logical, Nullable: true}, Default: nilValue(),
		})
	}
	outside(o.DateKey, FromTime, Long, TimestampMicros)
	outside(o.TagKey, FromTag, String, None)
	outside(o.MetadataKey, FromMetadata, String, FreeForm)
	outside(o.GroupKey, FromGroup, String, FreeForm)
	root.Fields = append(root.Fields, s.learner.root.fields(root.Name)...)
	outside(RestKey, FromRest, String, None)
	root.finish()
	made := newSchema(root, Learned, appendRecord(nil, root))
	made.Zone = o.Zone
	return made
}
