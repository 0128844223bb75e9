package hdfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Realm is the test KDC's only one.
const Realm = "TEST.LOCAL"

// KDCOptions are a KDC's.
type KDCOptions struct {
	// Life is the longest that a ticket is valid; 0 is a day.
	Life time.Duration
}

// KDC is a Kerberos server of MIT's, as a plain process with a database of its
// own. It ends with the process that started it.
type KDC struct {
	dir     string
	spawner *spawner
	ports   *reservation
	p       *process
}

// The superuser's principal on a cluster with Kerberos, and the daemons'.
const (
	namePrincipal = "nn/localhost"
	dataPrincipal = "dn/localhost"
	webPrincipal  = "HTTP/localhost"
)

// StartKDC makes a realm with the daemons' principals and starts its KDC.
func StartKDC(ctx context.Context, o KDCOptions) (*KDC, error) {
	dir, err := os.MkdirTemp("", "out_hdfs-kdc-")
	if err != nil {
		return nil, fmt.Errorf("make a KDC's directory: %w", err)
	}
	k := &KDC{dir: dir, spawner: newSpawner()}
	if err := k.make(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start a KDC: %w", err), k.Close())
	}
	return k, nil
}

func (k *KDC) make(ctx context.Context, o KDCOptions) error {
	if o.Life == 0 {
		o.Life = 24 * time.Hour
	}
	var err error
	if k.ports, err = reserve(1); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(k.ports.address(0))
	if err != nil {
		return err
	}
	const encryption = "aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96"
	krb5 := fmt.Sprintf(`[libdefaults]
default_realm = %[1]s
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
clockskew = 5
default_tkt_enctypes = %[3]s
default_tgs_enctypes = %[3]s
permitted_enctypes = %[3]s
[realms]
%[1]s = {
  kdc = 127.0.0.1:%[2]s
}
[domain_realm]
localhost = %[1]s
`, Realm, port, encryption)
	life := fmt.Sprintf("%ds", int(o.Life.Seconds()))
	kdc := fmt.Sprintf(`[kdcdefaults]
kdc_listen = 127.0.0.1:%[2]s
kdc_tcp_listen = 127.0.0.1:%[2]s
[realms]
%[1]s = {
  database_name = %[3]s/principal
  key_stash_file = %[3]s/stash
  acl_file = %[3]s/acl
  max_life = %[4]s
  max_renewable_life = 7d
  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
}
`, Realm, port, k.dir, life)
	if err := errors.Join(os.WriteFile(k.Config(), []byte(krb5), 0o644), os.WriteFile(filepath.Join(k.dir, "kdc.conf"), []byte(kdc), 0o644)); err != nil {
		return err
	}
	if err := k.tool(ctx, "kdb5_util", "create", "-s", "-r", Realm, "-P", "secret-of-the-database"); err != nil {
		return err
	}
	for _, principal := range []string{namePrincipal, dataPrincipal, webPrincipal} {
		if err := k.AddPrincipal(ctx, principal); err != nil {
			return err
		}
	}
	if err := k.Keytab(ctx, k.daemons(), namePrincipal, dataPrincipal, webPrincipal); err != nil {
		return err
	}
	return k.Start(ctx)
}

// tool runs a command of Kerberos's on the KDC's database.
func (k *KDC) tool(ctx context.Context, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		path = "/usr/sbin/" + name // which isn't everybody's path
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = k.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s (install krb5-kdc, krb5-admin-server and krb5-user): %w\n%s", name, err, out)
	}
	return nil
}

// Env is the environment of a process that uses this KDC.
func (k *KDC) Env() []string {
	return append(os.Environ(), "KRB5_CONFIG="+k.Config(), "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
}

// Config is a client's krb5.conf.
func (k *KDC) Config() string { return filepath.Join(k.dir, "krb5.conf") }

func (k *KDC) daemons() string { return filepath.Join(k.dir, "daemons.keytab") }

// AddPrincipal makes a principal with a random key.
func (k *KDC) AddPrincipal(ctx context.Context, name string) error {
	return k.admin(ctx, "addprinc -randkey "+name)
}

func (k *KDC) admin(ctx context.Context, query string) error {
	return k.tool(ctx, "kadmin.local", "-r", Realm, "-q", query)
}

// Keytab gives principals new keys and writes these into a file. What other
// keytabs have of them is no longer good.
func (k *KDC) Keytab(ctx context.Context, file string, names ...string) error {
	return k.admin(ctx, "ktadd -k "+file+" "+strings.Join(names, " "))
}

// Kinit logs a principal in by a keytab, into a ticket cache.
func (k *KDC) Kinit(ctx context.Context, keytab, principal, cache string) error {
	return k.tool(ctx, "kinit", "-k", "-t", keytab, "-c", "FILE:"+cache, principal)
}

// Start starts the KDC, and waits until it listens.
func (k *KDC) Start(ctx context.Context) error {
	path, err := exec.LookPath("krb5kdc")
	if err != nil {
		path = "/usr/sbin/krb5kdc"
	}
	cmd := exec.Command(path, "-n", "-r", Realm, "-P", filepath.Join(k.dir, "pid"))
	cmd.Env = k.Env()
	if k.p, err = k.spawner.run(cmd, filepath.Join(k.dir, "kdc.log")); err != nil {
		return err
	}
	for {
		conn, err := net.Dial("tcp", k.ports.address(0))
		if err == nil {
			return conn.Close()
		}
		if ended := k.p.ended(); ended != nil {
			log, _ := os.ReadFile(filepath.Join(k.dir, "kdc.log"))
			return fmt.Errorf("krb5kdc ended: %w\n%s", ended, tail(log))
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Kill ends the KDC. Start starts it again.
func (k *KDC) Kill() error { return k.p.kill() }

// Stop makes the KDC hang, and Continue ends that.
func (k *KDC) Stop() error     { return k.p.signal(syscall.SIGSTOP) }
func (k *KDC) Continue() error { return k.p.signal(syscall.SIGCONT) }

// Close ends the KDC and removes what it wrote.
func (k *KDC) Close() error {
	var err error
	if k.p != nil {
		err = k.Kill()
	}
	k.spawner.close()
	if k.ports != nil {
		err = errors.Join(err, k.ports.release())
	}
	return errors.Join(err, os.RemoveAll(k.dir))
}
