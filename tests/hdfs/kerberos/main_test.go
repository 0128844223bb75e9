// Package kerberos proves the sink on HDFS with Kerberos: logged in by a keytab or
// a ticket cache, over tickets that expire and a KDC that is away, at each
// protection on the wire.
package kerberos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// life is how long tickets last.
const life = 15 * time.Second

// realm is one KDC for all tests, with a keytab of who writes.
var realm struct {
	once   sync.Once
	kdc    *hdfs.KDC
	err    error
	dir    string
	keytab string
}

func kdc(t testing.TB) *hdfs.KDC {
	t.Helper()
	realm.once.Do(func() {
		ctx := context.Background()
		if realm.dir, realm.err = os.MkdirTemp("", "out_hdfs-keytabs-"); realm.err != nil {
			return
		}
		realm.keytab = filepath.Join(realm.dir, "agent.keytab")
		if realm.kdc, realm.err = hdfs.StartKDC(ctx, hdfs.KDCOptions{Life: life}); realm.err == nil {
			realm.err = errors.Join(realm.kdc.AddPrincipal(ctx, user), realm.kdc.Keytab(ctx, realm.keytab, user))
		}
	})
	must(t, realm.err)
	return realm.kdc
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plain.cluster != nil {
		if err := plain.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop HDFS:", err)
			code = 1
		}
	}
	if realm.kdc != nil {
		if err := errors.Join(realm.kdc.Close(), os.RemoveAll(realm.dir)); err != nil {
			fmt.Fprintln(os.Stderr, "stop the KDC:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// user is the principal that writes.
const user = hdfs.Impersonator

// cluster is one with these properties, for as long as the test.
func cluster(t testing.TB, properties map[string]string) *hdfs.Cluster {
	t.Helper()
	c, err := hdfs.Start(t.Context(), hdfs.Options{DataNodes: 1, KDC: kdc(t), Properties: properties})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c
}

// plain is a cluster for several tests, with no more protection than it must have.
var plain struct {
	once    sync.Once
	cluster *hdfs.Cluster
	err     error
}

func plainCluster(t testing.TB) *hdfs.Cluster {
	t.Helper()
	k := kdc(t)
	plain.once.Do(func() {
		plain.cluster, plain.err = hdfs.Start(context.Background(), hdfs.Options{DataNodes: 1, KDC: k, Properties: map[string]string{
			"hadoop.rpc.protection": "authentication", "dfs.data.transfer.protection": "authentication",
		}})
	})
	must(t, plain.err)
	return plain.cluster
}

var directories atomic.Int64

// directory is a new one of a user's.
func directory(t testing.TB, c *hdfs.Cluster, user string) string {
	t.Helper()
	p := fmt.Sprintf("/kerberos/%d", directories.Add(1))
	must(t, c.MkdirAs(t.Context(), user, p))
	return p
}

// options are those of a sink that writes to dir.
func options(t testing.TB, c *hdfs.Cluster, dir string) map[string]string {
	return map[string]string{
		"path": c.URI() + dir, "hadoop_conf_dir": c.ConfDir(),
		"kerberos_principal": user + "@" + hdfs.Realm, "kerberos_keytab": realm.keytab, "kerberos_config": kdc(t).Config(),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
