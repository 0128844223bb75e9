package kerberos

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/load"
)

// arrives writes a few parts, as which Hadoop's own shell must read them.
func arrives(t *testing.T, c *hdfs.Cluster, set map[string]string, dir string) {
	t.Helper()
	a := load.Start(t, set)
	for range 10 {
		a.Send(t)
	}
	a.Settle(t)
	a.ExactlyOnce(t, c, dir)
}

// TestEachProtection: calls and data are authenticated, signed or encrypted as the
// cluster asks.
func TestEachProtection(t *testing.T) {
	const rpc, data, encrypt, suites = "hadoop.rpc.protection", "dfs.data.transfer.protection", "dfs.encrypt.data.transfer", "dfs.encrypt.data.transfer.cipher.suites"
	for _, row := range []struct {
		name       string
		properties map[string]string
	}{
		{"integrity", map[string]string{rpc: "integrity", data: "integrity"}},
		{"privacy", map[string]string{rpc: "privacy", data: "privacy", suites: "AES/CTR/NoPadding"}},
		{"data encrypted with AES by dfs.encrypt.data.transfer", map[string]string{encrypt: "true", suites: "AES/CTR/NoPadding"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := cluster(t, row.properties)
			dir := directory(t, c, user)
			arrives(t, c, options(t, c, dir), dir)
		})
	}
	t.Run("authentication", func(t *testing.T) {
		c := plainCluster(t)
		dir := directory(t, c, user)
		arrives(t, c, options(t, c, dir), dir)
	})
}

// TestLessProtectionThanConfiguredIsRefused: a NameNode that would take calls
// without encryption isn't given any.
func TestLessProtectionThanConfiguredIsRefused(t *testing.T) {
	c := plainCluster(t)
	set := options(t, c, directory(t, c, user))
	set["hadoop_conf_dir"] = confDir(t, c, map[string]string{"hadoop.rpc.protection": "privacy"})
	_, err := load.Check(t, set)
	says(t, err, "hadoop.rpc.protection", "privacy", "authentication")
}
