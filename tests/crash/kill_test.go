// Package crash kills the agent and looks at what readers see.
package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/host"
)

const (
	kills           = 50
	chunks          = 1000
	chunksPerLife   = 20
	recordsPerChunk = 40
)

// TestKilledAtFiftyRandomMoments delivers 1,000 chunks in lives that each end
// by SIGKILL: at a random moment, or between an answer and the chunk's deletion,
// with parts that are rolled, uploaded and published all the time. The last
// life delivers what is left of them and ends cleanly.
func TestKilledAtFiftyRandomMoments(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	program, plugin, dir := host.Build(t), host.Plugin(t), t.TempDir()
	var (
		ledger         host.Ledger
		byTime, byMark int
	)
	for life := range kills + 1 {
		o := options(plugin, dir, life)
		moment := time.Duration(0)
		switch {
		case life == kills:
			o.Linger, o.Rate = 0, 0
			o.Chunks = max(1, chunks-len(ledger.Sent())/recordsPerChunk)
		case rng.IntN(3) == 0:
			o.OnOK = fmt.Sprintf("kill@%d", 1+rng.IntN(chunksPerLife))
		default:
			moment = time.Duration(rng.IntN(400)) * time.Millisecond
		}
		p, err := program.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if moment > 0 {
			time.Sleep(moment) // the moment is random: nothing waits for anything
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		r, err := p.Wait()
		if err != nil {
			t.Fatal(err)
		}
		ledger.Add(r.Events)
		switch {
		case life == kills && (r.Code != 0 || r.Signal != 0):
			t.Fatalf("the last life: exit %d, signal %v\n%s", r.Code, r.Signal, r.Log)
		case r.Signal == syscall.SIGKILL && moment > 0:
			byTime++
		case r.Signal == syscall.SIGKILL:
			byMark++
		}
	}
	t.Logf("killed at %d moments and after %d answers", byTime, byMark)
	if byTime+byMark < kills*9/10 || byMark == 0 || byTime == 0 {
		t.Errorf("only %d of %d lives were killed", byTime+byMark, kills)
	}
	files, err := localFiles(filepath.Join(dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, files, &ledger)
}

func options(plugin, dir string, life int) host.Options {
	return host.Options{
		Plugin: plugin, Storage: filepath.Join(dir, "storage"),
		Chunks: chunksPerLife, Records: recordsPerChunk, Hours: 4,
		FirstID: uint64(1 + life*chunksPerLife*recordsPerChunk),
		Retry:   10 * time.Millisecond, Linger: time.Minute, Rate: 1e6,
		Outputs: []host.Output{{Name: "hdfs.0", Workers: 2, Set: map[string]string{
			"path":                  "file://" + filepath.Join(dir, "target"),
			"state_dir":             filepath.Join(dir, "state"),
			"state_limit":           "256M",
			"roll_size":             "20K",
			"roll_interval":         "200ms",
			"bucket_check_interval": "50ms",
		}}},
	}
}

// localFiles reads every file below a local directory.
func localFiles(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// verify looks at all files of a target: every record that was sent is there
// once, every file is whole, and nothing else is left.
func verify(t *testing.T, files map[string][]byte, ledger *host.Ledger) {
	t.Helper()
	var written []uint64
	for path, content := range files {
		switch name := filepath.Base(path); {
		case strings.HasPrefix(name, "."):
			t.Errorf("a temp is left: %s", path)
			continue
		case len(content) == 0 || content[len(content)-1] != '\n':
			t.Errorf("not whole: %s", path)
		}
		ids, err := ids(content)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		written = append(written, ids...)
	}
	if n := len(ledger.Sent()); n != len(ledger.Promised("hdfs.0")) || n == 0 {
		t.Errorf("%d of %d records were promised in the end", len(ledger.Promised("hdfs.0")), n)
	}
	if err := host.ExactlyOnce(ledger.Sent(), ledger.Promised("hdfs.0"), written); err != nil {
		t.Error(err)
	}
	t.Logf("%d records in %d files", len(written), len(files))
}

// ids are the ids of JSON lines.
func ids(content []byte) (all []uint64, err error) {
	for line := range bytes.Lines(content) {
		var record struct {
			ID *uint64 `json:"id"`
		}
		if err := json.Unmarshal(line, &record); err != nil || record.ID == nil {
			return all, fmt.Errorf("no record with an id (%w): %.200s", err, line)
		}
		all = append(all, *record.ID)
	}
	return all, nil
}
