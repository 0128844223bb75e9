package readers

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/host"
)

// Agent is the plugin in a process that treats it as Fluent Bit does.
type Agent struct {
	Program host.Program
	Plugin  string
}

// NewAgent builds both in dir.
func NewAgent(dir string) (a Agent, err error) {
	for _, name := range []string{"program", "plugin"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return a, err
		}
	}
	if a.Program, err = host.Compile(filepath.Join(dir, "program")); err != nil {
		return a, err
	}
	a.Plugin, err = host.CompilePlugin(filepath.Join(dir, "plugin"))
	return a, err
}

// options are a run that delivers chunks one by one, in their order, to one
// output with these keys below dir. The keys don't name path and state.
func (a Agent) options(dir string, keys map[string]string, chunks []host.Chunk) (o host.Options, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return o, err
	}
	raw := filepath.Join(dir, "chunks")
	if err := host.WriteRaw(raw, chunks); err != nil {
		return o, err
	}
	values := maps.Clone(keys)
	values[conf.KeyPath] = "file://" + filepath.Join(dir, "target")
	values[conf.KeyStateDir] = filepath.Join(dir, "state")
	values[conf.KeyExitTimeout] = "2m"
	return host.Options{
		Plugin: a.Plugin, Storage: filepath.Join(dir, "storage"), Raw: raw, InFlight: 1,
		Outputs: []host.Output{{Set: values}},
	}, nil
}

// Write lets the plugin write the chunks below dir and returns the files there:
// also those of runs before.
func (a Agent) Write(ctx context.Context, dir string, keys map[string]string, chunks []host.Chunk) (w Written, err error) {
	o, err := a.options(dir, keys, chunks)
	if err != nil {
		return w, err
	}
	p, err := a.Program.Run(ctx, o)
	if err != nil {
		return w, err
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 || int(r.Summary.OK) != len(chunks) || r.Summary.Retry > 0 {
		return w, fmt.Errorf("the host ended with %d after %d OK and %d RETRY for %d chunks, %v\n%s",
			r.Code, r.Summary.OK, r.Summary.Retry, len(chunks), err, r.Log)
	}
	return written(filepath.Join(dir, "target"))
}

// Written is what an agent left in its target.
type Written struct {
	Files   []string // finished parts, by bucket and then in their order
	Letters []string // files of dead letters
}

// written lists a target, shorter names first: the part's number is the name's
// last. A name that readers don't see is an error, but for dead letters.
func written(target string) (w Written, err error) {
	letters := filepath.Join(target, "_dead_letters")
	err = filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
		switch {
		case err != nil:
			return err
		case hidden && path != target && path != letters:
			return fmt.Errorf("%s is left behind", path)
		case d.IsDir():
		case strings.HasPrefix(path, letters):
			w.Letters = append(w.Letters, path)
		default:
			w.Files = append(w.Files, path)
		}
		return nil
	})
	for _, files := range [][]string{w.Files, w.Letters} {
		slices.SortFunc(files, func(a, b string) int {
			if c := strings.Compare(filepath.Dir(a), filepath.Dir(b)); c != 0 {
				return c
			}
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
	}
	return w, err
}
