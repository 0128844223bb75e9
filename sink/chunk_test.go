package sink_test

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

// testChunk is a chunk, its records' ids, and its file if it has one.
type testChunk struct {
	data []byte
	ids  []string
	file chunkfile.File
}

func fileOf(i int) chunkfile.File {
	return chunkfile.File{Dir: "/storage", Stream: "in", Name: fmt.Sprintf("1-%d.0.flb", i)}
}

// add adds a record to a bucket.
func (c *testChunk) add(id, bucket string) { c.addPadded(id, bucket, 40) }

func (c *testChunk) addPadded(id, bucket string, pad int) {
	body := eventtest.Map{"id", id, "b", bucket, "pad", strings.Repeat("x", pad)}
	c.addObject(id, eventtest.Event(eventtest.EventTime(1_700_000_000, 0), eventtest.Map{}, body))
}

func (c *testChunk) addObject(id string, object any) {
	c.data = eventtest.Append(c.data, object)
	c.ids = append(c.ids, id)
}

// addRest ends the chunk with bytes that can't be decoded.
func (c *testChunk) addRest(id string) {
	c.data = append(append(c.data, 0xd9, 0xff), id...)
	c.ids = append(c.ids, id)
}

// chunkOf is chunk i: records for three buckets, one without a bucket and one
// that is no log event, and for every third chunk an undecodable end. Every
// sixth is one record for a bucket that gets no other, and so stays in progress.
func chunkOf(i int) testChunk {
	c := testChunk{file: fileOf(i)}
	if i%6 == 5 {
		c.add(fmt.Sprintf("c%d-slow", i), fmt.Sprintf("slow%d", i))
		return c
	}
	for r := range 9 {
		id := fmt.Sprintf("c%d-r%d", i, r)
		if r == 4 {
			c.addObject(id, eventtest.Event(eventtest.EventTime(1_700_000_000, 0), eventtest.Map{}, eventtest.Map{"id", id}))
			continue
		}
		c.add(id, fmt.Sprintf("b%d", (i+r)%3))
	}
	c.addObject(fmt.Sprintf("c%d-odd", i), fmt.Sprintf("odd c%d-odd", i))
	if i%3 == 0 {
		c.addRest(fmt.Sprintf("c%d-rest", i))
	}
	return c
}

// kinds of chunk that a property draws from. Records' ids begin with "c".
var chunkKinds = []struct {
	name string
	make func(i int) testChunk
}{
	{"usual", chunkOf},
	{"empty", func(int) testChunk { return testChunk{} }},
	{"only group markers", func(int) testChunk {
		return testChunk{data: eventtest.Pack(eventtest.GroupHeader(eventtest.Map{}, eventtest.Map{"a", 1}), eventtest.GroupFooter())}
	}},
	{"nothing to decode", func(i int) (c testChunk) {
		c.addRest(fmt.Sprintf("c%d-rest", i))
		return c
	}},
	{"in a group", func(i int) (c testChunk) {
		c.data = eventtest.Pack(eventtest.GroupHeader(eventtest.Map{}, eventtest.Map{"a", 1}))
		c.add(fmt.Sprintf("c%d-g0", i), "b0")
		c.add(fmt.Sprintf("c%d-g1", i), "b1")
		c.data = eventtest.Append(c.data, eventtest.GroupFooter())
		c.add(fmt.Sprintf("c%d-g2", i), "b0")
		return c
	}},
	{"many buckets", func(i int) (c testChunk) {
		for r := range 20 {
			c.add(fmt.Sprintf("c%d-m%d", i, r), fmt.Sprintf("m%d", r))
		}
		return c
	}},
	{"huge", func(i int) (c testChunk) {
		for r := range 40 {
			c.addPadded(fmt.Sprintf("c%d-h%d", i, r), "b1", 1000)
		}
		return c
	}},
	{"the assigner panics", func(i int) (c testChunk) {
		c.add(fmt.Sprintf("c%d-p0", i), "b0")
		c.add(fmt.Sprintf("c%d-p1", i), "panic")
		c.add(fmt.Sprintf("c%d-p2", i), "b0")
		return c
	}},
	{"buckets that leave the base path or hide", func(i int) (c testChunk) {
		for r, b := range []string{"../x", "/abs", ".hidden", "_hidden", "a//b", "a/", strings.Repeat("n", 256), "a/../b", "ok"} {
			c.add(fmt.Sprintf("c%d-l%d", i, r), b)
		}
		return c
	}},
}

// idOf finds the id in a record's line or in a dead letter's.
func idOf(line string) (string, error) {
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

// flush gives a chunk to the sink and notes what is owed if it is accepted: its
// records once if it has a file, and once more each time if it has none.
func (w *world) flush(s *sink.Sink, c testChunk, o sink.FlushOptions) bool {
	if c.file.Known() {
		w.mu.Lock()
		w.files[c.file.Path()] = true
		w.mu.Unlock()
	}
	if s.Flush("tag", c.data, c.file, o) != sink.OK {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range c.ids {
		if c.file.Known() {
			w.owed[id] = 1
		} else {
			w.owed[id]++
		}
	}
	return true
}

// deliver flushes chunk i until it is accepted or the tries are over.
func (w *world) deliver(s *sink.Sink, i, tries int) bool {
	c := chunkOf(i)
	for range tries {
		if w.flush(s, c, sink.FlushOptions{}) {
			return true
		}
		time.Sleep(time.Second)
	}
	return false
}

// must flushes a chunk that has to be accepted.
func (w *world) must(s *sink.Sink, c testChunk) {
	w.t.Helper()
	if !w.flush(s, c, sink.FlushOptions{}) {
		w.t.Fatalf("a chunk is refused: %v", w.log.with("refused"))
	}
}

// one is a chunk of one record.
func one(id, bucket string) (c testChunk) {
	c.add(id, bucket)
	return c
}

// acked deletes a chunk's file, as Fluent Bit does once it heard OK.
func (w *world) acked(c testChunk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, c.file.Path())
}

// known reports whether Fluent Bit still has the chunk.
func (w *world) hasFile(c testChunk) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[c.file.Path()]
}
