package conf

import (
	"fmt"
	"os/user"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
)

// hdfsOptions are what concerns HDFS alone.
func hdfsOptions() []Option {
	return inGroup("HDFS",
		Option{Key: KeyHadoopConfDir, Kind: Path, DefaultText: "`$HADOOP_CONF_DIR`, `$HADOOP_HOME/etc/hadoop`, `/etc/hadoop/conf`",
			Help:    "Where `core-site.xml` and `hdfs-site.xml` are.",
			Example: "/etc/hadoop/conf"}.text(func(s *Settings) *string { return &s.HadoopConfDir }, absolute),
		Option{Key: KeyHDFSUser, Kind: Text, DefaultText: "`$HADOOP_USER_NAME`, else the process's user",
			Help: "Who writes, on a cluster without Kerberos.", Example: "logs"}.
			text(func(s *Settings) *string { return &s.HDFSUser }, plain),
		Option{Key: KeyReplication, Default: "0", DefaultText: "`dfs.replication`, else the cluster's",
			Help: "Replicas of a file. 0 is the default."}.number(func(s *Settings) *int { return &s.Replication }, 0, 512),
		Option{Key: KeyBlockSize, Default: "0", DefaultText: "`dfs.blocksize`, else the cluster's",
			Help: "Size of a file's blocks. 0 is the default.", Example: "256MiB"}.
			size(func(s *Settings) *int64 { return &s.BlockSize }, 0),
	)
}

// hadoopSystem is the process around Hadoop's configuration.
func hadoopSystem(getenv func(string) string) hadoop.System {
	s := hadoop.System{Getenv: getenv}
	if u, err := user.Current(); err == nil {
		s.User, s.Home = u.Username, u.HomeDir
	}
	return s
}

// cluster is Hadoop's configuration as an instance sees it.
type cluster struct {
	system hadoop.System
	conf   hadoop.Conf
	dir    string // "" if there is none
	err    error  // why it can't be read, which matters to an instance on HDFS only
}

// findCluster reads the configuration that the instance names, or that Hadoop's
// own rules find.
func findCluster(lookup Lookup, system hadoop.System) (c cluster) {
	c.system = system
	given := lookup(KeyHadoopConfDir)
	if c.dir, c.err = hadoop.Locate(given, system); c.err != nil {
		return c
	}
	c.conf, c.err = hadoop.Load(c.dir, system)
	return c
}

// defaultFS is fs.defaultFS, "" if there is none or no configuration.
func (c cluster) defaultFS() (string, error) {
	if c.err != nil || c.dir == "" {
		return "", c.err
	}
	return c.conf.DefaultFS()
}

// settings are the properties as the driver takes them.
func (c cluster) settings() (map[string]string, error) {
	if c.err != nil {
		return nil, c.err
	}
	return c.conf.Properties(), nil
}

// name makes the target name its NameNodes, so that a part that is rolled for
// it goes there whatever the default is by then. It fails on a configuration
// with which the target can never be opened.
func (c cluster) name(s *Settings) error {
	if s.Target.Scheme != schemeHDFS {
		return nil
	}
	if c.err != nil {
		return c.err
	}
	service, err := c.conf.Service(s.Target.Authority)
	if err != nil {
		return fmt.Errorf("%s: %w", KeyPath, err)
	}
	if s.Target.Authority == "" {
		s.Target.Authority = service.Name
	}
	o := fs.Options{User: s.HDFSUser, Settings: c.conf.Properties()}
	if err := (hdfsfs.Opener{System: c.system}).Check(s.Target.Authority, o); err != nil {
		return fmt.Errorf("%s %s: %w", KeyPath, s.Target, err)
	}
	return nil
}

const schemeHDFS = "hdfs"
