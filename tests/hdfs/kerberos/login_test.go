package kerberos

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/load"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// confDir is a cluster's client configuration with other properties over it.
func confDir(t testing.TB, c *hdfs.Cluster, over map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, `<configuration><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href=%q/>`, c.ConfDir()+"/hdfs-site.xml")
	for name, value := range over {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>", name, value)
	}
	b.WriteString("</configuration>")
	must(t, os.WriteFile(filepath.Join(dir, "hdfs-site.xml"), []byte(b.String()), 0o600))
	return dir
}

// says checks that an operator reads all of the words.
func says(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("the error doesn't say %q: %v", w, err)
		}
	}
}

// TestMistakesAreToldInPlainWords, each with what to do.
func TestMistakesAreToldInPlainWords(t *testing.T) {
	c, k, ctx := plainCluster(t), kdc(t), t.Context()
	dir := directory(t, c, user)
	old := filepath.Join(t.TempDir(), "old.keytab")
	must(t, k.AddPrincipal(ctx, "renewed"))
	must(t, k.Keytab(ctx, old, "renewed"))
	must(t, k.Keytab(ctx, filepath.Join(t.TempDir(), "new.keytab"), "renewed"))
	wrongPort := strings.Replace(read(t, k.Config()), "kdc = 127.0.0.1:", "kdc = 127.0.0.1:1 #", 1)
	noKDC := filepath.Join(t.TempDir(), "krb5.conf")
	must(t, os.WriteFile(noKDC, []byte(wrongPort), 0o600))
	none := filepath.Join(t.TempDir(), "none")
	for _, row := range []struct {
		name string
		over map[string]string // options
		conf map[string]string // Hadoop's properties
		env  map[string]string
		says []string
	}{
		{"a principal that the KDC doesn't know", map[string]string{"kerberos_principal": "nobody"}, nil, nil, []string{"the KDC doesn't know nobody", "kerberos_principal"}},
		{"a keytab without the principal", map[string]string{"kerberos_principal": "renewed"}, nil, nil, []string{"has no key of renewed", user + "@" + hdfs.Realm}},
		{"a keytab with an old key", map[string]string{"kerberos_principal": "renewed", "kerberos_keytab": old}, nil, nil, []string{"get a new keytab"}},
		{"no keytab there", map[string]string{"kerberos_keytab": none}, nil, nil, []string{"kerberos_keytab", none}},
		{"no krb5.conf there", map[string]string{"kerberos_config": none}, nil, nil, []string{"kerberos_config", none}},
		{"a KDC that is away", map[string]string{"kerberos_config": noKDC}, nil, nil, []string{"the KDC can't be reached", "krb5.conf"}},
		{"a NameNode that the KDC doesn't know", nil, map[string]string{"dfs.namenode.kerberos.principal": "namenode/_HOST@" + hdfs.Realm}, nil,
			[]string{"the KDC doesn't know the NameNode's principal namenode/localhost", "dfs.namenode.kerberos.principal"}},
		{"another's principal for the NameNode", nil, map[string]string{"dfs.namenode.kerberos.principal": "dn/_HOST@" + hdfs.Realm}, nil,
			[]string{"the NameNode refuses the ticket", "dfs.namenode.kerberos.principal"}},
		{"no principal for the NameNode", nil, map[string]string{"dfs.namenode.kerberos.principal": ""}, nil, []string{"dfs.namenode.kerberos.principal"}},
		{"no ticket cache", map[string]string{"kerberos_principal": user, "kerberos_keytab": ""}, nil, map[string]string{"KRB5CCNAME": none}, []string{"kinit", none}},
		{"a ticket cache that is no file", map[string]string{"kerberos_keytab": ""}, nil, map[string]string{"KRB5CCNAME": "KEYRING:persistent:0"}, []string{"KEYRING", "kinit -c FILE:"}},
		{"no Kerberos here", map[string]string{"kerberos_principal": "", "kerberos_keytab": "", "hdfs_user": user}, map[string]string{"hadoop.security.authentication": "simple"}, nil,
			[]string{"want Kerberos", "hadoop.security.authentication"}},
		{"somebody who may not be impersonated", map[string]string{"hdfs_user": "dave"}, nil, nil, []string{"dave", "hadoop.proxyuser"}},
		{"a directory of somebody else", map[string]string{"path": c.URI() + "/"}, nil, nil, []string{"user " + user, "chown"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			set := options(t, c, dir)
			maps.Copy(set, row.over)
			set["hadoop_conf_dir"] = confDir(t, c, row.conf)
			for name, value := range row.env {
				t.Setenv(name, value)
			}
			_, err := load.Check(t, set)
			says(t, err, row.says...)
			t.Log(err)
		})
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	return string(b)
}

// TestFilesAreOfWhomThePrincipalImpersonates.
func TestFilesAreOfWhomThePrincipalImpersonates(t *testing.T) {
	c := plainCluster(t)
	dir := directory(t, c, hdfs.Impersonated)
	set := options(t, c, dir)
	set["hdfs_user"] = hdfs.Impersonated
	arrives(t, c, set, dir)
	listing, err := c.FsShell(t.Context(), "-ls", dir)
	must(t, err)
	for line := range strings.Lines(listing) {
		if strings.Contains(line, dir+"/") && !strings.Contains(line, " "+hdfs.Impersonated+" ") {
			t.Errorf("of another: %s", line)
		}
	}
}

// TestATicketCacheIsEnough, and one that kinit has renewed is taken up.
func TestATicketCacheIsEnough(t *testing.T) {
	c, k, ctx := plainCluster(t), kdc(t), t.Context()
	dir := directory(t, c, user)
	cache := filepath.Join(t.TempDir(), "cache")
	must(t, k.Kinit(ctx, realm.keytab, user, cache))
	set := options(t, c, dir)
	delete(set, "kerberos_principal")
	delete(set, "kerberos_keytab")
	front, uri := frontOf(t, c)
	set["path"] = uri + dir
	t.Setenv("KRB5CCNAME", "FILE:"+cache)
	a := load.Start(t, set)
	a.Send(t)
	a.Settle(t)
	time.Sleep(life) // the first ticket is over
	must(t, k.Kinit(ctx, realm.keytab, user, cache))
	front.CutAll()
	a.Send(t)
	a.Settle(t)
	a.ExactlyOnce(t, c, dir)
}

// frontOf is a proxy in front of a NameNode, and the URI by which it is reached.
func frontOf(t testing.TB, c *hdfs.Cluster) (front *proxy.Proxy, uri string) {
	t.Helper()
	front, err := proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, front.Close()) })
	return front, "hdfs://" + strings.Replace(front.Addr(), "127.0.0.1", "localhost", 1)
}

