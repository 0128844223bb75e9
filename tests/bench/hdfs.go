package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	client "github.com/colinmarc/hdfs/v2"
	"golang.org/x/sys/unix"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// rounds is how often the rows on HDFS are measured, to show how much the
// machine's noise is.
const rounds = 2

// hdfs compares the sink on a real HDFS with two DataNodes with `hdfs dfs -put`
// of the very files that the sink made, and with the client library that it
// uses. All rows are in MB and GB of chunks, of which each is the same work.
func (b *bench) hdfs(mb int) (err error) {
	if !b.wants("hdfs") {
		return nil
	}
	if missing := missingTools(); missing != "" {
		if b.only != "" {
			return errors.New(missing)
		}
		fmt.Printf("\nno rows on HDFS: %s\n", missing)
		return nil
	}
	ctx := context.Background()
	c, err := hdfs.Start(ctx, hdfs.Options{DataNodes: 2, Properties: map[string]string{"dfs.replication": "1"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	// The daemons' flags make them start fast; a copy is better off with a
	// JVM's own. This variable goes before the command line.
	if err := os.Setenv("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=4 -Xmx1g"); err != nil {
		return err
	}
	fmt.Println()
	w := table("HDFS, replication 1, two flushes at a time", "s", "MB/s", "CPU s/GB", "of it kernel", "peak MB")
	for range rounds {
		if err := b.hdfsRound(ctx, c, mb, func(label string, r result, chunks float64) {
			row(w, label, r.Published, r.mbps(r.Published), r.CPU/chunks*1e9, r.Kernel/chunks*1e9, r.PeakMB)
		}); err != nil {
			return err
		}
	}
	return w.Flush()
}

func missingTools() string {
	if _, err := exec.LookPath("java"); err != nil && os.Getenv("JAVA_HOME") == "" {
		return "there is no Java"
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return "there is no Maven"
	}
	return ""
}

// hdfsRound measures each row once. A result without bytes has no speed; its CPU
// time is spread over the chunks like the others'.
func (b *bench) hdfsRound(ctx context.Context, c *hdfs.Cluster, mb int, show func(label string, r result, chunks float64)) error {
	const base = "/bench"
	sunk, err := b.run(job{
		What: "sink", Chunks: b.chunksOf(mb), Flushers: 2,
		Path: c.URI() + base + "/sink", ConfDir: c.ConfDir(),
	})
	if err != nil {
		return err
	}
	chunks := sunk.Bytes
	show("json, 1 bucket", sunk, chunks)
	local := filepath.Join(b.dir, "hdfs-files")
	files, bytes, err := fetch(c, base+"/sink", local)
	if err != nil {
		return err
	}
	if err := c.MkdirAs(ctx, hdfs.Superuser, base+"/put"); err != nil {
		return err
	}
	empty := filepath.Join(local, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		return err
	}
	start, err := put(ctx, c, base+"/put/", empty)
	if err != nil {
		return err
	}
	show("hdfs dfs -put of an empty file", start, chunks)
	whole, err := put(ctx, c, base+"/put/", files...)
	if err != nil {
		return err
	}
	whole.Bytes = chunks
	whole.Published -= start.Published
	whole.CPU -= start.CPU
	whole.Kernel -= start.Kernel
	show(fmt.Sprintf("hdfs dfs -put of the %d MB of JSON, less that", bytes/1_000_000), whole, chunks)
	bare, err := b.run(job{What: "client", Files: files, Path: base + "/client", ConfDir: c.Authority()})
	if err != nil {
		return err
	}
	bare.Bytes = chunks
	show("the bare client, 1 MiB a write", bare, chunks)
	return errors.Join(c.Remove(ctx, base), os.RemoveAll(local))
}

// fetch copies the finished files below dir into a local folder.
func fetch(c *hdfs.Cluster, dir, local string) (files []string, bytes int64, err error) {
	if err := os.MkdirAll(local, 0o700); err != nil {
		return nil, 0, err
	}
	hc, err := client.NewClient(client.ClientOptions{Addresses: []string{c.Authority()}, User: hdfs.Superuser})
	if err != nil {
		return nil, 0, err
	}
	defer hc.Close()
	err = hc.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasPrefix(path.Base(p), ".") {
			return err
		}
		to := filepath.Join(local, fmt.Sprint(len(files)))
		files, bytes = append(files, to), bytes+info.Size()
		return hc.CopyToLocal(p, to)
	})
	return files, bytes, err
}

// put runs `hdfs dfs -put` and measures its JVM.
func put(ctx context.Context, c *hdfs.Cluster, to string, files ...string) (result, error) {
	before, start := cpuOf(unix.RUSAGE_CHILDREN), time.Now()
	_, err := c.FsShell(ctx, append(append([]string{"-put"}, files...), to)...)
	r := result{Published: time.Since(start).Seconds()}
	r.add(before, cpuOf(unix.RUSAGE_CHILDREN))
	return r, err
}

// writeFiles writes each local file to HDFS as the client library alone can. It
// runs in a process of its own; ConfDir is the NameNode's address.
func writeFiles(j job) (bytes int64, err error) {
	hc, err := client.NewClient(client.ClientOptions{Addresses: []string{j.ConfDir}, User: hdfs.Superuser})
	if err != nil {
		return 0, err
	}
	defer hc.Close()
	if err := hc.MkdirAll(j.Path, 0o755); err != nil {
		return 0, err
	}
	buf := make([]byte, 1<<20)
	for _, name := range j.Files {
		n, err := writeFile(hc, name, path.Join(j.Path, filepath.Base(name)), buf)
		if err != nil {
			return bytes, fmt.Errorf("%s: %w", name, err)
		}
		bytes += n
	}
	return bytes, nil
}

func writeFile(hc *client.Client, name, to string, buf []byte) (n int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w, err := hc.CreateFile(to, 1, 128<<20, 0o644)
	if err != nil {
		return 0, err
	}
	// Neither side may take a shortcut past the buffer.
	if n, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, buf); err != nil {
		return n, err
	}
	for err = w.Close(); client.IsErrReplicating(err); err = w.Close() {
		time.Sleep(20 * time.Millisecond)
	}
	return n, err
}
