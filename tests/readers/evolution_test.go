package readers

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema/schematest"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// evolving is how many chunks a stream has whose fields come, go, nest and
// change their type at random. A chunk is a second.
const evolving = 1000

// evolvingChunks are such a stream. The ids of a chunk's records count up from
// its First.
func evolvingChunks(seed uint64) (chunks []host.Chunk) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range evolving {
		c := host.Chunk{Tag: tag, Data: schematest.Evolving(r, i), First: uint64(10 * i)}
		var events event.Reader
		var e event.Event
		for events.Reset(c.Data); events.Next(&e); {
			c.Records++
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// evolution is a stream and its records by their ids.
func evolution(t *testing.T, seed uint64) (chunks []host.Chunk, records map[uint64]map[string]any) {
	t.Helper()
	chunks, records = evolvingChunks(seed), map[uint64]map[string]any{}
	for _, c := range chunks {
		var events event.Reader
		var e event.Event
		id := c.First
		for events.Reset(c.Data); events.Next(&e); id++ {
			record, err := schematest.Record(e.Body)
			if err != nil {
				t.Fatal(err)
			}
			records[id] = record
		}
	}
	return chunks, records
}

// minutely makes a bucket of each minute.
var minutely = []string{conf.KeyAssigner, "datetime", conf.KeyBucketFormat, "yyyy-MM-dd--HH-mm", conf.KeyBucketTimezone, "UTC"}

// evolvingRows are for readers to agree on; TestEvolution knows what is in them.
func evolvingRows() (all []row) {
	chunks := evolvingChunks(1)
	n := 0
	for _, c := range chunks {
		n += int(c.Records)
	}
	for format, readers := range map[string][]string{"parquet": parquetReaders, "avro": avroReaders} {
		all = append(all, row{
			name: format + " evolving", keys: keys(append([]string{conf.KeyFormat, format}, minutely...)...),
			chunks: chunks, count: n, readers: readers,
		})
	}
	return all
}

// TestReadersAgree: all readers of a row find the same in it.
func TestReadersAgree(t *testing.T) {
	s := open(t)
	for _, r := range evolvingRows() {
		first := s.found[r.readers[0]+" "+r.name]
		if len(first) != r.count {
			t.Fatalf("%s finds %d records, want %d", r.readers[0], len(first), r.count)
		}
		for _, reader := range r.readers {
			t.Run(r.name+"/"+reader, func(t *testing.T) {
				found := s.found[reader+" "+r.name]
				for i, f := range found {
					if f.Error != "" || i >= r.count {
						t.Fatalf("%s after %d records of %d: %s", f.File, i, r.count, f.Error)
					}
					got, err := Normal(f.Record)
					if err != nil {
						t.Fatal(err)
					}
					want, err := Normal(first[i].Record)
					if err != nil {
						t.Fatal(err)
					}
					if got != want {
						t.Fatalf("record %d is\n%.3000s\n%s finds\n%.3000s", i, got, r.readers[0], want)
					}
				}
				if len(found) != r.count {
					t.Errorf("%d records, want %d", len(found), r.count)
				}
			})
		}
	}
}

// readEvolution reads files back as records, and says for each its file and id.
func readEvolution(t *testing.T, p *Python, format string, files []string) (records []map[string]any, of []string, ids []uint64) {
	t.Helper()
	reader := map[string]string{"parquet": "pyarrow", "avro": "fastavro"}[format]
	found, err := p.Read(t.Context(), reader, []Job{{Format: format, Files: files, Options: map[string]any{"schema": true, "whole": true}}})
	if err != nil {
		t.Fatal(err)
	}
	records, of = restored(t, found, format == "parquet")
	for i, record := range records {
		id, ok := record["id"].(int64)
		if !ok {
			t.Fatalf("record %d in %s has the id %v", i, of[i], record["id"])
		}
		ids = append(ids, uint64(id))
	}
	return records, of, ids
}

func sameEvolution(t *testing.T, records []map[string]any, of []string, ids []uint64, want map[uint64]map[string]any) {
	t.Helper()
	for i, record := range records {
		if d := schematest.Differs(want[ids[i]], record); d != "" {
			t.Fatalf("record %d in %s: %s", ids[i], filepath.Base(of[i]), d)
		}
	}
}

// TestEvolution: whatever the fields do, parts are those that the rolling
// policy alone makes, every one is whole by itself, and every field of every
// record is in a column or in _extra.
func TestEvolution(t *testing.T) {
	s := open(t)
	chunks, want := evolution(t, 1)
	var sent []uint64
	for id := range want {
		sent = append(sent, id)
	}
	slices.Sort(sent)
	// What the policies make of a stream of one chunk a second, however its
	// records are encoded.
	policies := []struct {
		name  string
		pairs []string
		parts int
	}{
		{"no limit", nil, 1},
		{"a bucket a minute", minutely, 17},
		{"each checkpoint", []string{conf.KeyRollingPolicy, "on_checkpoint"}, evolving},
	}
	for _, policy := range policies {
		for _, format := range []string{"json", "parquet", "avro"} {
			t.Run(policy.name+"/"+format, func(t *testing.T) {
				set := keys(append([]string{conf.KeyFormat, format}, policy.pairs...)...)
				if set[conf.KeyRollingPolicy] != "" {
					delete(set, conf.KeyRollInterval)
					delete(set, conf.KeyRollInactivity)
				}
				w, err := s.agent.Write(t.Context(), t.TempDir(), set, chunks)
				if err != nil {
					t.Fatal(err)
				}
				if len(w.Files) != policy.parts || len(w.Letters) > 0 {
					t.Fatalf("%d parts and %d dead letters, want %d and 0", len(w.Files), len(w.Letters), policy.parts)
				}
				if format == "json" {
					return
				}
				records, of, ids := readEvolution(t, s.python, format, w.Files)
				if !slices.Equal(ids, sent) {
					t.Fatalf("%d records come back, want %d in their order", len(ids), len(sent))
				}
				sameEvolution(t, records, of, ids, want)
			})
		}
	}
}

// TestEvolutionBySize: a part ends when it has its size, and only then.
func TestEvolutionBySize(t *testing.T) {
	s := open(t)
	chunks, want := evolution(t, 2)
	const size = 32 << 10
	for _, format := range []string{"json", "avro", "parquet"} {
		t.Run(format, func(t *testing.T) {
			w, err := s.agent.Write(t.Context(), t.TempDir(),
				keys(conf.KeyFormat, format, conf.KeyCompression, "none", conf.KeyRollSize, fmt.Sprint(size)), chunks)
			if err != nil {
				t.Fatal(err)
			}
			if len(w.Files) < 3 {
				t.Fatalf("%d parts", len(w.Files))
			}
			least := int64(size)
			if format == "parquet" {
				least /= 2 // what is open of a row group is an estimate
			}
			for _, file := range w.Files[:len(w.Files)-1] {
				info, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				if info.Size() < least {
					t.Errorf("%s was rolled with %d bytes of %d", filepath.Base(file), info.Size(), size)
				}
			}
			if format == "json" {
				return
			}
			records, of, ids := readEvolution(t, s.python, format, w.Files)
			if len(ids) != len(want) || !slices.IsSorted(ids) {
				t.Fatalf("%d records come back, want %d in their order", len(ids), len(want))
			}
			sameEvolution(t, records, of, ids, want)
		})
	}
}

// TestEvolutionAndKills: the same records, once each, from an agent that is
// killed again and again.
func TestEvolutionAndKills(t *testing.T) {
	s := open(t)
	for seed, format := range []string{"parquet", "avro"} {
		t.Run(format, func(t *testing.T) {
			chunks, want := evolution(t, uint64(10+seed))
			dir := t.TempDir()
			set := keys(append([]string{conf.KeyFormat, format, conf.KeyRollSize, "24K"}, minutely...)...)
			kills, ledger := live(t, s.agent, dir, set, chunks, rand.New(rand.NewPCG(uint64(seed), 1)))
			if kills < 10 {
				t.Errorf("only %d kills", kills)
			}
			w, err := written(filepath.Join(dir, "target"))
			if err != nil {
				t.Fatal(err)
			}
			records, of, ids := readEvolution(t, s.python, format, w.Files)
			sent := ledger.Sent()
			if len(sent) != len(want) || len(ledger.Promised("hdfs.0")) != len(sent) {
				t.Fatalf("%d records sent and %d promised, want %d", len(sent), len(ledger.Promised("hdfs.0")), len(want))
			}
			if err := host.ExactlyOnce(sent, sent, ids); err != nil {
				t.Error(err)
			}
			sameEvolution(t, records, of, ids, want)
		})
	}
}

// live delivers the chunks in lives that are killed at random, and a last one
// that ends well.
func live(t *testing.T, a Agent, dir string, keys map[string]string, chunks []host.Chunk, r *rand.Rand) (kills int, l host.Ledger) {
	t.Helper()
	reported := map[string]bool{}
	for life := 1; len(chunks) > 0; life++ {
		n := min(len(chunks), 20+r.IntN(60))
		o, err := a.options(dir, keys, chunks[:n])
		if err != nil {
			t.Fatal(err)
		}
		o.InFlight, o.Outputs[0].Workers = 8, 2
		p, err := a.Program.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n < len(chunks) {
			killAt(t, p, 1+r.IntN(3*n))
			kills++
		}
		result, err := p.Wait()
		if err != nil || result.Code > 0 {
			t.Fatalf("life %d ended with %d, %v\n%s", life, result.Code, err, result.Log)
		}
		l.Add(result.Events)
		chunks = chunks[forget(t, o.Storage, result.Events, reported):]
	}
	return kills, l
}

// killAt kills the process once it has reported so many events, or is at its
// end.
func killAt(t *testing.T, p *host.Process, events int) {
	t.Helper()
	err := p.WaitFor(t.Context(), func(e []host.Event) bool {
		return len(e) >= events || slices.ContainsFunc(e, func(e host.Event) bool { return e.Event == "delivered" })
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
}

// forget returns how many chunks a run ingested, adds their names to those of
// the runs before, and removes the one that it hadn't reported when it was
// killed: the next run ingests it again.
func forget(t *testing.T, storage string, events []host.Event, reported map[string]bool) (n int) {
	t.Helper()
	for _, e := range events {
		if e.Event == "chunk" {
			n++
			reported[e.Chunk] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(storage, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, ".new") || !reported[name] {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
