package target

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// refusal is something that is wrong with buckets.
type refusal struct {
	name    string
	buckets []string // the refused ones; none is the base path, and all buckets are
	refuse  func(ctx context.Context, c *hdfs.Cluster, dir string) error
	heal    func(ctx context.Context, c *hdfs.Cluster, dir string) error // nil if only the server's configuration can
	says    string                                                       // what an operator can do about it
}

const (
	bad  = "bad"
	good = "good"
)

// tooLong is a field whose folder has a byte more than the cluster takes.
var tooLong = strings.Repeat("n", longestComponent+1-len("b="))

// made makes the bad bucket's folder and does something to it.
func made(f func(ctx context.Context, c *hdfs.Cluster, p string) error) func(ctx context.Context, c *hdfs.Cluster, dir string) error {
	return func(ctx context.Context, c *hdfs.Cluster, dir string) error {
		if err := c.MkdirAs(ctx, user, dir+"/b="+bad); err != nil {
			return err
		}
		return f(ctx, c, dir+"/b="+bad)
	}
}

func removed(ctx context.Context, c *hdfs.Cluster, dir string) error {
	return c.Remove(ctx, dir+"/b="+bad)
}

var refusals = []refusal{
	{
		name: "quota of names", buckets: []string{bad}, says: "-setQuota",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error { return c.SetQuota(ctx, p, 1) }),
		heal: func(ctx context.Context, c *hdfs.Cluster, dir string) error {
			return c.SetQuota(ctx, dir+"/b="+bad, 1000)
		},
	},
	{
		name: "quota of space", buckets: []string{bad}, says: "-setSpaceQuota",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error { return c.SetSpaceQuota(ctx, p, 1000) }),
		heal:   func(ctx context.Context, c *hdfs.Cluster, dir string) error { return c.ClrQuota(ctx, dir+"/b="+bad) },
	},
	{
		name: "no right to a bucket", buckets: []string{bad}, says: "hdfs dfs -chown",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error { return c.Chown(ctx, p, "bob") }),
		heal: func(ctx context.Context, c *hdfs.Cluster, dir string) error {
			return c.Chown(ctx, dir+"/b="+bad, user)
		},
	},
	{
		name: "no right to look into a bucket", buckets: []string{bad}, says: "hdfs dfs -chown",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error { return c.Chmod(ctx, p, 0) }),
		heal: func(ctx context.Context, c *hdfs.Cluster, dir string) error {
			return c.Chmod(ctx, dir+"/b="+bad, 0o755)
		},
	},
	{
		name: "no right to the base path", says: "hdfs dfs -chown",
		refuse: func(ctx context.Context, c *hdfs.Cluster, dir string) error { return c.Chown(ctx, dir, "bob") },
		heal:   func(ctx context.Context, c *hdfs.Cluster, dir string) error { return c.Chown(ctx, dir, user) },
	},
	{
		name: "a file where the bucket should be", buckets: []string{bad}, says: "move it away",
		refuse: file, heal: removed,
	},
	{
		name: "a name too long", buckets: []string{tooLong}, says: "max-component-length",
		refuse: func(context.Context, *hdfs.Cluster, string) error { return nil },
	},
	{
		name: "an erasure coded folder", buckets: []string{bad}, says: "erasure coded",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error {
			return c.SetErasureCoding(ctx, p, "RS-3-2-1024k")
		}),
		heal: removed,
	},
	{
		name: "an encryption zone", buckets: []string{bad}, says: "encryption zone",
		refuse: made(func(ctx context.Context, c *hdfs.Cluster, p string) error { return c.CreateEncryptionZone(ctx, p) }),
		heal:   removed,
	},
}

// file makes a file of the bucket's name.
func file(_ context.Context, c *hdfs.Cluster, dir string) error {
	return fileAt(c, dir+"/b="+bad)
}

// TestWhatIsRefused has HDFS refuse a bucket: that is said once, with what to
// do, the bucket's parts wait, other buckets go on, and when the cause is gone
// everything arrives.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	st := look(t, c)
	for _, row := range refusals {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.run(t, c, st)
		})
	}
}

