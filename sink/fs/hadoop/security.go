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
	levels, err := c.List("dfs.data.transfer.protection")
	if err != nil {
		return s, err
	}
	strongest := 0
	for _, l := range levels {
		i := slices.Index(protections, strings.ToLower(l))
		if i < 0 {
			return s, fmt.Errorf("property dfs.data.transfer.protection is %q, must be of authentication, integrity and privacy", strings.Join(levels, ","))
		}
		strongest = max(strongest, i)
	}
	encrypt, err := c.Bool("dfs.encrypt.data.transfer", false)
	if encrypt {
		strongest = len(protections) - 1
	}
	s.Protection = protections[strongest]
	return s, err
}
