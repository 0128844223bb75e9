// Package hdfs starts a real HDFS for tests: a NameNode and DataNodes from
// Hadoop's own jars, each a JVM of its own on loopback ports, with everything
// they write in a temporary directory.
//
//	var shared = hdfs.Shared{Options: hdfs.Options{DataNodes: 2}}
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestPut(t *testing.T) { c := shared.Cluster(t); … c.URI() … }
//
// It needs a JDK (17 or later) and, the first time on a machine, Maven, which
// brings the jars into build/hadoop of this repository. No JVM outlives the
// process that started it, however that ends. The cluster's superuser is
// [Superuser]; authentication is simple, so anybody is who he says, unless it is
// started with a [KDC], which needs MIT's krb5kdc and kadmin.local. With
// Options.HA two NameNodes share a JournalNode.
//
// Tests reach daemons by [Cluster.NameNode] and [Cluster.DataNode], to kill,
// stop, continue and restart them. What an administrator would do is done over
// Hadoop's RPC, in milliseconds; [Cluster.FsShell] and [Cluster.DFSAdmin] run
// Hadoop's own commands, for a second each.
package hdfs