func (r refusal) run(t *testing.T, c *hdfs.Cluster, st *store) {
	dir := directory(t, c)
	must(t, r.refuse(t.Context(), c, dir))
	a := start(t, map[string]string{
		"path": c.URI() + dir, "exit_timeout": "1s", "hadoop_conf_dir": client(t, c.URI(), patient, nil),
	})
	buckets, refused := append([]string{good}, r.buckets...), r.buckets
	if len(refused) == 0 {
		buckets, refused = []string{good, bad}, []string{good, bad}
	}
	const chunks = 3
	n := uint64(len(buckets))
	for i := range uint64(chunks) {
		a.flush(t, records(1+i*n, n, 10, buckets...))
	}
	within(t, "only what is refused is left, and was tried again", func() bool {
		s := a.status(t)
		return s.UnfinishedChunks == 0 && len(s.Parts) == chunks*len(refused) && triedAgain(s, refused)
	})
	var wanted []uint64
	for i := range uint64(chunks) {
		if len(r.buckets) > 0 {
			wanted = append(wanted, 1+i*n) // the good bucket's record
		}
	}
	found := st.files(t, dir)
	delete(found, dir+"/b="+bad) // the file that is in the way
	for p := range found {
		if hidden(p) { // of an attempt that is under way
			delete(found, p)
		}
	}
	if err := exactlyOnce(found, wanted); err != nil {
		t.Error(err)
	}
	lines := a.log.all(slog.LevelWarn)
	if len(lines) != len(refused) {
		t.Errorf("of %d refused buckets the log says %v", len(refused), lines)
	}
	for _, bucket := range refused {
		r.said(t, lines, dir+"/b="+bucket)
	}
	if r.heal == nil {
		return
	}
	must(t, r.heal(t.Context(), c, dir))
	if held := a.published(t); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
	if err := exactlyOnce(st.files(t, dir), span(1, chunks*n)); err != nil {
		t.Error(err)
	}
	if lines := a.log.of("the bucket can be written again"); len(lines) != len(refused) {
		t.Errorf("of %d healed buckets the log says %v", len(refused), lines)
	}
	if again := a.log.all(slog.LevelWarn); len(again) != len(lines) {
		t.Errorf("the log says more in the end: %v", again)
	}
}

// triedAgain reports whether each refused bucket's back-off is past its first.
func triedAgain(s sink.Status, refused []string) bool {
	n := 0
	for _, x := range s.Troubles {
		if x.Bucket != "" && x.Until.Sub(x.Since).Seconds() > 1 {
			n++
		}
	}
	return n >= len(refused)
}

// said checks that one line is about a bucket, with what is wrong and what to do.
func (r refusal) said(t *testing.T, lines []sinktest.LogLine, bucket string) {
	t.Helper()
	n := 0
	for _, line := range lines {
		text := fmt.Sprint(line)
		if line.Attrs["bucket"] == bucket && line.Attrs["do"] != "" && strings.Contains(text, r.says) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d lines say %q of %s: %v", n, r.says, bucket, lines)
	}
}

// TestSafeMode is of the whole target: everything waits, chunks are answered,
// and it is said once.
func TestSafeMode(t *testing.T) {
	c := shared.Cluster(t)
	dir := directory(t, c)
	a := start(t, map[string]string{"path": c.URI() + dir, "hadoop_conf_dir": client(t, c.URI(), patient, nil)})
	must(t, c.SafeMode(t.Context(), true))
	t.Cleanup(func() { must(t, c.SafeMode(context.Background(), false)) })
	const chunks = 5
	for i := range uint64(chunks) {
		a.flush(t, records(1+2*i, 2, 10, "x", "y"))
	}
	within(t, "the target was tried again", func() bool {
		s := a.status(t)
		return len(s.Troubles) > 0 && s.Troubles[0].Until.Sub(s.Troubles[0].Since).Seconds() > 1
	})
	if n := len(a.status(t).Parts); n != 2*chunks {
		t.Errorf("%d parts wait", n)
	}
	lines := a.log.all(slog.LevelWarn)
	if len(lines) != 1 || !strings.Contains(fmt.Sprint(lines), "safemode leave") {
		t.Errorf("the log says %v", lines)
	}
	must(t, c.SafeMode(t.Context(), false))
	if held := a.published(t); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
	if err := exactlyOnce(look(t, c).files(t, dir), span(1, 2*chunks)); err != nil {
		t.Error(err)
	}
	if n := len(a.log.of("the target works again")); n != 1 || len(a.log.all(slog.LevelWarn)) != 1 {
		t.Errorf("the log says %v", a.log.all(slog.LevelInfo))
	}
}
