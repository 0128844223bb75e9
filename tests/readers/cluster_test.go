package readers

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

var cluster = hdfs.Shared{Options: hdfs.Options{DataNodes: 1}}

// TestHadoopTextOnTheCluster: what the plugin writes to a real HDFS, `hdfs dfs
// -text` prints there as it prints the local files, of which other tests know
// what is in them.
func TestHadoopTextOnTheCluster(t *testing.T) {
	s, c := open(t), cluster.Cluster(t)
	jars, err := s.python.Jars()
	if err != nil {
		t.Fatal(err)
	}
	var remote, local []string
	formats := map[string]int{}
	for i, r := range s.rows {
		format := r.keys[conf.KeyFormat]
		lines := r.plain != "" || format == "sequencefile" || format == "avro"
		// zstd is in Hadoop's native library only, which the jars don't have.
		if !lines || r.chunks != nil || r.of != "" || r.keys[conf.KeyCompression] == "zstd" {
			continue
		}
		dir := fmt.Sprintf("/readers/%d", i)
		o, err := s.agent.options(filepath.Join(t.TempDir(), fmt.Sprint(i)), r.keys, chunks())
		if err != nil {
			t.Fatal(err)
		}
		set := o.Outputs[0].Set
		set[conf.KeyPath], set[conf.KeyHadoopConfDir], set[conf.KeyHDFSUser] = c.URI()+dir, c.ConfDir(), hdfs.Superuser
		p, err := s.agent.Program.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if result, err := p.Wait(); err != nil || result.Code != 0 {
			t.Fatalf("%s: exit %d, %v\n%s", r.name, result.Code, err, result.Log)
		}
		formats[format]++
		remote, local = append(remote, dir+"/part-*"), append(local, s.written[r.name].Files...)
	}
	for _, format := range []string{"json", "text", "csv", "ltsv", "sequencefile", "avro"} {
		if formats[format] == 0 {
			t.Errorf("no row of %s is read", format)
		}
	}
	want, err := HadoopText(t.Context(), jars, localFS, local...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := HadoopText(t.Context(), jars, c.URI(), remote...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes from HDFS, %d of the local files, the first %d are the same", len(got), len(want), common(got, want))
	}
	t.Logf("%d rows, %d bytes: %v", len(remote), len(want), formats)
}

// common is how many bytes a and b begin with together.
func common(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
