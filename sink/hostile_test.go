package sink_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	codecjson "github.com/out-hdfs/out_hdfs/codec/json"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// hostile is a format that encodes in the file only and can't stand records
// whose id contains "bad".
type hostile struct {
	way     string
	writers atomic.Int64
	hurt    atomic.Int64 // how often it did what it does
}

var errHostile = errors.New("can't encode that")

func (h *hostile) Extension() string { return ".json" }

func (h *hostile) NewWriter(w io.Writer, m codec.Meta) (codec.Writer, error) {
	h.writers.Add(1)
	if h.way == "panic on begin once" && h.writers.Load() == 1 {
		h.hurt.Add(1)
		panic("no writer today")
	}
	inner, err := codecjson.New(codecjson.Options{}).NewWriter(w, m)
	return &hostileWriter{Writer: inner, h: h, out: w}, err
}

type hostileWriter struct {
	codec.Writer
	h     *hostile
	out   io.Writer
	bad   bool // a bad record is in the file
	total int
	lost  int // of them, which aren't in the file
}

// Records counts what is in the file.
func (w *hostileWriter) Records() int64 { return int64(w.total - w.lost) }

func (w *hostileWriter) Write(b *event.Batch) ([]codec.Reject, error) {
	bad := false
	for _, e := range b.Events {
		bad = bad || strings.Contains(string(e.Raw), "bad")
	}
	w.total += len(b.Events)
	w.bad = w.bad || bad
	if bad || w.h.way == "can't write two records" && w.total > 1 {
		switch w.h.way {
		case "panic on Write":
			w.h.hurt.Add(1)
			panic("a bad record")
		case "error on Write":
			w.h.hurt.Add(1)
			return nil, errHostile
		case "half a record, then an error":
			w.h.hurt.Add(1)
			_, _ = w.out.Write([]byte(`{"id":"half`))
			return nil, errHostile
		case "can't write two records":
			w.h.hurt.Add(1)
			return nil, errHostile
		case "nothing on Close":
			return nil, nil // swallowed
		case "a record is lost":
			w.h.hurt.Add(1)
			sound := *b
			sound.Events = nil
			for _, e := range b.Events {
				if strings.Contains(string(e.Raw), "bad") {
					w.lost++
				} else {
					sound.Events = append(sound.Events, e)
				}
			}
			return w.Writer.Write(&sound)
		}
	}
	return w.Writer.Write(b)
}

func (w *hostileWriter) Close() error {
	if w.bad {
		w.h.hurt.Add(1)
		switch w.h.way {
		case "error on Close":
			return errHostile
		case "panic on Close":
			panic("can't end it")
		case "short on Close":
			_, _ = w.out.Write([]byte("foo"))
			return io.ErrShortWrite
		}
	}
	return w.Writer.Close()
}

// TestRecordsThatSpoilTheirFile is about formats that fail over a record in
// ways that spoil the whole file. That record alone becomes a dead letter, with
// the reason, and all others are published, those that come meanwhile too.
func TestRecordsThatSpoilTheirFile(t *testing.T) {
	for _, way := range []string{
		"panic on Write", "error on Write", "half a record, then an error", "error on Close", "panic on Close",
		"short on Close", "panic on begin once", "a record is lost",
	} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{way: way}
				w := sinktest.NewWorld(t)
				w.Change = func(c *sink.Config) { c.Format = h }
				s := w.Open()
				for i := range 60 {
					var c sinktest.Chunk
					for r := range 5 {
						id := fmt.Sprintf("c%d-r%d", i, r)
						if i%10 == 3 && r == 2 {
							id = fmt.Sprintf("c%d-bad", i)
						}
						c.Add(id, fmt.Sprintf("b%d", r%2))
					}
					w.Must(s, c)
					time.Sleep(500 * time.Millisecond)
				}
				time.Sleep(5 * time.Minute)
				if st := w.Status(s); st.UnfinishedChunks != 0 || len(st.Parts) != 0 {
					t.Errorf("unfinished: %+v", st)
				}
				w.Close(s)
				w.MustBeRight()
				bad := 0
				for _, l := range w.DeadLetters() {
					if !strings.Contains(l, "bad") {
						t.Errorf("a sound record is a dead letter: %s", l)
					}
					bad++
				}
				if want := 6; way != "panic on begin once" && bad != want {
					t.Errorf("%d dead letters and not %d", bad, want)
				}
				if h.hurt.Load() == 0 {
					t.Error("the format never failed")
				}
				if n := w.Log.Count("is built anew"); n > 60 {
					t.Errorf("files were built anew %d times", n)
				}
			})
		})
	}
}

// TestARecordOfEachChunkSpoilsItsFile, and sound records don't suffer from it
// for ever: they are neither taken for culprits nor kept waiting.
func TestARecordOfEachChunkSpoilsItsFile(t *testing.T) {
	for _, way := range []string{"error on Write", "error on Close"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				h := &hostile{way: way}
				w.Change = func(c *sink.Config) { c.Format = h; c.Policy = sinktest.BySize(1 << 20) }
				s := w.Open()
				for i := range 300 {
					c := sinktest.One(fmt.Sprintf("c%d", i), "b0")
					c.Add(fmt.Sprintf("c%d-bad", i), "b0")
					w.Must(s, c)
					time.Sleep(300 * time.Millisecond)
				}
				time.Sleep(5 * time.Minute)
				w.Close(s)
				w.MustBeRight()
				for _, l := range w.DeadLetters() {
					if !strings.Contains(l, "bad") {
						t.Errorf("a sound record is a dead letter: %s", l)
					}
				}
				if n := w.Log.Count("is built anew"); n == 0 || n > 20 {
					t.Errorf("files were built anew %d times", n)
				}
			})
		})
	}
}

