package hadoop

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// DefaultPort is the NameNode's RPC port if none is named.
const DefaultPort = "8020"

// Service is where a file system's NameNodes are.
type Service struct {
	// Name is the nameservice, or host:port if there is none.
	Name string
	// Addresses are host:port, in the order of the configuration. With more
	// than one, any of them may be the active one.
	Addresses []string
}

// DefaultFS returns fs.defaultFS, "" if it isn't set.
func (c Conf) DefaultFS() (string, error) { return c.Get("fs.defaultFS") }

// Service finds the NameNodes of an authority: a nameservice or host:port as
// in hdfs://authority/, or "" for that of fs.defaultFS or the only nameservice.
// NameNodes of other nameservices are never among them.
func (c Conf) Service(authority string) (Service, error) {
	if authority == "" {
		var err error
		if authority, err = c.defaultAuthority(); err != nil {
			return Service{}, err
		}
	}
	services, err := c.List("dfs.nameservices")
	if err != nil {
		return Service{}, err
	}
	if slices.Contains(services, authority) {
		return c.nameservice(authority)
	}
	if host, port, err := net.SplitHostPort(authority); err == nil && host != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return Service{}, fmt.Errorf("hdfs://%s: port %q is no number from 1 to 65535", authority, port)
		}
		return Service{Name: authority, Addresses: []string{authority}}, nil
	}
	if strings.ContainsAny(authority, ":/@ ") {
		return Service{}, fmt.Errorf("hdfs://%s: %q is neither a nameservice nor host:port", authority, authority)
	}
	// A host name without a port, as Hadoop reads it. With nameservices
	// configured it is more likely a wrong one of these, which the error of the
	// name look-up then wouldn't tell.
	if len(services) > 0 && !strings.Contains(authority, ".") {
		return Service{}, fmt.Errorf("hdfs://%s: dfs.nameservices names %s; use one of these, or host:port (%s)", authority, strings.Join(services, ", "), c.where())
	}
	return Service{Name: authority, Addresses: []string{net.JoinHostPort(authority, DefaultPort)}}, nil
}

func (c Conf) defaultAuthority() (string, error) {
	uri, err := c.DefaultFS()
	if err != nil {
		return "", err
	}
	scheme, rest, ok := strings.Cut(uri, "://")
	if ok && strings.EqualFold(scheme, "hdfs") {
		if authority, _, _ := strings.Cut(rest, "/"); authority != "" {
			return authority, nil
		}
	}
	services, err := c.List("dfs.nameservices")
	if err == nil && len(services) == 1 {
		return services[0], nil
	}
	if ok && !strings.EqualFold(scheme, "hdfs") {
		return "", errors.Join(err, fmt.Errorf("fs.defaultFS is %s, which is no HDFS: write hdfs://nameservice/… or hdfs://host:port/… (%s)", uri, c.where()))
	}
	if err == nil && len(services) > 1 {
		err = fmt.Errorf("dfs.nameservices names %s: write hdfs:// and one of these", strings.Join(services, ", "))
	}
	return "", errors.Join(err, fmt.Errorf("hdfs:/// names no NameNode and Hadoop's configuration none either: set hadoop_conf_dir, or write hdfs://nameservice/… or hdfs://host:port/… (%s)", c.where()))
}

// nameservice finds the NameNodes of one that dfs.nameservices names.
func (c Conf) nameservice(name string) (Service, error) {
	ids, err := c.List("dfs.ha.namenodes." + name)
	if err != nil {
		return Service{}, err
	}
	keys := []string{"dfs.namenode.rpc-address." + name}
	if len(ids) > 0 {
		keys = nil
		for _, id := range ids {
			keys = append(keys, "dfs.namenode.rpc-address."+name+"."+id)
		}
	}
	s := Service{Name: name}
	for _, key := range keys {
		address, err := c.Get(key)
		if err != nil {
			return Service{}, err
		}
		if address == "" {
			return Service{}, fmt.Errorf("nameservice %s: property %s isn't set; set are %s (%s)", name, key, c.set("dfs.ha.namenodes."+name, "dfs.namenode.rpc-address."+name), c.where())
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(address, DefaultPort)
		}
		s.Addresses = append(s.Addresses, address)
	}
	return s, nil
}

// set names the properties that begin with one of the prefixes, with their
// values.
func (c Conf) set(prefixes ...string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(c.properties)) {
		for _, prefix := range prefixes {
			if name == prefix || strings.HasPrefix(name, prefix+".") {
				found = append(found, name+"="+c.properties[name])
			}
		}
	}
	if len(found) == 0 {
		return "none of its properties"
	}
	return strings.Join(found, ", ")
}
