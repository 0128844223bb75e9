package kerberos

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/hdfs/load"
)

// TestEachProtection: calls and data are authenticated, signed or encrypted as the
// cluster asks, and what is written is what Hadoop's own shell reads.
func TestEachProtection(t *testing.T) {
	for _, row := range []struct {
		name       string
		properties map[string]string
	}{
		{"privacy", map[string]string{"hadoop.rpc.protection": "privacy", "dfs.data.transfer.protection": "privacy",
			"dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := cluster(t, row.properties)
			dir := directory(t, c, user)
			steps, err := load.Check(t, options(t, c, dir), nil)
			if err != nil {
				t.Fatal(err, steps)
			}
			a := load.Start(t, options(t, c, dir), nil)
			for range 10 {
				a.Send(t)
			}
			a.Settle(t)
			a.ExactlyOnce(t, c, dir)
		})
	}
}
