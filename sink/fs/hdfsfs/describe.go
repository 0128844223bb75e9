package hdfsfs

import (
	"errors"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Description is what a configuration comes to.
type Description struct {
	Name      string    // the nameservice, or host:port
	NameNodes []string  // host:port, in the order of the configuration
	User      string    // who the cluster takes the files to be of
	Kerberos  *Kerberos // nil without it
}

// Kerberos is how a driver logs in.
type Kerberos struct {
	Principal string // "" if there is no ticket cache to tell
	From      string // the keytab or the ticket cache
	Config    string // krb5.conf
	NameNode  string // the NameNode's principal
	RPC       string // the weakest protection of calls
	Data      string // the weakest protection of data that is asked for; "" is the server's
}

// Describe reads the configuration as Open does, without the network. What is
// wrong with it no further try can mend.
func (o Opener) Describe(authority string, with fs.Options) (Description, error) {
	c, err := readConfig(authority, with, o.System)
	if err := errors.Join(checkInternals(), err); err != nil {
		return Description{}, err
	}
	d := Description{Name: c.name, NameNodes: c.addresses, User: c.user}
	if k := c.kerberos; k != nil {
		d.Kerberos = &Kerberos{k.String(), k.file(), k.krb5, k.service, c.security.RPCProtection, c.security.Protection}
	}
	return d, nil
}
