// Package ha proves the sink on an HDFS with two NameNodes that share a journal:
// while one takes over from the other in the middle of any call, while none is
// active, and while the active one hangs and comes back after it was deposed.
package ha

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 1, HA: true}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// user is whom the sinks write as.
const user = "alice"

// patience is how long a client waits for an answer. A NameNode that hangs must be
// left long before.
const patience = "60s"

// client is a directory with a client's configuration for NameNodes at addresses.
func client(t testing.TB, addresses ...string) string {
	t.Helper()
	var b strings.Builder
	p := func(name, value string) {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", name, value)
	}
	p("dfs.replication", "1")
	p("ipc.client.rpc-timeout.ms", patience)
	p("dfs.nameservices", hdfs.Nameservice+",other")
	var ids []string
	for i, a := range addresses {
		ids = append(ids, fmt.Sprint("nn", i))
		p(fmt.Sprintf("dfs.namenode.rpc-address.%s.nn%d", hdfs.Nameservice, i), a)
	}
	p("dfs.ha.namenodes."+hdfs.Nameservice, strings.Join(ids, ","))
	p("dfs.namenode.rpc-address.other", "127.0.0.1:1") // another namespace of the federation
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "hdfs-site.xml"), []byte("<configuration>"+b.String()+"</configuration>"), 0o600))
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var directories atomic.Int64

// directory is a new one of the user's.
func directory(t testing.TB, c *hdfs.Cluster) string {
	t.Helper()
	p := fmt.Sprintf("/ha/%d", directories.Add(1))
	must(t, c.MkdirAs(t.Context(), user, p))
	return p
}

// addresses are the NameNodes'.
func addresses(c *hdfs.Cluster) (all []string) {
	for _, n := range c.NameNodes() {
		all = append(all, n.Addr())
	}
	return all
}

// options are those of a sink that writes to dir.
func options(t testing.TB, dir string, addresses ...string) map[string]string {
	return map[string]string{"path": "hdfs://" + hdfs.Nameservice + dir, "hadoop_conf_dir": client(t, addresses...), "hdfs_user": user}
}

// active returns the active NameNode and the other one.
func active(ctx context.Context, c *hdfs.Cluster) (one, other *hdfs.Daemon, err error) {
	n := c.NameNodes()
	for i := range n {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		state, stateErr := n[i].State(short)
		cancel()
		if stateErr == nil && state == hdfs.Active {
			return n[i], n[1-i], nil
		}
	}
	return nil, nil, fmt.Errorf("no NameNode is active")
}

// failover makes the other NameNode the active one.
func failover(ctx context.Context, c *hdfs.Cluster) error {
	_, other, err := active(ctx, c)
	if err != nil {
		return err
	}
	return c.Failover(ctx, other)
}

// wait waits, unless ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
