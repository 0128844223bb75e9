package target

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// A part of the DataNode's cases has two blocks, each of one packet of data and
// one that ends it.
const (
	blockSize      = 64 << 10
	fillingOfBlock = blockSize / recordsOfCase * 5 / 4
)

// messages are those of one upload, which are as many as their answers.
var messages = []struct {
	name string
	n    int
}{{"WRITE_BLOCK", 2}, {"PACKET", 4}}

// TestEveryMessageOfAnUploadIsLostOnce cuts and swallows each request, packet
// and acknowledgement between the sink and a DataNode. Every record is
// published once, in an upload that lost nothing, and no other temp is left.
func TestEveryMessageOfAnUploadIsLostOnce(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	base := directory(t, c)
	node := c.DataNode(0)
	_, port, err := net.SplitHostPort(node.Addr())
	must(t, err)
	p, err := proxy.DataNode(node.Addr(), net.JoinHostPort(hdfs.DataNodeHost, port))
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	open := func(patience time.Duration) *agent {
		return start(t, map[string]string{
			"path": c.URI() + base, "block_size": fmt.Sprint(blockSize),
			"hadoop_conf_dir": client(t, c.URI(), patient, map[string]string{
				"dfs.client.use.datanode.hostname": "true", "dfs.client.socket-timeout": fmt.Sprint(patience.Milliseconds()),
			}),
		})
	}
	agents := map[proxy.Action]*agent{proxy.Cut: open(patient), proxy.Swallow: open(impatient)}
	chunks := 0
	for _, message := range messages {
		for _, side := range []proxy.Side{proxy.Request, proxy.Answer} {
			for n := 1; n <= message.n; n++ {
				for do, a := range agents {
					r := proxy.Rule{Message: message.name, Side: side, Nth: n, Do: do}
					p.Reset()
					fault := p.Add(r)
					a.flush(t, records(uint64(1+chunks*recordsOfCase), recordsOfCase, fillingOfBlock, fmt.Sprint(chunks)))
					chunks++
					for _, held := range a.published(t) {
						t.Errorf("%v: part %d is held: %s", r, held.Number, held.Why)
					}
					if fault.Fired() != 1 {
						t.Errorf("%v: it fired %d times", r, fault.Fired())
					}
				}
			}
		}
	}
	noTemps(t, slices.Collect(maps.Values(agents)))
	if err := exactlyOnce(look(t, c).files(t, base), span(1, uint64(chunks*recordsOfCase))); err != nil {
		t.Error(err)
	}
}
