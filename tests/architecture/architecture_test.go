// Package architecture checks which package of this module imports which, and
// who uses what from outside. docs/architecture.md draws the same map.
package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/out-hdfs/out_hdfs"

// layer is a package, or with a trailing /... a package and all below it, and
// what it may import of this module. A package may always import what is below
// itself.
type layer struct{ of, uses string }

// layers, from the bottom to the top. The first that names a package counts. An
// import that isn't here is an arrow that points the wrong way, or one that
// deserves a second thought before it is added.
var layers = []layer{
	// What knows nothing else.
	{"rolling", ""},
	{"sink/run", ""},
	{"sink/retry", ""},
	{"sink/memory", ""},
	{"sink/openfiles", ""},
	{"sink/disk", ""},
	{"sink/chunkfile", "sink/disk"},
	{"sink/fs/hadoop", ""},

	// Records, their formats, their buckets' names. None of them knows the sink.
	{"codec/event", ""},
	{"codec/schema/...", "codec/event codec/json codec/schema/..."},
	{"codec/...", "codec/..."},
	{"assigner/...", "assigner/... codec/event/..."},

	// File systems.
	{"sink/fs", ""},
	{"sink/fs/localfs", "sink/fs"},
	{"sink/fs/hdfsfs", "sink/fs sink/fs/hadoop"},

	// What the stages stand on and share.
	{"sink/staging", "sink/disk"},
	{"sink/journal/log", "sink/disk"},
	{"sink/journal", "sink/disk sink/journal/log"},
	{"sink/record", "sink/journal sink/openfiles sink/retry sink/run"},
	{"sink/partfile", "codec sink/run"},
	{"sink/chunk", "codec codec/event sink/journal sink/memory sink/run"},

	// The stages, the last one first: none knows the one before it.
	{"sink/commit", "sink/fs sink/journal sink/openfiles sink/staging sink/retry sink/run"},
	{"sink/bucket", "codec rolling sink/chunk sink/journal sink/openfiles sink/partfile sink/staging sink/retry sink/run"},
	{"sink/encode", "assigner codec codec/event sink/chunk sink/journal sink/memory sink/partfile sink/run"},
	{"sink/intake", "sink/chunk sink/chunkfile sink/disk sink/encode sink/journal sink/memory sink/openfiles sink/record sink/retry sink/run"},
	{"sink", "assigner codec rolling sink/bucket sink/chunk sink/chunkfile sink/commit sink/disk sink/encode sink/fs " +
		"sink/intake sink/journal sink/memory sink/partfile sink/record sink/run sink/staging"},
	{"sink/control", "sink sink/journal"},

	// What makes an output of them.
	{"conf/agent", "conf"},
	{"conf", "assigner/... codec/... rolling sink/fs sink/memory"},
	{"instance", "assigner codec/... conf sink sink/chunkfile sink/control sink/disk sink/fs/... sink/journal sink/memory sink/openfiles sink/run"},
	{"instance/reference", "conf instance"},
	{"fluentbit", "sink/chunkfile"},
	{"", "fluentbit instance sink"},
	{"cmd/out-hdfs", "conf conf/agent instance sink sink/control sink/disk sink/journal"},
}

// testSupport is imported by tests, and by itself, and by nothing that ships.
var testSupport = []string{
	"codec/codectest", "codec/event/eventtest", "codec/schema/schematest", "codec/parquet/fuzz", "sink/disk/crashdisk", "sink/disk/disktest",
	"sink/faults", "sink/fs/faultfs", "sink/fs/fstest", "sink/fs/memfs", "sink/sinktest", "tests/...",
}

