package instance

import (
	"fmt"
	"os/user"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
)

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
	hadoop hadoop.Conf
	dir    string // "" if there is none
	err    error  // why it can't be read, which matters to an instance on HDFS only
}

// findCluster reads the configuration that the instance names, or that Hadoop's
// own rules find.
func findCluster(lookup conf.Lookup, system hadoop.System) (c cluster) {
	c.system = system
	given := lookup(conf.KeyHadoopConfDir)
	if c.dir, c.err = hadoop.Locate(given, system); c.err != nil {
		return c
	}
	c.hadoop, c.err = hadoop.Load(c.dir, system)
	return c
}

// defaultFS is fs.defaultFS, "" if there is none or no configuration.
func (c cluster) defaultFS() (string, error) {
	if c.err != nil || c.dir == "" {
		return "", c.err
	}
	return c.hadoop.DefaultFS()
}

// settings are the properties as the driver takes them.
func (c cluster) settings() (map[string]string, error) {
	if c.err != nil {
		return nil, c.err
	}
	return c.hadoop.Properties(), nil
}

// name makes the target name its NameNodes, so that a part that is rolled for
// it goes there whatever the default is by then. It fails on a configuration
// with which the target can never be opened.
func (c cluster) name(s *conf.Settings) error {
	if s.Target.Location.Scheme != schemeHDFS {
		return nil
	}
	if c.err != nil {
		return c.err
	}
	service, err := c.hadoop.Service(s.Target.Location.Authority)
	if err != nil {
		return fmt.Errorf("%s: %w", conf.KeyPath, err)
	}
	if s.Target.Location.Authority == "" {
		s.Target.Location.Authority = service.Name
	}
	o := fs.Options{User: s.HDFS.User, Settings: c.hadoop.Properties()}
	if err := (hdfsfs.Opener{System: c.system}).Check(s.Target.Location.Authority, o); err != nil {
		return fmt.Errorf("%s %s: %w", conf.KeyPath, s.Target.Location, err)
	}
	return nil
}

const schemeHDFS = "hdfs"
