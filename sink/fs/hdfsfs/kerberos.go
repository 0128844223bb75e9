package hdfsfs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	krb5conf "github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
)

// These are the driver's own settings, beside Hadoop's properties.
const (
	SettingPrincipal  = "out_hdfs.kerberos.principal" // who logs in; "" is the ticket cache's
	SettingKeytab     = "out_hdfs.kerberos.keytab"    // a file; "" is the ticket cache
	SettingKrb5Config = "out_hdfs.kerberos.config"    // a file; "" is $KRB5_CONFIG or /etc/krb5.conf
)

// kerberosConfig is how the driver logs in.
type kerberosConfig struct {
	principal string // without its realm; "" is the ticket cache's
	realm     string // "" is the default realm, or the ticket cache's
	keytab    string // a file; "" is the ticket cache
	cache     string // a file, if there is no keytab
	krb5      string // a file
	as        string // whom the principal impersonates; "" is nobody
	// service is the NameNode's principal without its realm, with _HOST.
	service string
	// serviceRealm is the NameNode's realm; "" is what krb5.conf says of its host.
	serviceRealm string
}

func (k *kerberosConfig) shortName() string {
	name, _, _ := strings.Cut(k.principal, "/")
	return name
}

// String is the principal as people write it.
func (k *kerberosConfig) String() string {
	if k.realm == "" {
		return k.principal
	}
	return k.principal + "@" + k.realm
}

// readKerberos reads and checks everything but whether the files are there and
// right, which can change while the driver is open.
func readKerberos(o fs.Options, s hadoop.Security, system hadoop.System, nameNodes []string) (*kerberosConfig, error) {
	getenv := func(name string) string {
		if system.Getenv == nil {
			return ""
		}
		return system.Getenv(name)
	}
	k := &kerberosConfig{keytab: o.Settings[SettingKeytab], krb5: o.Settings[SettingKrb5Config]}
	var errs []error
	k.principal, k.realm, _ = strings.Cut(o.Settings[SettingPrincipal], "@")
	k.service, k.serviceRealm, _ = strings.Cut(s.NameNodePrincipal, "@")
	if k.service == "" {
		errs = append(errs, errors.New("with Kerberos the NameNode's principal is needed: set dfs.namenode.kerberos.principal in hdfs-site.xml, as it is set on the NameNode"))
	}
	if strings.Contains(k.service, "/_HOST") {
		for _, address := range nameNodes {
			if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host) != nil {
				errs = append(errs, fmt.Errorf("_HOST of dfs.namenode.kerberos.principal (%s) stands for a host's name: write the NameNode's name and not %s", s.NameNodePrincipal, host))
			}
		}
	}
	if strings.Contains(k.principal, "/_HOST") {
		name, err := os.Hostname()
		if err != nil {
			errs = append(errs, fmt.Errorf("replace _HOST of kerberos_principal: %w", err))
		}
		k.principal = strings.Replace(k.principal, "/_HOST", "/"+strings.ToLower(name), 1)
	}
	if k.krb5 == "" {
		k.krb5, _, _ = strings.Cut(getenv("KRB5_CONFIG"), ":")
	}
	if k.krb5 == "" {
		k.krb5 = "/etc/krb5.conf"
	}
	if k.keytab == "" {
		var err error
		k.cache, err = cacheFile(getenv("KRB5CCNAME"))
		errs = append(errs, err)
		if k.principal == "" && err == nil {
			// Who that is must be known before anybody logs in, since a marker has
			// the name. Without a cache it is told when the driver logs in.
			if cache, err := loadCache(k.cache); err == nil {
				k.principal, k.realm = cache.DefaultPrincipal.PrincipalName.PrincipalNameString(), cache.DefaultPrincipal.Realm
			}
		}
	}
	if o.User != k.shortName() {
		k.as = o.User
	}
	return k, errors.Join(errs...)
}

// cacheFile is the file of a ticket cache, as MIT's KRB5CCNAME names it.
func cacheFile(name string) (string, error) {
	kind, file, ok := strings.Cut(name, ":")
	switch {
	case name == "":
		return "/tmp/krb5cc_" + strconv.Itoa(os.Getuid()), nil
	case !ok:
		return name, nil
	case kind == "FILE":
		return file, nil
	}
	return "", fmt.Errorf("KRB5CCNAME is %s: only ticket caches that are files can be read; use kinit -c FILE:…, or set kerberos_keytab", name)
}

// loadCache reads a ticket cache. The library doesn't look where a file ends.
func loadCache(file string) (cache *credentials.CCache, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ticket cache %s is damaged", file)
		}
	}()
	cache, err = credentials.LoadCCache(file)
	if err == nil && (len(cache.DefaultPrincipal.PrincipalName.NameString) == 0 || cache.DefaultPrincipal.Realm == "") {
		err = fmt.Errorf("ticket cache %s is damaged", file)
	}
	return cache, err
}

func loadKeytab(file string) (k *keytab.Keytab, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("keytab %s is damaged", file)
		}
	}()
	return keytab.Load(file)
}

// principals are those of a keytab, for an error.
func principals(k *keytab.Keytab) string {
	seen := map[string]bool{}
	var all []string
	for _, e := range k.Entries {
		name := strings.Join(e.Principal.Components, "/") + "@" + e.Principal.Realm
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// loadKrb5 reads Kerberos's configuration with what it includes, which the
// library doesn't follow (krb5.conf(5) of MIT Kerberos 1.20).
func loadKrb5(file string) (*krb5conf.Config, error) {
	text, err := krb5Text(file, 0)
	if err != nil {
		return nil, err
	}
	c, err := krb5conf.NewFromString(text)
	var unsupported krb5conf.UnsupportedDirective
	if errors.As(err, &unsupported) { // of no consequence here
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// deepestInclude bounds how deep files include each other.
const deepestInclude = 10

func krb5Text(file string, depth int) (string, error) {
	if depth > deepestInclude {
		return "", fmt.Errorf("%s: files include each other more than %d deep", file, deepestInclude)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(content)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		included := []string{strings.TrimSpace(rest)}
		switch word {
		case "include":
		case "includedir":
			if included, err = includedFiles(included[0]); err != nil {
				return "", err
			}
		default:
			b.WriteString(line)
			continue
		}
		for _, name := range included {
			text, err := krb5Text(name, depth+1)
			if err != nil {
				return "", err
			}
			b.WriteString(text + "\n")
		}
	}
	return b.String(), nil
}

// includedFiles are those of a directory that MIT's library reads: named by
// letters, digits, dashes and underscores alone, or ending in .conf.
func includedFiles(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		other := strings.ContainsFunc(e.Name(), func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && (!other || strings.HasSuffix(e.Name(), ".conf")) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, err
}
