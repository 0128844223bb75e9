package hadoop

import (
	"fmt"
	"slices"
	"strings"
)

// Security is how clients prove who they are, and how data is protected on its
// way to the DataNodes.
type Security struct {
	// Kerberos says that the NameNode wants a ticket; otherwise it believes the
	// user's name.
	Kerberos bool
	// NameNodePrincipal is the NameNode's own, such as "nn/_HOST@EXAMPLE.COM".
	NameNodePrincipal string
	// RPCProtection is the weakest protection of calls to the NameNode that the
	// configuration lets pass: "authentication", which is the default,
	// "integrity" or "privacy".
	RPCProtection string
	// Protection is "", "authentication", "integrity" or "privacy": the
	// strongest that is configured, since servers may ask for it.
	Protection string
}

// protections are in order, the strongest last.
var protections = []string{"", "authentication", "integrity", "privacy"}

// Security returns what the configuration says of it.
func (c Conf) Security() (Security, error) {
	var s Security
	auth, err := c.Get("hadoop.security.authentication")
	if err != nil {
		return s, err
	}
	switch strings.ToLower(auth) {
	case "", "simple":
	case "kerberos":
		s.Kerberos = true
	default:
		return s, fmt.Errorf("property hadoop.security.authentication is %q, must be simple or kerberos", auth)
	}
	if s.NameNodePrincipal, err = c.Get("dfs.namenode.kerberos.principal"); err != nil {
		return s, err
	}
	weakest, _, err := c.protection("hadoop.rpc.protection")
	if err != nil {
		return s, err
	}
	s.RPCProtection = protections[max(weakest, 1)]
	_, strongest, err := c.protection("dfs.data.transfer.protection")
	if err != nil {
		return s, err
	}
	encrypt, err := c.Bool("dfs.encrypt.data.transfer", false)
	if encrypt {
		strongest = len(protections) - 1
	}
	s.Protection = protections[strongest]
	return s, err
}

// protection is the weakest and the strongest of a list, as indexes of
// protections, 0 if it isn't set.
func (c Conf) protection(name string) (weakest, strongest int, err error) {
	levels, err := c.List(name)
	if err != nil {
		return 0, 0, err
	}
	for n, l := range levels {
		i := slices.Index(protections, strings.ToLower(l))
		if i < 0 {
			return 0, 0, fmt.Errorf("property %s is %q, must be of authentication, integrity and privacy", name, strings.Join(levels, ","))
		}
		strongest = max(strongest, i)
		if n == 0 || i < weakest {
			weakest = i
		}
	}
	return weakest, strongest, nil
}
