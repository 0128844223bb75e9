package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/host"
)

// heldChunk is in the line that tells of a chunk which three processes in a row
// died over.
var heldChunk = regexp.MustCompile(`a chunk is held.* chunk=(\d+)`)

// lastLife runs a life that ends cleanly. If chunks are held for an operator it
// does what the log asks the operator for, and lives once more. held is how many
// there were.
func lastLife(t *testing.T, program host.Program, o host.Options, ledger *host.Ledger) (held int) {
	t.Helper()
	for {
		p, err := program.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait()
		if err != nil || r.Code != 0 || r.Signal != 0 {
			t.Fatalf("the last life: exit %d, signal %v, %v\n%s", r.Code, r.Signal, err, r.Log)
		}
		ledger.Add(r.Events)
		chunks := heldChunk.FindAllStringSubmatch(r.Log, -1)
		if len(chunks) == 0 {
			return held
		}
		held += len(chunks)
		for _, chunk := range chunks {
			t.Logf("chunk %s is held and decoded once more", chunk[1])
			out, err := exec.CommandContext(t.Context(), "go", "run", "github.com/out-hdfs/out_hdfs/cmd/out-hdfs",
				"resolve", "--state-dir", o.Outputs[0].Set["state_dir"], "chunk", chunk[1], "decode").CombinedOutput()
			if err != nil {
				t.Fatalf("resolve chunk %s: %v\n%s", chunk[1], err, out)
			}
		}
		sent := ledger.Sent()
		o.FirstID, o.Chunks = 1+sent[len(sent)-1], 1
	}
}

// makeDir makes a directory as the plugin makes its state.
func makeDir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unreported are the chunks that a life stored and didn't come to report before
// it was killed: one at most, since it stores the next after it told of the
// last. known are the names of all chunks so far.
func unreported(t *testing.T, o host.Options, life []host.Event, known map[string]bool) (missed []host.Event) {
	t.Helper()
	reported := uint64(0)
	for _, e := range life {
		if e.Event == "chunk" {
			known[e.Chunk] = true
			reported++
		}
	}
	stored, err := filepath.Glob(filepath.Join(o.Storage, "*", "*.flb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stored {
		if name := filepath.Base(path); !known[name] {
			known[name] = true
			records := uint64(o.Records)
			missed = append(missed, host.Event{Event: "chunk", Chunk: name, First: o.FirstID + reported*records, Records: records})
		}
	}
	if len(missed) > 1 {
		t.Fatalf("%d chunks were stored and not reported", len(missed))
	}
	return missed
}
