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
	_, err = c.describe(s)
	return err
}

// describe says what an HDFS target comes to.
func (c cluster) describe(s *conf.Settings) (hdfsfs.Description, error) {
	o, err := c.options(s)
	if err != nil {
		return hdfsfs.Description{}, err
	}
	d, err := hdfsfs.Opener{System: c.system}.Describe(s.Target.Location.Authority, o)
	if err != nil {
		return hdfsfs.Description{}, fmt.Errorf("%s %s: %w", conf.KeyPath, s.Target.Location, err)
	}
	return d, nil
}

// options are what the driver for HDFS is opened with.
func (c cluster) options(s *conf.Settings) (fs.Options, error) {
	if c.err != nil {
		return fs.Options{}, c.err
	}
	settings := c.hadoop.Properties()
	for name, value := range map[string]string{
		hdfsfs.SettingPrincipal: s.HDFS.Principal, hdfsfs.SettingKeytab: s.HDFS.Keytab, hdfsfs.SettingKrb5Config: s.HDFS.Krb5Config,
	} {
		if value != "" {
			settings[name] = value
		}
	}
	return fs.Options{User: s.HDFS.User, Settings: settings, Limits: s.Limits[schemeHDFS]}, nil
}

const schemeHDFS = "hdfs"
