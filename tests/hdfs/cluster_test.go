package hdfs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 2}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// bounded is the test's context with an end to all waiting.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// connect returns a client as user, which ends with the test.
func connect(t *testing.T, c *hdfs.Cluster, user string) *client.Client {
	t.Helper()
	hc, err := client.NewClient(client.ClientOptions{Addresses: []string{c.Authority()}, User: user})
	must(t, err)
	t.Cleanup(func() { hc.Close() })
	return hc
}

func write(t *testing.T, hc *client.Client, p, content string) error {
	t.Helper()
	w, err := hc.CreateFile(p, 2, 1<<20, 0o644)
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(content)); err != nil {
		return errors.Join(err, w.Close())
	}
	end := time.After(time.Minute)
	for {
		err := w.Close()
		if !client.IsErrReplicating(err) {
			return err
		}
		select { // until a DataNode has reported the block
		case <-time.After(20 * time.Millisecond):
		case <-end:
			return err
		}
	}
}

func TestAFreshClusterStoresAFile(t *testing.T) {
	c, ctx := shared.Cluster(t), bounded(t)
	must(t, c.MkdirAs(ctx, "alice", "/fresh"))
	hc := connect(t, c, "alice")
	must(t, write(t, hc, "/fresh/a", "content\n"))
	report, err := c.Fsck(ctx, "/fresh")
	must(t, err)
	if !strings.Contains(report, "/fresh/a 8 bytes") || !strings.Contains(report, "HEALTHY") {
		t.Errorf("fsck says %s", report)
	}
	out, err := c.FsShell(ctx, "-cat", "/fresh/a")
	must(t, err)
	if out != "content\n" {
		t.Errorf("-cat prints %q", out)
	}
	if out, err := c.FsShell(ctx, "-cat", "/fresh/none"); err == nil {
		t.Errorf("-cat of nothing prints %q and no error", out)
	}
	out, err = c.DFSAdmin(ctx, "-report")
	must(t, err)
	if !strings.Contains(out, "Live datanodes (2)") {
		t.Errorf("-report prints %s", out)
	}
}

func TestClientsConfigurationNamesTheCluster(t *testing.T) {
	c := shared.Cluster(t)
	core, err := os.ReadFile(filepath.Join(c.ConfDir(), "core-site.xml"))
	must(t, err)
	if !strings.Contains(string(core), "<value>"+c.URI()+"</value>") {
		t.Errorf("core-site.xml doesn't name %s: %s", c.URI(), core)
	}
}

func TestAdministration(t *testing.T) {
	c, ctx := shared.Cluster(t), bounded(t)
	must(t, c.MkdirAs(ctx, "alice", "/admin"))
	alice, bob := connect(t, c, "alice"), connect(t, c, "bob")

	t.Run("permissions", func(t *testing.T) {
		if err := write(t, bob, "/admin/a", "x"); !errors.Is(err, os.ErrPermission) {
			t.Errorf("bob writes into alice's directory: %v", err)
		}
		must(t, c.Chmod(ctx, "/admin", 0o777))
		must(t, write(t, bob, "/admin/a", "x"))
		must(t, c.Chown(ctx, "/admin/a", "carol"))
		info, err := alice.Stat("/admin/a")
		must(t, err)
		if owner := info.(*client.FileInfo).Owner(); owner != "carol" {
			t.Errorf("owner is %s", owner)
		}
	})
	t.Run("quotas", func(t *testing.T) {
		must(t, alice.Mkdir("/admin/quota", 0o755))
		must(t, c.SetQuota(ctx, "/admin/quota", 1))
		if err := alice.Mkdir("/admin/quota/d", 0o755); err == nil {
			t.Error("no quota of names")
		}
		must(t, c.ClrQuota(ctx, "/admin/quota"))
		must(t, c.SetSpaceQuota(ctx, "/admin/quota", 1000))
		must(t, alice.Mkdir("/admin/quota/d", 0o755))
		if err := write(t, alice, "/admin/quota/d/a", "x"); err == nil {
			t.Error("no quota of space")
		}
		must(t, c.ClrQuota(ctx, "/admin/quota"))
		must(t, write(t, alice, "/admin/quota/d/b", "x"))
	})
	t.Run("safe mode", func(t *testing.T) {
		must(t, c.SafeMode(ctx, true))
		err := alice.Mkdir("/admin/d", 0o755)
		must(t, c.SafeMode(ctx, false))
		if err == nil {
			t.Error("a directory was made in safe mode")
		}
		must(t, alice.Mkdir("/admin/d", 0o755))
	})
	t.Run("open files", func(t *testing.T) {
		w, err := alice.CreateFile("/admin/open", 2, 1<<20, 0o644)
		must(t, err)
		if open, err := c.ListOpenFiles(ctx, "/admin"); err != nil || !slices.Contains(open, "/admin/open") {
			t.Errorf("open files are %v, %v", open, err)
		}
		must(t, w.Close())
		if open, err := c.ListOpenFiles(ctx, "/admin"); err != nil || slices.Contains(open, "/admin/open") {
			t.Errorf("open files are %v, %v", open, err)
		}
	})
	t.Run("a call isn't taken for the one before", func(t *testing.T) {
		for _, p := range []string{"/admin/x", "/admin/y"} {
			must(t, alice.Mkdir(p, 0o755))
			must(t, c.Remove(ctx, p))
			if _, err := alice.Stat(p); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", p, err)
			}
		}
	})
	t.Run("errors name the exception", func(t *testing.T) {
		var remote *hdfs.RemoteError
		if err := c.Chmod(ctx, "/admin/none", 0o777); !errors.As(err, &remote) || remote.Exception != "java.io.FileNotFoundException" {
			t.Errorf("chmod of nothing: %v", err)
		}
	})
}

func TestADeadDataNodeIsNoticedAndComesBack(t *testing.T) {
	c, ctx := shared.Cluster(t), bounded(t)
	must(t, c.MkdirAs(ctx, "alice", "/dead"))
	hc := connect(t, c, "alice")
	must(t, write(t, hc, "/dead/before", "content"))
	d := c.DataNode(1)
	must(t, d.Kill())
	must(t, d.WaitDead(ctx))
	content, err := hc.ReadFile("/dead/before")
	if err != nil || string(content) != "content" {
		t.Errorf("read with one DataNode: %q, %v", content, err)
	}
	must(t, d.Restart())
	must(t, d.WaitReady(ctx))
	must(t, write(t, hc, "/dead/after", "content"))
}

func TestAStoppedNameNodeAnswersAgainOnceItContinues(t *testing.T) {
	c, ctx := shared.Cluster(t), bounded(t)
	must(t, c.MkdirAs(ctx, "alice", "/stopped"))
	must(t, c.NameNode().Stop())
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	err := c.Chmod(short, "/stopped", 0o700)
	must(t, c.NameNode().Continue())
	if err == nil {
		t.Error("a stopped NameNode answered")
	}
	must(t, c.Chmod(ctx, "/stopped", 0o700))
}

func TestARestartedNameNodeHasEverything(t *testing.T) {
	c, ctx := shared.Cluster(t), bounded(t)
	must(t, c.MkdirAs(ctx, "alice", "/restart"))
	must(t, write(t, connect(t, c, "alice"), "/restart/a", "content"))
	must(t, c.NameNode().Restart())
	must(t, c.NameNode().WaitReady(ctx))
	for _, d := range c.DataNodes() {
		must(t, d.WaitReady(ctx))
	}
	content, err := connect(t, c, "alice").ReadFile("/restart/a")
	if err != nil || string(content) != "content" {
		t.Errorf("read after the restart: %q, %v", content, err)
	}
}
