// Package crash kills the agent and looks at what readers see.
package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/crash/ids"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

const (
	chunks          = 1000
	chunksPerLife   = 20
	recordsPerChunk = 40
)

// TestKilledAtRandomMoments delivers chunks in lives that each end by SIGKILL:
// at a random moment, or between an answer and the chunk's deletion, with parts
// that are rolled, uploaded and published all the time. The last life delivers
// what is left of them and ends cleanly.
func TestKilledAtRandomMoments(t *testing.T) {
	program, plugin := host.Build(t), host.Plugin(t)
	for _, tc := range []struct {
		name          string
		set           map[string]string
		kills, chunks int
	}{
		{"json", nil, 50, chunks},
		{"json in gzip", map[string]string{"compression": "gzip"}, 12, 300},
		{"parquet", map[string]string{"format": "parquet"}, 12, 300},
		{"avro", map[string]string{"format": "avro"}, 12, 300},
		{"sequencefile", map[string]string{"format": "sequencefile"}, 12, 300},
		{"a format after another", nil, 14, 300},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := killer{t: t, program: program, plugin: plugin, dir: t.TempDir(), kills: tc.kills, chunks: tc.chunks}
			others := []map[string]string{{"format": "parquet"}, {"compression": "gzip"}, {"format": "avro"}, {}, {"format": "sequencefile"}}
			k.set = func(life int) map[string]string {
				if tc.name == "a format after another" {
					return others[life%len(others)]
				}
				return tc.set
			}
			k.run()
		})
	}
}

// killer runs one plugin's lives.
type killer struct {
	t             *testing.T
	program       host.Program
	plugin, dir   string
	kills, chunks int
	set           func(life int) map[string]string // keys of each life beside the usual
}

func (k *killer) run() {
	t, seed := k.t, rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var (
		ledger         host.Ledger
		byTime, byMark int
		known          = map[string]bool{}
	)
	for life := range k.kills {
		o := options(k.plugin, k.dir, life)
		maps.Copy(o.Outputs[0].Set, k.set(life))
		moment := time.Duration(0)
		if rng.IntN(3) == 0 {
			o.OnOK = fmt.Sprintf("kill@%d", 1+rng.IntN(chunksPerLife))
		} else {
			moment = time.Duration(rng.IntN(400)) * time.Millisecond
		}
		r := k.life(o, moment)
		ledger.Add(r.Events)
		ledger.Add(unreported(t, o, r.Events, known))
		switch {
		case r.Signal == syscall.SIGKILL && moment > 0:
			byTime++
		case r.Signal == syscall.SIGKILL:
			byMark++
		}
	}
	o := options(k.plugin, k.dir, k.kills)
	maps.Copy(o.Outputs[0].Set, k.set(k.kills))
	o.Linger, o.Rate = 0, 0
	o.Chunks = max(1, k.chunks-len(ledger.Sent())/recordsPerChunk)
	if held := lastLife(t, k.program, o, &ledger); held > 0 {
		t.Errorf("%d chunks were held though nothing is wrong with them", held)
	}
	t.Logf("killed at %d moments and after %d answers", byTime, byMark)
	if byTime+byMark < k.kills*9/10 || byMark == 0 || byTime == 0 {
		t.Errorf("only %d of %d lives were killed", byTime+byMark, k.kills)
	}
	files, err := localFiles(filepath.Join(k.dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	verify(t, files, &ledger)
}

// life runs the plugin until it ends, or to the moment, unless that is 0.
func (k *killer) life(o host.Options, moment time.Duration) host.Result {
	k.t.Helper()
	p, err := k.program.Run(k.t.Context(), o)
	if err != nil {
		k.t.Fatal(err)
	}
	if moment > 0 {
		time.Sleep(moment) // the moment is random: nothing waits for anything
		if err := p.Kill(); err != nil {
			k.t.Fatal(err)
		}
	}
	r, err := p.Wait()
	if err != nil || !endedWell(r) {
		k.t.Fatalf("exit %d, signal %v, %v\n%s", r.Code, r.Signal, err, r.Log)
	}
	return r
}

// endedWell reports whether a process ended by itself, or was killed by a test.
func endedWell(r host.Result) bool {
	return r.Signal == syscall.SIGKILL || r.Signal == 0 && r.Code == 0
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
	kinds := map[string]int{}
	for path, content := range files {
		name := filepath.Base(path)
		if strings.HasPrefix(name, ".") {
			t.Errorf("a temp is left: %s", path)
			continue
		}
		found, err := ids.Of(path, content)
		if err != nil {
			t.Error(err)
		}
		kinds[name[strings.IndexByte(name, '.'):]]++
		written = append(written, found...)
	}
	if n := len(ledger.Sent()); n != len(ledger.Promised("hdfs.0")) || n == 0 {
		t.Errorf("%d of %d records were promised in the end", len(ledger.Promised("hdfs.0")), n)
	}
	if err := host.ExactlyOnce(ledger.Sent(), ledger.Promised("hdfs.0"), written); err != nil {
		t.Error(err)
	}
	t.Logf("%d records in %v files", len(written), kinds)
}
