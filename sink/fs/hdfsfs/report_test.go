package hdfsfs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// TestBlocksThatAreReportedLate: DataNodes may report what they have written in
// batches (dfs.blockreport.incremental.intervalMsec), or late because they are
// busy. The NameNode refuses the third block of a file, and the end of it, until
// then, and an upload waits.
func TestBlocksThatAreReportedLate(t *testing.T) {
	ctx := bounded(t, 5*time.Minute)
	c, err := hdfs.Start(ctx, hdfs.Options{DataNodes: 1, Properties: map[string]string{
		"dfs.blockreport.incremental.intervalMsec": "1000",
	}})
	must(t, err)
	defer func() { must(t, c.Stop()) }()
	p, err := proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	defer func() { must(t, p.Close()) }()
	f, dir := open(t, p.Addr(), user, with("dfs.replication", "1", "ipc.client.rpc-timeout.ms", "60000", "dfs.client.socket-timeout", "60s")), directory(t, c)
	asked := p.Add(proxy.Rule{Message: "addBlock"})
	const blocks = 4
	whole := strings.Repeat("0123456789abcdef", (blocks<<20-1<<19)/16)
	upload(t, f, dir+"/a", whole)
	if got := (&store{hc: superuser(t, c)}).holds(dir+"/a", whole); got != "" {
		t.Error(got)
	}
	if n := asked.Seen(); n <= blocks {
		t.Errorf("the NameNode was asked for %d blocks %d times: none was refused", blocks, n)
	}
}
