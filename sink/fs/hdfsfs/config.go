package hdfsfs

import (
	"errors"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
)

// What Hadoop's clients wait if their configuration doesn't say. For an RPC
// theirs is 2 minutes; here nobody is served by waiting so long, since an
// upload is repeated.
const (
	defaultConnectTimeout = 20 * time.Second
	defaultCallTimeout    = 60 * time.Second
	defaultDataTimeout    = 60 * time.Second
	// pipelineExtra is added per replica, as in Hadoop's: each waits for the
	// next one.
	pipelineExtra = 5 * time.Second
)

// config is what a Driver is opened with.
type config struct {
	name        string   // the nameservice, or host:port
	addresses   []string // of its NameNodes
	user        string
	useHostname bool // DataNodes are reached by name
	replication int  // 0: the server's
	blockSize   int64
	umask       uint32

	connectTimeout time.Duration // per dial
	callTimeout    time.Duration // from a request to the end of its answer
	dataTimeout    time.Duration // per read or write on a DataNode's connection

	security hadoop.Security
	kerberos *kerberosConfig // nil without Kerberos
}

// readConfig reads and checks everything at once.
func readConfig(authority string, o fs.Options, system hadoop.System) (config, error) {
	h := hadoop.New(o.Settings, system)
	var errs []error
	service, err := h.Service(authority)
	errs = append(errs, err)
	c := config{name: service.Name, addresses: service.Addresses}
	c.useHostname, err = h.Bool("dfs.client.use.datanode.hostname", false)
	errs = append(errs, err)
	c.replication, err = h.Int("dfs.replication", 0)
	errs = append(errs, err)
	c.blockSize, err = h.Size("dfs.blocksize", 0)
	errs = append(errs, err)
	c.umask, err = h.Umask()
	errs = append(errs, err)
	for _, t := range []struct {
		to    *time.Duration
		name  string
		unset time.Duration
	}{
		{&c.connectTimeout, "ipc.client.connect.timeout", defaultConnectTimeout},
		{&c.callTimeout, "ipc.client.rpc-timeout.ms", defaultCallTimeout},
		{&c.dataTimeout, "dfs.client.socket-timeout", defaultDataTimeout},
	} {
		*t.to, err = h.Millis(t.name, t.unset)
		errs = append(errs, err)
		if *t.to == 0 { // Hadoop's "for ever", which is what nobody wants here
			*t.to = t.unset
		}
	}
	replicas := c.replication
	if replicas == 0 {
		replicas = 3
	}
	c.dataTimeout += time.Duration(replicas) * pipelineExtra
	c.security, err = h.Security()
	errs = append(errs, err)
	if c.security.Kerberos || o.Settings[SettingPrincipal] != "" {
		c.kerberos, err = readKerberos(o, c.security, system, c.addresses)
		errs = append(errs, err)
		c.user = o.User
		if c.kerberos != nil && c.user == "" {
			c.user = c.kerberos.shortName()
		}
		return c, errors.Join(errs...)
	}
	if c.user = userName(o.User, system); c.user == "" {
		errs = append(errs, errors.New("the user has no name: set hdfs_user or HADOOP_USER_NAME"))
	}
	return c, errors.Join(errs...)
}

// userName is who the client says it is: what the option says, or what Hadoop's
// own clients would take.
func userName(option string, system hadoop.System) string {
	if option != "" {
		return option
	}
	if system.Getenv != nil {
		if name := system.Getenv("HADOOP_USER_NAME"); name != "" {
			return name
		}
	}
	return system.User
}
