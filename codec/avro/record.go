package avro

import (
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/codec/schema/walk"
)

// encoder appends events as records of one schema at a time. The zero value is
// ready after use. One goroutine uses it at a time.
type encoder struct {
	schema *schema.Schema
	walker walk.Walker
	values values
}

// use makes s the schema of the records that follow.
func (c *encoder) use(s *schema.Schema) {
	if c.schema != s {
		c.schema = s
		c.walker.Use(s, s.Root, &c.values)
	}
}

// record appends an event of the batch. If reason isn't empty it can't be encoded, and dst
// comes back as it was.
func (c *encoder) record(dst []byte, e *event.Event, b *event.Batch) (_ []byte, reason string) {
	c.values.buf = dst
	c.walker.Reset()
	reason = c.walker.Record(e, b)
	dst, c.values.buf = c.values.buf, nil
	return dst, reason
}

// learn returns what the batch's records had no field for, and drops every
// reference to them.
func (c *encoder) learn() []byte { return c.walker.Unknown(keepBuffer) }

// memory is what the encoder holds, in bytes.
func (c *encoder) memory() int64 { return int64(cap(c.values.rest)) + c.walker.Memory() }
