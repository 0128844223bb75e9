package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/codec/event/eventtest"
)

// partitions is a chunk whose every record belongs to a bucket of its own.
func partitions(from, n uint64) Chunk {
	c := Chunk{Tag: "host.test", First: from, Records: n}
	for id := from; id < from+n; id++ {
		c.Data = eventtest.Append(c.Data, []any{
			[]any{eventtest.EventTime(1764460800, 0), eventtest.Map{}},
			eventtest.Map{"id", int64(id), "k", fmt.Sprintf("k%03d", (id-1)%n)},
		})
	}
	return c
}

// With far fewer descriptors than buckets every record is published, in this life
// and in the next, and the agent has its share of the descriptors all the time.
func TestFewDescriptors(t *testing.T) {
	const files, agent, records = 96, 20, 200
	host, plugin := Build(t), Plugin(t)
	dir := t.TempDir()
	var l Ledger
	for life := range uint64(2) {
		raw := filepath.Join(dir, fmt.Sprintf("chunks.%d", life))
		if err := WriteRaw(raw, []Chunk{partitions(1+life*records, records)}); err != nil {
			t.Fatal(err)
		}
		out := fileOutput(dir, "hdfs.0")
		out.Set["assigner"], out.Set["partition_by"], out.Set["exit_timeout"] = "partition", "k=$k", "1m"
		if life == 0 {
			out.Set["exit_timeout"] = "1ms" // the next life finishes it
		}
		p, err := host.Run(t.Context(), Options{
			Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{out}, Raw: raw, Chunks: 1, Files: files,
			Linger: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				n, err := p.OpenFiles()
				if err != nil || n == 0 { // it has ended
					return
				}
				most = max(most, n)
				time.Sleep(2 * time.Millisecond)
			}
		}()
		r, err := p.Wait()
		<-done
		if err != nil || r.Code != 0 {
			t.Fatalf("life %d: exit %d, %v\n%s", life, r.Code, err, r.Log)
		}
		if most > files-agent {
			t.Errorf("life %d: %d of %d files were open", life, most, files)
		}
		if life == 0 && !strings.Contains(r.Log, "LimitNOFILE") {
			t.Errorf("the log doesn't name the limit to raise:\n%s", r.Log)
		}
		t.Logf("life %d: at most %d of %d files open", life, most, files)
		l.Add(r.Events)
	}
	check(t, filepath.Join(dir, "hdfs.0"), l.Sent(), l.Promised("hdfs.0"))
	if n := len(l.Promised("hdfs.0")); n != 2*records {
		t.Errorf("%d records were promised", n)
	}
}

// So few descriptors that no part could be written are refused at the start, with
// the number that would do.
func TestTooFewDescriptors(t *testing.T) {
	host, plugin := Build(t), Plugin(t)
	dir := t.TempDir()
	p, err := host.Run(t.Context(), Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"), Outputs: []Output{fileOutput(dir, "hdfs.0")}, Chunks: 1, Files: 40,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code == 0 || !strings.Contains(r.Log, "LimitNOFILE") || !strings.Contains(r.Log, "or more") {
		t.Errorf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
}
