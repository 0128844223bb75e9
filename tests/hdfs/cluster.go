package hdfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"time"
)

// Options of a cluster. The zero value is two DataNodes.
type Options struct {
	DataNodes int // 0 means 2
	// Properties are added to the servers' and the clients' hdfs-site.xml.
	Properties map[string]string
	// Encryption lets directories be made encryption zones, under Key.
	Encryption bool
}

// DataNodeHost is the host name that DataNodes advertise beside their real
// address, 127.0.0.1. Nothing listens there by itself: a client that is told
// to use host names (dfs.client.use.datanode.hostname) reaches whatever a test
// puts there, on the DataNode's port.
const DataNodeHost = "127.0.1.1"

// Cluster is a running HDFS.
type Cluster struct {
	layout   layout
	spawner  *spawner
	ports    *reservation
	httpAddr string // the NameNode's
	nameNode *Daemon
	dataNode []*Daemon
}

// startTimeout bounds a start on a busy machine, without the download.
const startTimeout = 2 * time.Minute

// Start starts a cluster and waits until it takes writes. The caller stops it.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	in, err := install(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "out_hdfs-cluster-")
	if err != nil {
		return nil, fmt.Errorf("make a cluster's directory: %w", err)
	}
	c := &Cluster{layout: layout{installation: in, dir: dir}, spawner: newSpawner()}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start HDFS: %w", err), c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	if o.DataNodes == 0 {
		o.DataNodes = 2
	}
	var err error
	if c.ports, err = reserve(2 + 3*o.DataNodes); err != nil {
		return err
	}
	local := c.ports.address
	c.httpAddr = local(1)
	if err := c.configure(o, local(0), c.httpAddr); err != nil {
		return err
	}
	if o.Encryption {
		if err := copyTree(c.layout.path("keys"), c.layout.keys); err != nil {
			return err
		}
	}
	if err := copyTree(c.layout.path("namenode"), c.layout.name); err != nil {
		return err
	}
	c.nameNode = &Daemon{cluster: c, name: "namenode", class: classNameNode, addr: local(0)}
	c.nameNode.live = c.writable
	for i := range o.DataNodes {
		c.dataNode = append(c.dataNode, c.newDataNode(i, local(2+3*i), local(3+3*i), local(4+3*i)))
	}
	for _, d := range append([]*Daemon{c.nameNode}, c.dataNode...) {
		if err := d.start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, d := range append([]*Daemon{c.nameNode}, c.dataNode...) {
		if err := d.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) newDataNode(i int, data, ipc, http string) *Daemon {
	name := fmt.Sprint("datanode", i)
	d := &Daemon{cluster: c, name: name, class: classDataNode, addr: data, args: []string{
		"-D", "dfs.datanode.address=" + data, "-D", "dfs.datanode.ipc.address=" + ipc, "-D", "dfs.datanode.http.address=" + http,
		"-D", "dfs.datanode.data.dir=file://" + c.layout.path(name),
	}}
	d.live = func(ctx context.Context) (bool, error) { return c.isLive(ctx, data) }
	return d
}

// configure writes the servers' and the clients' configuration.
func (c *Cluster) configure(o Options, rpc, http string) error {
	core := properties{
		"fs.defaultFS":                      "hdfs://" + rpc,
		"hadoop.tmp.dir":                    c.layout.path("tmp"),
		"ipc.client.connect.max.retries":    "300", // a DataNode comes up before its NameNode
		"ipc.client.connect.retry.interval": "100",
		// Nobody has groups. The other mappings ask the machine's own users.
		"hadoop.security.group.mapping": "org.apache.hadoop.security.NullGroupsMapping",
	}
	if o.Encryption {
		core["hadoop.security.key.provider.path"] = keyStore(c.layout.path("keys"))
	}
	site := properties{
		"dfs.replication":                                           strconv.Itoa(min(o.DataNodes, 3)),
		"dfs.namenode.name.dir":                                     "file://" + c.layout.path("namenode"),
		"dfs.namenode.http-address":                                 http,
		"dfs.namenode.safemode.extension":                           "0",
		"dfs.namenode.fs-limits.min-block-size":                     "4096",
		"dfs.namenode.heartbeat.recheck-interval":                   "2000", // a dead DataNode is noticed in 4 s, a slow one isn't taken for dead
		"dfs.heartbeat.interval":                                    "500ms",
		"dfs.datanode.hostname":                                     DataNodeHost,
		"dfs.datanode.directoryscan.interval":                       "-1",
		"dfs.datanode.scan.period.hours":                            "-1",
		"fs.getspaceused.classname":                                 "org.apache.hadoop.fs.DFCachingGetSpaceUsed",
		"dfs.namenode.redundancy.interval.seconds":                  "1s",
		"dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
	}
	maps.Copy(site, o.Properties)
	if err := c.layout.write(core, site); err != nil {
		return fmt.Errorf("write the servers' configuration: %w", err)
	}
	client := properties{"dfs.replication": site["dfs.replication"]}
	maps.Copy(client, o.Properties)
	if err := os.MkdirAll(c.ConfDir(), 0o755); err != nil {
		return fmt.Errorf("write the clients' configuration: %w", err)
	}
	return errors.Join(
		writeSite(c.ConfDir()+"/core-site.xml", properties{"fs.defaultFS": "hdfs://" + rpc}),
		writeSite(c.ConfDir()+"/hdfs-site.xml", client))
}

// Stop ends all daemons and removes what they wrote.
func (c *Cluster) Stop() error {
	var errs []error
	for _, d := range append([]*Daemon{c.nameNode}, c.dataNode...) {
		if d != nil && d.p != nil {
			errs = append(errs, d.Kill())
		}
	}
	c.spawner.close()
	if c.ports != nil {
		errs = append(errs, c.ports.release())
	}
	return errors.Join(append(errs, os.RemoveAll(c.layout.dir))...)
}

// URI is what clients call the file system, such as "hdfs://127.0.0.1:8020".
func (c *Cluster) URI() string { return "hdfs://" + c.Authority() }

// Authority is the URI's, host:port.
func (c *Cluster) Authority() string { return c.nameNode.addr }

// HTTPAddr is where the NameNode's web pages are.
func (c *Cluster) HTTPAddr() string { return c.httpAddr }

// ConfDir holds a client's core-site.xml and hdfs-site.xml.
func (c *Cluster) ConfDir() string { return c.layout.path("client") }

// NameNode is the active one.
func (c *Cluster) NameNode() *Daemon { return c.nameNode }

// DataNode is the i-th, from 0.
func (c *Cluster) DataNode(i int) *Daemon { return c.dataNode[i] }

// DataNodes are all of them.
func (c *Cluster) DataNodes() []*Daemon { return c.dataNode }
