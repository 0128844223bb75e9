package host

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// distinct is chunks of 2 MB, as large as Fluent Bit's, whose records go round
// so many buckets and have many values of which no two are alike.
func distinct(chunks, buckets int) (all []Chunk) {
	const size = 2 << 20
	random := rand.New(rand.NewPCG(1, 2))
	id := uint64(1)
	for range chunks {
		c := Chunk{Tag: "host.test", First: id}
		for len(c.Data) < size {
			c.Data = eventtest.Append(c.Data, []any{
				[]any{eventtest.EventTime(1764460800+uint32(id/100), uint32(random.IntN(1e9))), eventtest.Map{}},
				eventtest.Map{
					"id", int64(id), "k", fmt.Sprintf("k%03d", random.IntN(buckets)),
					"trace", fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()), "span", fmt.Sprintf("%016x", random.Uint64()),
					"user", fmt.Sprintf("user-%d", random.IntN(1e6)), "path", fmt.Sprintf("/api/v1/things/%d/parts/%d", random.IntN(1e6), random.IntN(1e6)),
					"ms", random.Float64() * 1000, "bytes", int64(random.IntN(1e6)), "status", int64(200 + random.IntN(5)),
					"log", fmt.Sprintf("GET /api/v1/things/%d took %d ms for %x", random.IntN(1e6), random.IntN(1e4), random.Uint64()),
				},
			})
			id++
			c.Records++
		}
		all = append(all, c)
	}
	return all
}

// memoryCase is a format under a memory_limit.
type memoryCase struct {
	name    string
	set     map[string]string
	buckets int
}

func memoryCases(limit string) (all []memoryCase) {
	for _, buckets := range []int{1, 200} {
		for _, set := range []map[string]string{
			{"format": "json"}, {"format": "json", "compression": "zstd"}, {"format": "json", "compression": "gzip"},
			{"format": "csv", "columns": "id,k,trace,span,user,path,ms,bytes,status,log"}, {"format": "text"},
			{"format": "parquet"}, {"format": "avro"}, {"format": "sequencefile"},
		} {
			name := set["format"]
			if c := set["compression"]; c != "" {
				name += " " + c
			}
			all = append(all, memoryCase{fmt.Sprintf("%s, %d buckets, memory_limit %s", name, buckets, limit), set, buckets})
		}
	}
	return all
}

// beside is what the process may take beside memory_limit, in bytes: the runtime's
// own, stacks of threads, and what this host takes for the chunk at hand.
const beside = 48e6

// memory_limit is a limit: at full speed the process's own memory doesn't grow
// by more than that and what is beside it.
//
// MEMORY_CHUNKS is how many chunks of 2 MB are sent, MEMORY_LIMIT the limit in
// millions of bytes.
func TestMemoryLimit(t *testing.T) {
	chunks, limit := 60, 64
	if n, err := strconv.Atoi(os.Getenv("MEMORY_CHUNKS")); err == nil {
		chunks = n
	}
	if n, err := strconv.Atoi(os.Getenv("MEMORY_LIMIT")); err == nil {
		limit = n
	}
	host, plugin := Build(t), Plugin(t)
	raws := map[int]string{}
	for _, buckets := range []int{1, 200} {
		raws[buckets] = filepath.Join(t.TempDir(), "chunks")
		if err := WriteRaw(raws[buckets], distinct(chunks, buckets)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range memoryCases(fmt.Sprintf("%dM", limit)) {
		t.Run(c.name, func(t *testing.T) {
			grown, took, cpu := growth(t, host, plugin, c, limit, raws[c.buckets], chunks)
			t.Logf("%5.0f MB grown of %d + %.0f MB, %.1f s, CPU %.1f s", grown/1e6, limit, beside/1e6, took, cpu)
			if grown > float64(limit)*1e6+beside {
				t.Errorf("the process grew by %.0f MB, want %d + %.0f at most", grown/1e6, limit, beside/1e6)
			}
		})
	}
}

// growth runs a host and samples its memory from the moment at which it is
// initialised.
func growth(t *testing.T, host Program, plugin string, c memoryCase, limit int, raw string, chunks int) (grown, took, cpu float64) {
	dir := t.TempDir()
	out := fileOutput(dir, "hdfs.0")
	out.Set["memory_limit"], out.Set["state_limit"] = fmt.Sprintf("%dM", limit), "4G"
	out.Set["assigner"], out.Set["partition_by"], out.Set["exit_timeout"] = "partition", "k=$k", "5m"
	for key, value := range c.set {
		out.Set[key] = value
	}
	p, err := host.Run(t.Context(), Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{out}, Raw: raw, Chunks: chunks, InFlight: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	var first, most int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			n, err := p.Anonymous()
			if err != nil { // it has ended
				return
			}
			if first == 0 && len(p.Events()) > 0 {
				first = n
			}
			most = max(most, n)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	r, err := p.Wait()
	<-done
	if err != nil || r.Code != 0 {
		t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
	return float64(most - first), r.Summary.Seconds, r.CPU.Seconds()
}
