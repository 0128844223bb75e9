package hdfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options of a cluster. The zero value is two DataNodes.
type Options struct {
	DataNodes int // 0 means 2
	// Properties are added to the servers' and the clients' hdfs-site.xml.
	Properties map[string]string
	// HA makes it two NameNodes with a JournalNode, of the nameservice
	// [Nameservice]. The first is active.
	HA bool
	// KDC makes it a cluster with Kerberos, whose superuser is the NameNode's
	// principal. It must not have HA. The caller closes the KDC after the cluster.
	KDC *KDC
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
	httpAddr string // the first NameNode's
	ha       bool
	kdc      *KDC    // nil without Kerberos
	journal  *Daemon // nil without HA
	// nameNodes are one, or two with HA.
	nameNodes []*Daemon
	dataNode  []*Daemon
}

// Nameservice is what clients call an HDFS with HA.
const Nameservice = "ha"

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
	c.ha, c.kdc = o.HA, o.KDC
	var err error
	if c.ports, err = reserve(6 + 3*o.DataNodes); err != nil {
		return err
	}
	local := c.ports.address
	c.httpAddr = local(1)
	if o.Encryption {
		if err := copyTree(c.layout.path("keys"), c.layout.keys); err != nil {
			return err
		}
	}
	if err := c.nameNodesOf(o); err != nil {
		return err
	}
	for i := range o.DataNodes {
		c.dataNode = append(c.dataNode, c.newDataNode(i, local(6+3*i), local(7+3*i), local(8+3*i)))
	}
	for _, d := range c.daemons() {
		if err := d.start(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if c.ha {
		if err := c.firstActive(ctx); err != nil {
			return err
		}
	}
	for _, d := range append(c.nameNodes[:1:1], c.dataNode...) {
		if err := d.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nameNodesOf makes the NameNodes with their namespace, and what they need, and
// writes the configuration.
func (c *Cluster) nameNodesOf(o Options) error {
	local := c.ports.address
	if !o.HA {
		if err := copyTree(c.layout.path("namenode"), c.layout.name); err != nil {
			return err
		}
		servers, all := properties{}, properties{}
		authority := local(0)
		if c.kdc != nil {
			// Principals are made of hosts' names, and never of addresses.
			authority = strings.Replace(authority, "127.0.0.1", "localhost", 1)
			servers, all = c.kdc.security()
		}
		servers["dfs.namenode.name.dir"] = "file://" + c.layout.path("namenode")
		servers["dfs.namenode.http-address"] = local(1)
		c.addNameNode("namenode", authority)
		return c.configure(o, authority, servers, all)
	}
	return c.highlyAvailable(o)
}

func (c *Cluster) addNameNode(name, addr string, args ...string) {
	d := &Daemon{cluster: c, name: name, class: classNameNode, addr: addr, args: args}
	d.live = func(ctx context.Context) (bool, error) {
		if c.kdc != nil {
			return c.secureWritable(ctx)
		}
		return c.writable(ctx, addr)
	}
	c.nameNodes = append(c.nameNodes, d)
}

// daemons are all of them, in the order in which they start.
func (c *Cluster) daemons() (all []*Daemon) {
	if c.journal != nil {
		all = append(all, c.journal)
	}
	return append(append(all, c.nameNodes...), c.dataNode...)
}

func (c *Cluster) newDataNode(i int, data, ipc, http string) *Daemon {
	name := fmt.Sprint("datanode", i)
	d := &Daemon{cluster: c, name: name, class: classDataNode, addr: data, args: []string{
		"-D", "dfs.datanode.address=" + data, "-D", "dfs.datanode.ipc.address=" + ipc, "-D", "dfs.datanode.http.address=" + http,
		"-D", "dfs.datanode.data.dir=file://" + c.layout.path(name),
	}}
	d.live = func(ctx context.Context) (bool, error) {
		if c.kdc != nil {
			return c.secureLive(ctx)
		}
		return c.isLive(ctx, data)
	}
	return d
}

// configure writes the servers' and the clients' configuration: with what the
// servers alone have, and with what all have.
func (c *Cluster) configure(o Options, authority string, servers, all properties) error {
	core := properties{
		"fs.defaultFS":                      "hdfs://" + authority,
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
	maps.Copy(core, all) // where some of it is looked for
	maps.Copy(core, o.Properties)
	maps.Copy(site, servers)
	maps.Copy(site, all)
	maps.Copy(site, o.Properties)
	if err := c.layout.write(core, site); err != nil {
		return fmt.Errorf("write the servers' configuration: %w", err)
	}
	client := properties{"dfs.replication": site["dfs.replication"]}
	maps.Copy(client, all)
	maps.Copy(client, o.Properties)
	if err := os.MkdirAll(c.ConfDir(), 0o755); err != nil {
		return fmt.Errorf("write the clients' configuration: %w", err)
	}
	return errors.Join(
		writeSite(c.ConfDir()+"/core-site.xml", properties{"fs.defaultFS": "hdfs://" + authority}),
		writeSite(c.ConfDir()+"/hdfs-site.xml", client))
}

// Stop ends all daemons and removes what they wrote.
func (c *Cluster) Stop() error {
	var errs []error
	for _, d := range c.daemons() {
		if d.p != nil {
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

// Authority is the URI's: host:port, or the nameservice with HA.
func (c *Cluster) Authority() string {
	if c.ha {
		return Nameservice
	}
	return c.nameNodes[0].addr
}

// HTTPAddr is where the first NameNode's web pages are.
func (c *Cluster) HTTPAddr() string { return c.httpAddr }

// ConfDir holds a client's core-site.xml and hdfs-site.xml.
func (c *Cluster) ConfDir() string { return c.layout.path("client") }

// NameNode is the only one, or the first with HA.
func (c *Cluster) NameNode() *Daemon { return c.nameNodes[0] }

// NameNodes are all of them.
func (c *Cluster) NameNodes() []*Daemon { return c.nameNodes }

// DataNode is the i-th, from 0.
func (c *Cluster) DataNode(i int) *Daemon { return c.dataNode[i] }

// DataNodes are all of them.
func (c *Cluster) DataNodes() []*Daemon { return c.dataNode }