// TestFormatThatNeverFinishesAFile ends with everything in the dead letters and
// not in files that are built anew for ever.
func TestFormatThatNeverFinishesAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		h := &hostile{way: "can't write two records"}
		w.Change = func(c *sink.Config) { c.Format = h; c.Policy = sinktest.BySize(1 << 20) }
		s := w.Open()
		var c sinktest.Chunk
		for r := range 5 {
			c.Add(fmt.Sprintf("c0-r%d", r), "b0")
		}
		w.Must(s, c)
		time.Sleep(5 * time.Minute)
		if st := w.Status(s); st.UnfinishedChunks != 0 {
			t.Errorf("unfinished: %+v", st)
		}
		w.Close(s)
		w.MustBeRight()
		if h.hurt.Load() == 0 {
			t.Error("the format never failed")
		}
	})
}

// TestFormatThatWritesNothing never publishes an empty file for records.
func TestFormatThatWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		h := &hostile{way: "nothing on Close"}
		w.Change = func(c *sink.Config) { c.Format = h }
		s := w.Open()
		w.Must(s, sinktest.One("c0-bad", "b0"))
		time.Sleep(10 * time.Minute)
		w.Close(s)
		w.MustBeRight()
		if n := len(w.DeadLetters()); n != 1 {
			t.Errorf("%d dead letters", n)
		}
	})
}

// panicky panics in one of a policy's questions, some times.
type panicky struct {
	rolling.Policy
	in   string
	left atomic.Int64
}

func (p *panicky) may(in string) {
	if in == p.in && p.left.Add(-1) >= 0 {
		panic("a policy's bug")
	}
}

func (p *panicky) RollOnEvent(i rolling.PartInfo) rolling.Reason {
	p.may("event")
	return p.Policy.RollOnEvent(i)
}

func (p *panicky) RollOnCheckpoint(i rolling.PartInfo) rolling.Reason {
	p.may("checkpoint")
	return p.Policy.RollOnCheckpoint(i)
}

func (p *panicky) RollOnTimer(i rolling.PartInfo, now time.Time) rolling.Reason {
	p.may("timer")
	return p.Policy.RollOnTimer(i, now)
}

// panickyLetters panics over records that contain "odd" as long as they aren't
// said to be malformed, and over everything a few times.
type panickyLetters struct {
	sinktest.Letters
	left *atomic.Int64
}

func (l panickyLetters) Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte {
	if l.left.Add(-1) >= 0 {
		panic("a letter's bug")
	}
	return l.Letters.Append(dst, b, e, reason)
}

// TestPanicsInTheApplier leave neither half a share in a part nor a chunk
// behind.
func TestPanicsInTheApplier(t *testing.T) {
	for _, in := range []string{"event", "checkpoint", "timer", "letters"} {
		t.Run(in, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				p := &panicky{Policy: sinktest.BySize(1500), in: in}
				p.left.Store(7)
				w.Change = func(c *sink.Config) {
					c.Policy = p
					if in == "letters" {
						c.Letters = panickyLetters{left: &p.left}
					}
				}
				s := w.Open()
				for i := range 20 {
					w.Must(s, sinktest.ChunkOf(i))
				}
				time.Sleep(10 * time.Minute)
				if st := w.Status(s); st.UnfinishedChunks != 0 || len(st.Parts) != 0 {
					t.Errorf("unfinished: %+v", st)
				}
				w.Close(s)
				w.MustBeRight()
				if p.left.Load() > 0 {
					t.Error("not every panic fired")
				}
				if len(w.Log.AtLeast(slog.LevelError)) == 0 && in != "letters" {
					t.Error("nothing was logged")
				}
			})
		})
	}
}

// TestAPolicyPanicsOverDeadLetters that are in a part already: they aren't
// written once more.
func TestAPolicyPanicsOverDeadLetters(t *testing.T) {
	for _, in := range []string{"event", "checkpoint"} {
		t.Run(in, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				p := &panicky{Policy: sinktest.BySize(1500), in: in}
				w.Change = func(c *sink.Config) { c.Policy = p }
				p.left.Store(1)
				s := w.Open()
				var c sinktest.Chunk
				c.AddRest("c0-rest")
				w.Must(s, c)
				time.Sleep(10 * time.Minute)
				w.Close(s)
				w.MustBeRight()
				if p.left.Load() > 0 {
					t.Error("it didn't panic")
				}
			})
		})
	}
}

// panickyBlocks is JSON whose block encoder panics over some records.
type panickyBlocks struct{ codec.BlockFormat }

type panickyEncoder struct {
	codec.BlockEncoder
	broken bool // by a panic
}

func (f panickyBlocks) NewBlockEncoder() codec.BlockEncoder {
	return &panickyEncoder{BlockEncoder: f.BlockFormat.NewBlockEncoder()}
}

func (e *panickyEncoder) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	if e.broken {
		return append(dst, "rubbish\n"...), nil
	}
	for _, x := range b.Events {
		if strings.Contains(string(x.Raw), "bad") {
			e.broken = true
			panic("can't encode that")
		}
	}
	return e.BlockEncoder.Encode(dst, b)
}

func TestPanicWhileEncodingCostsOneRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.Format = panickyBlocks{c.Format.(codec.BlockFormat)} }
		s := w.Open()
		var c sinktest.Chunk
		for _, id := range []string{"c1", "c2-bad", "c3", "c4-bad", "c5"} {
			c.Add(id, "b0")
		}
		w.Must(s, c)
		w.Close(s)
		w.MustBeRight()
		if n := len(w.DeadLetters()); n != 2 {
			t.Errorf("%d dead letters", n)
		}
	})
}