// TestExactlyOnceOverTicketsThatExpire: under load, with connections that are made
// anew all the time, tickets expire, the KDC is away and hangs for longer than a
// ticket lasts, and the principal gets another key.
func TestExactlyOnceOverTicketsThatExpire(t *testing.T) {
	c, k, ctx := plainCluster(t), kdc(t), t.Context()
	own := filepath.Join(t.TempDir(), "own.keytab")
	must(t, k.AddPrincipal(ctx, "expiring"))
	must(t, k.Keytab(ctx, own, "expiring"))
	dir := directory(t, c, "expiring")
	front, uri := frontOf(t, c)
	set := options(t, c, dir)
	set["path"], set["kerberos_principal"], set["kerberos_keytab"], set["state_dir"] = uri+dir, "expiring", own, t.TempDir()
	a := load.Start(t, set)
	cutting := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
			front.CutAll()
		}
	}
	// told goes on until the sink says a text, for much longer than a ticket lasts.
	told := func(text string) {
		for end := time.Now().Add(4 * life); time.Now().Before(end); {
			if len(a.Log.Of(text)) > 0 || strings.Contains(fmt.Sprint(a.Status(ctx).Troubles), text) {
				return
			}
			cutting(time.Second)
		}
		t.Errorf("it isn't told that %s: %v\n%s", text, a.Status(ctx).Troubles, a.Log.Tail())
	}
	a.SendWhile(t, 200*time.Millisecond, func() error {
		cutting(life + 2*time.Second) // over a renewal
		must(t, k.Kill())
		told("the KDC can't be reached") // once the ticket has expired
		must(t, k.Start(ctx))
		cutting(3 * time.Second)
		next := own + ".new"
		must(t, k.Keytab(ctx, next, "expiring"))
		must(t, k.Stop())
		cutting(8 * time.Second)
		must(t, k.Continue())
		told("get a new keytab") // once the ticket has expired
		must(t, os.Rename(next, own))
		return nil
	})
	a.Settle(t)
	a.ExactlyOnce(t, c, dir)
	t.Logf("%d records", a.Records())
	noSecrets(t, a, set["state_dir"], own)
}

// noSecrets looks for the keys of a keytab, as bytes, hex and base64, in the log,
// the status and the state directory.
func noSecrets(t *testing.T, a *load.Agent, stateDir, file string) {
	t.Helper()
	k, err := keytab.Load(file)
	must(t, err)
	var secrets [][]byte
	for _, e := range k.Entries {
		secrets = append(secrets, e.Key.KeyValue, []byte(hex.EncodeToString(e.Key.KeyValue)), []byte(base64.StdEncoding.EncodeToString(e.Key.KeyValue)))
	}
	status, err := json.Marshal(a.Status(t.Context()))
	must(t, err)
	places := map[string][]byte{"the log": []byte(strings.Join(a.Log.Of(""), "")), "the status": status}
	must(t, filepath.WalkDir(stateDir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			places[p], err = os.ReadFile(p)
		}
		return err
	}))
	for place, content := range places {
		if slices.ContainsFunc(secrets, func(s []byte) bool { return bytes.Contains(content, s) }) {
			t.Errorf("%s has a key of the keytab", place)
		}
	}
	if len(secrets) == 0 || len(places) < 4 {
		t.Errorf("%d secrets, %d places", len(secrets), len(places))
	}
}
