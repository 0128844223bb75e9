package hdfsfs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// TestBlocksThatAreReportedLate: DataNodes may report what they have written in
// batches (dfs.blockreport.incremental.intervalMsec), or late because they are
// busy. The NameNode refuses a third block, and the end of a file, until then, and
// an upload waits.
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
	f, dir := open(t, p.Addr(), user, with("dfs.replication", "1")), directory(t, c)
	st := &store{hc: superuser(t, c)}
	for _, row := range []struct {
		name    string
		size    int
		refused string // which call
	}{
		{"one block", 1 << 19, "complete"},
		{"two blocks", 3 << 19, "complete"}, // at first for the sake of the first block
		{"two blocks to the last byte", 2 << 20, "complete"},
		{"four blocks", 7 << 19, "addBlock"},
	} {
		t.Run(row.name, func(t *testing.T) {
			asked := p.Add(proxy.Rule{Message: row.refused})
			defer p.Reset()
			whole := strings.Repeat("0123456789abcdef", row.size/16)
			least := 1
			if row.refused == "addBlock" {
				least = 4
			}
			// A report that is due anyway comes in time.
			const tries = 20
			for i := range tries {
				before := asked.Seen()
				name := fmt.Sprintf("%s/%d-%d", dir, row.size, i)
				upload(t, f, name, whole)
				if wrong := st.holds(name, whole); wrong != "" {
					t.Error(wrong)
				}
				if asked.Seen()-before > least {
					return
				}
			}
			t.Errorf("%s was refused for none of %d files", row.refused, tries)
		})
	}
}
