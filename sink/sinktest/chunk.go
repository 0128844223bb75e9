package sinktest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
)

// Chunk is a chunk, its records' ids, and its file if it has one.
type Chunk struct {
	Data []byte
	IDs  []string
	File chunkfile.File
}

func FileOf(i int) chunkfile.File {
	return chunkfile.File{Dir: "/storage", Stream: "in", Name: fmt.Sprintf("1-%d.0.flb", i)}
}

// Add adds a record to a bucket.
func (c *Chunk) Add(id, bucket string) { c.AddPadded(id, bucket, 40) }

func (c *Chunk) AddPadded(id, bucket string, pad int) {
	body := eventtest.Map{"id", id, "b", bucket, "pad", strings.Repeat("x", pad)}
	c.AddObject(id, eventtest.Event(eventtest.EventTime(1_700_000_000, 0), eventtest.Map{}, body))
}

func (c *Chunk) AddObject(id string, object any) {
	c.Data = eventtest.Append(c.Data, object)
	c.IDs = append(c.IDs, id)
}

// AddRest ends the chunk with bytes that can't be decoded.
func (c *Chunk) AddRest(id string) {
	c.Data = append(append(c.Data, 0xd9, 0xff), id...)
	c.IDs = append(c.IDs, id)
}

// ChunkOf is chunk i: records for three buckets, one without a bucket and one
// that is no log event, and for every third chunk an undecodable end. Every
// sixth is one record for a bucket that gets no other, and so stays in progress.
func ChunkOf(i int) Chunk {
	c := Chunk{File: FileOf(i)}
	if i%6 == 5 {
		c.Add(fmt.Sprintf("c%d-slow", i), fmt.Sprintf("slow%d", i))
		return c
	}
	for r := range 9 {
		id := fmt.Sprintf("c%d-r%d", i, r)
		if r == 4 {
			c.AddObject(id, eventtest.Event(eventtest.EventTime(1_700_000_000, 0), eventtest.Map{}, eventtest.Map{"id", id}))
			continue
		}
		c.Add(id, fmt.Sprintf("b%d", (i+r)%3))
	}
	c.AddObject(fmt.Sprintf("c%d-odd", i), fmt.Sprintf("odd c%d-odd", i))
	if i%3 == 0 {
		c.AddRest(fmt.Sprintf("c%d-rest", i))
	}
	return c
}

// kinds of chunk that a property draws from. Records' ids begin with "c".
var ChunkKinds = []struct {
	Name string
	Make func(i int) Chunk
}{
	{"usual", ChunkOf},
	{"empty", func(int) Chunk { return Chunk{} }},
	{"only group markers", func(int) Chunk {
		return Chunk{Data: eventtest.Pack(eventtest.GroupHeader(eventtest.Map{}, eventtest.Map{"a", 1}), eventtest.GroupFooter())}
	}},
	{"nothing to decode", func(i int) (c Chunk) {
		c.AddRest(fmt.Sprintf("c%d-rest", i))
		return c
	}},
	{"in a group", func(i int) (c Chunk) {
		c.Data = eventtest.Pack(eventtest.GroupHeader(eventtest.Map{}, eventtest.Map{"a", 1}))
		c.Add(fmt.Sprintf("c%d-g0", i), "b0")
		c.Add(fmt.Sprintf("c%d-g1", i), "b1")
		c.Data = eventtest.Append(c.Data, eventtest.GroupFooter())
		c.Add(fmt.Sprintf("c%d-g2", i), "b0")
		return c
	}},
	{"many buckets", func(i int) (c Chunk) {
		for r := range 20 {
			c.Add(fmt.Sprintf("c%d-m%d", i, r), fmt.Sprintf("m%d", r))
		}
		return c
	}},
	{"huge", func(i int) (c Chunk) {
		for r := range 40 {
			c.AddPadded(fmt.Sprintf("c%d-h%d", i, r), "b1", 1000)
		}
		return c
	}},
	{"the assigner panics", func(i int) (c Chunk) {
		c.Add(fmt.Sprintf("c%d-p0", i), "b0")
		c.Add(fmt.Sprintf("c%d-p1", i), "panic")
		c.Add(fmt.Sprintf("c%d-p2", i), "b0")
		return c
	}},
	{"buckets that leave the base path or hide", func(i int) (c Chunk) {
		for r, b := range []string{"../x", "/abs", ".hidden", "_hidden", "a//b", "a/", strings.Repeat("n", 256), "a/../b", "ok"} {
			c.Add(fmt.Sprintf("c%d-l%d", i, r), b)
		}
		return c
	}},
}

// IDOf finds the id in a record's line or in a dead letter's.
func IDOf(line string) (string, error) {
	var l struct {
		ID     string          `json:"id"`
		Reason string          `json:"reason"`
		Record json.RawMessage `json:"record"`
		Raw    string          `json:"raw"`
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		return "", err
	}
	if l.ID != "" {
		return l.ID, nil
	}
	var r struct{ ID string }
	if json.Unmarshal(l.Record, &r) == nil && r.ID != "" {
		return r.ID, nil
	}
	raw, err := base64.StdEncoding.DecodeString(l.Raw)
	if err != nil {
		return "", err
	}
	if i := slices.Index(raw, 'c'); i >= 0 {
		return string(raw[i:]), nil
	}
	return "", errors.New("a line without an id")
}

// Flush gives a chunk to the sink and notes what is owed if it is accepted: its
// Records once if it has a file, and once more each time if it has none.
func (w *World) Flush(s *sink.Sink, c Chunk, o sink.FlushOptions) bool {
	if c.File.Known() {
		w.mu.Lock()
		w.files[c.File.Path()] = true
		w.mu.Unlock()
	}
	if s.Flush("tag", c.Data, c.File, o) != sink.OK {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range c.IDs {
		if c.File.Known() {
			w.owed[id] = 1
		} else {
			w.owed[id]++
		}
	}
	return true
}

// Deliver flushes chunk i until it is accepted or the tries are over.
func (w *World) Deliver(s *sink.Sink, i, tries int) bool {
	c := ChunkOf(i)
	for range tries {
		if w.Flush(s, c, sink.FlushOptions{}) {
			return true
		}
		time.Sleep(time.Second)
	}
	return false
}

// Must flushes a chunk that has to be accepted.
func (w *World) Must(s *sink.Sink, c Chunk) {
	w.T.Helper()
	if !w.Flush(s, c, sink.FlushOptions{}) {
		w.T.Fatalf("a chunk is refused: %v", w.Log.With("refused"))
	}
}

// One is a chunk of one record.
func One(id, bucket string) (c Chunk) {
	c.Add(id, bucket)
	return c
}

// Acked deletes a chunk's file, as Fluent Bit does once it heard OK. A power loss
// may undo that until the directory is synced.
func (w *World) Acked(c Chunk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[c.File.Path()] = false
}

// MayCome reports whether Fluent Bit may deliver the chunk once more: its file
// exists, or a power loss may bring it back.
func (w *World) MayCome(c Chunk) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.files[c.File.Path()]
	return ok || !c.File.Known()
}

// known reports whether Fluent Bit still has the chunk.
func (w *World) HasFile(c Chunk) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[c.File.Path()]
}
