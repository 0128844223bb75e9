package crash

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/host"
)

// TestTheTargetIsAway delivers 500 chunks of 2 MB while the target can't be
// written for the first half of them. All of them are answered all the same,
// memory stays flat, and all records are published once the target is back.
func TestTheTargetIsAway(t *testing.T) {
	const (
		chunks    = 500
		memory    = 64_000_000
		mostOfRSS = 200_000_000
	)
	program, plugin, dir := host.Build(t), host.Plugin(t), t.TempDir()
	target := filepath.Join(dir, "target")
	// A file where the base path should be.
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := program.Run(t.Context(), host.Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"),
		Chunks: chunks, Records: 1000, RecordSize: 2000, Hours: 2, InFlight: 4,
		Outputs: []host.Output{{Name: "hdfs.0", Workers: 2, Set: map[string]string{
			"path": "file://" + target, "state_dir": filepath.Join(dir, "state"),
			"memory_limit": "64M", "roll_size": "16M", "exit_timeout": "5m",
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var ledger host.Ledger
	half := func(events []host.Event) bool {
		n := 0
		for _, e := range events {
			if e.Event == "answer" && e.Answer == host.OK {
				n++
			}
		}
		return n >= chunks/2
	}
	if err := p.WaitFor(t.Context(), half); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadFile(target); err != nil || len(files) != 0 {
		t.Fatalf("something was published while the target was away: %v", err)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 {
		t.Fatalf("exit %d, %v\n%s", r.Code, err, r.Log)
	}
	ledger.Add(r.Events)
	t.Logf("peak RSS %d MB with memory_limit %d MB; %d MB in %.1f s", r.Summary.PeakRSSKB/1000, memory/1_000_000,
		r.Summary.Bytes/1_000_000, r.Summary.Seconds)
	if r.Summary.PeakRSSKB*1024 > mostOfRSS {
		t.Errorf("peak RSS is %d kB", r.Summary.PeakRSSKB)
	}
	if r.Summary.Retry > 0 || r.Summary.OK != chunks {
		t.Errorf("%d answers OK and %d RETRY", r.Summary.OK, r.Summary.Retry)
	}
	files, err := localFiles(target)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, files, &ledger)
}
