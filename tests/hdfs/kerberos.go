package hdfs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A cluster with Kerberos takes no call from somebody who only says who he is. So
// its readiness is read from the web pages, and what an administrator does is
// done by Hadoop's own commands.

// security are the properties of a cluster with Kerberos: those of the servers
// alone, and those of all.
func (k *KDC) security() (servers, all properties) {
	servers = properties{
		"dfs.namenode.keytab.file":                        k.daemons(),
		"dfs.datanode.keytab.file":                        k.daemons(),
		"dfs.datanode.kerberos.principal":                 dataPrincipal + "@" + Realm,
		"dfs.web.authentication.kerberos.principal":       webPrincipal + "@" + Realm,
		"dfs.web.authentication.kerberos.keytab":          k.daemons(),
		"dfs.block.access.token.enable":                   "true",
		"ignore.secure.ports.for.testing":                 "true",
		"hadoop.security.authorization":                   "false",
		"hadoop.proxyuser." + Impersonator + ".hosts":     "*",
		"hadoop.proxyuser." + Impersonator + ".users":     Impersonated,
		"dfs.namenode.kerberos.internal.spnego.principal": webPrincipal + "@" + Realm,
	}
	all = properties{
		"hadoop.security.authentication":  "kerberos",
		"dfs.namenode.kerberos.principal": "nn/_HOST@" + Realm,
	}
	return servers, all
}

// Impersonator may act for Impersonated, and nobody for anybody else.
const (
	Impersonator = "agent"
	Impersonated = "carol"
)

// beans asks a NameNode's web page for a bean of its.
func beans(ctx context.Context, addr, name string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/jmx?qry=Hadoop:service=NameNode,name="+name, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct{ Beans []json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Beans) != 1 {
		return fmt.Errorf("%s has %d beans", name, len(answer.Beans))
	}
	return json.Unmarshal(answer.Beans[0], into)
}

// secureWritable is writable, of a cluster with Kerberos.
func (c *Cluster) secureWritable(ctx context.Context) (bool, error) {
	var info struct{ Safemode string }
	err := beans(ctx, c.httpAddr, "NameNodeInfo", &info)
	return err == nil && info.Safemode == "", err
}

// secureLive says whether all DataNodes are live, and have room.
func (c *Cluster) secureLive(ctx context.Context) (bool, error) {
	var state struct {
		NumLiveDataNodes int
		CapacityTotal    int64
	}
	err := beans(ctx, c.httpAddr, "FSNamesystemState", &state)
	return err == nil && state.NumLiveDataNodes == len(c.dataNode) && state.CapacityTotal > 0, err
}

// login logs the superuser in for Hadoop's commands.
func (c *Cluster) login(ctx context.Context) error {
	return c.kdc.Kinit(ctx, c.kdc.daemons(), namePrincipal, c.layout.path("superuser.cache"))
}

// secureMkdirAs is MkdirAs.
func (c *Cluster) secureMkdirAs(ctx context.Context, user, path string) error {
	_, err := c.FsShell(ctx, "-mkdir", "-p", path)
	if err == nil {
		_, err = c.FsShell(ctx, "-chown", user, path)
	}
	return err
}

// secureOpenFiles is ListOpenFiles.
func (c *Cluster) secureOpenFiles(ctx context.Context, path string) ([]string, error) {
	out, err := c.DFSAdmin(ctx, "-listOpenFiles", "-path", path)
	var files []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if n := len(fields); n > 0 && strings.HasPrefix(fields[n-1], "/") {
			files = append(files, fields[n-1])
		}
	}
	return files, err
}