// outside says who may import what isn't ours: each wall stands where it is said.
var outside = []layer{
	{"C", "fluentbit"},
	{"github.com/fluent/fluent-bit-go/...", "fluentbit"},
	{"github.com/colinmarc/hdfs/...", "sink/fs/hdfsfs"},
	{"google.golang.org/protobuf/...", "sink/fs/hdfsfs"},
	{"github.com/linkedin/goavro/...", "codec/schema"},
	{"github.com/parquet-go/...", "codec/parquet"},
	{"github.com/klauspost/compress/...", "codec/codectest codec/compress codec/parquet"},
	{"github.com/pierrec/lz4/...", "codec/codectest codec/compress codec/parquet"},
	{"github.com/dsnet/compress/...", "codec/compress"},
	{"github.com/tinylib/msgp/...", "codec/..."},
	{"github.com/spf13/cobra", "cmd/out-hdfs"},
	{"golang.org/x/net/netutil", "sink/control"},
	{"go.yaml.in/yaml/...", "conf/agent"},
	{"golang.org/x/sync/semaphore", "sink/fs"},
	{"golang.org/x/sys/unix", "fluentbit instance sink/chunkfile sink/disk sink/fs/localfs"},
}

// untouching packages open no file, no socket and no process.
var untouching = []string{"conf", "rolling", "assigner/...", "codec", "codec/event", "sink/bucket", "sink/commit", "sink/encode", "sink/intake"}

// matches reports whether a package is, or is below, one of the patterns.
func matches(pkg, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		above, tree := strings.CutSuffix(p, "/...")
		return pkg == above || tree && strings.HasPrefix(pkg, above+"/")
	})
}

// listed is a package as `go list -json` describes it.
type listed struct {
	ImportPath string
	Imports    []string // without those of tests
	CgoFiles   []string
}

func packages(t *testing.T) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,CgoFiles", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// own is the path of a package within this module.
func own(importPath string) (pkg string, ok bool) {
	if importPath == module {
		return "", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// TestImports: every arrow between two packages is one of the layers', and
// everything from outside is used behind its wall.
func TestImports(t *testing.T) {
	known, arrows := map[string]bool{}, 0
	for _, p := range packages(t) {
		pkg, _ := own(p.ImportPath)
		known[pkg] = true
		if support := matches(pkg, strings.Join(testSupport, " ")); support {
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return matches(pkg, l.of) || pkg == l.of })
		if i < 0 {
			t.Errorf("%s is in no layer: say where it belongs", pkg)
			continue
		}
		for _, to := range p.Imports {
			arrows++
			if below, ok := own(to); ok {
				checkArrow(t, pkg, below, layers[i])
			} else {
				checkOutside(t, pkg, to)
			}
		}
	}
	if arrows < 100 {
		t.Errorf("%d imports were looked at", arrows)
	}
	for _, l := range layers {
		if !known[strings.TrimSuffix(l.of, "/...")] {
			t.Errorf("the layer %q names no package", l.of)
		}
	}
}

func checkArrow(t *testing.T, from, to string, l layer) {
	t.Helper()
	switch {
	case matches(to, strings.Join(testSupport, " ")):
		t.Errorf("%s → %s: it is for tests", name(from), to)
	case matches(to, l.uses), from != "" && strings.HasPrefix(to, from+"/"):
	default:
		t.Errorf("%s → %s: it may import %s", name(from), name(to), l.uses)
	}
}

func checkOutside(t *testing.T, from, to string) {
	t.Helper()
	for _, w := range outside {
		if matches(to, w.of) && !matches(from, w.uses) {
			t.Errorf("%s → %s: that is used in %s only", name(from), to, w.uses)
		}
	}
	isModule := strings.Contains(strings.Split(to, "/")[0], ".")
	if isModule && !slices.ContainsFunc(outside, func(w layer) bool { return matches(to, w.of) }) {
		t.Errorf("%s → %s: say who may use it", name(from), to)
	}
	if slices.Contains([]string{"os", "os/exec", "net", "net/http", "syscall"}, to) && matches(from, strings.Join(untouching, " ")) {
		if to == "syscall" && from == "sink/bucket" { // an errno to compare with touches nothing
			return
		}
		t.Errorf("%s → %s: it touches nothing but through what it is handed", name(from), to)
	}
}

// name is a package in a message.
func name(pkg string) string {
	if pkg == "" {
		return "out_hdfs.go"
	}
	return pkg
}
