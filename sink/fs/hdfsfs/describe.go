package hdfsfs

import (
	"errors"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Description is what a configuration comes to.
type Description struct {
	Name      string   // the nameservice, or host:port
	NameNodes []string // host:port, in the order of the configuration
	User      string   // who the cluster takes the files to be of
}

// Describe reads the configuration as Open does, without the network. What is
// wrong with it no further try can mend.
func (o Opener) Describe(authority string, with fs.Options) (Description, error) {
	c, err := readConfig(authority, with, o.System)
	if err := errors.Join(checkInternals(), err); err != nil {
		return Description{}, err
	}
	return Description{Name: c.name, NameNodes: c.addresses, User: c.user}, nil
}
