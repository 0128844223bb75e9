package hdfsfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
)

func TestKerberosConfig(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, row := range []struct {
		name     string
		settings map[string]string
		user     string
		env      map[string]string
		want     kerberosConfig
		fails    string
	}{
		{"a keytab", map[string]string{SettingPrincipal: "logs@R", SettingKeytab: "/k"}, "", nil,
			kerberosConfig{principal: "logs", realm: "R", keytab: "/k", krb5: "/etc/krb5.conf", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"_HOST of the principal", map[string]string{SettingPrincipal: "logs/_HOST", SettingKeytab: "/k"}, "", nil,
			kerberosConfig{principal: "logs/" + strings.ToLower(host), keytab: "/k", krb5: "/etc/krb5.conf", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"an option over the environment", map[string]string{SettingPrincipal: "l", SettingKeytab: "/k", SettingKrb5Config: "/o"}, "", map[string]string{"KRB5_CONFIG": "/e"},
			kerberosConfig{principal: "l", keytab: "/k", krb5: "/o", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"the first of the environment's", map[string]string{SettingPrincipal: "l", SettingKeytab: "/k"}, "", map[string]string{"KRB5_CONFIG": "/e:/f"},
			kerberosConfig{principal: "l", keytab: "/k", krb5: "/e", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"a ticket cache", map[string]string{SettingPrincipal: "l"}, "", map[string]string{"KRB5CCNAME": "FILE:" + none},
			kerberosConfig{principal: "l", cache: none, krb5: "/etc/krb5.conf", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"somebody who is impersonated", map[string]string{SettingPrincipal: "l/h", SettingKeytab: "/k"}, "carol", nil,
			kerberosConfig{principal: "l/h", keytab: "/k", krb5: "/etc/krb5.conf", service: "nn/_HOST", serviceRealm: "S", as: "carol"}, ""},
		{"the principal's own short name", map[string]string{SettingPrincipal: "l/h", SettingKeytab: "/k"}, "l", nil,
			kerberosConfig{principal: "l/h", keytab: "/k", krb5: "/etc/krb5.conf", service: "nn/_HOST", serviceRealm: "S"}, ""},
		{"a cache that is no file", map[string]string{SettingPrincipal: "l"}, "", map[string]string{"KRB5CCNAME": "KCM:0"}, kerberosConfig{}, "KCM:0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			system := hadoop.System{Getenv: func(name string) string { return row.env[name] }}
			got, err := readKerberos(fs.Options{User: row.user, Settings: row.settings}, hadoop.Security{NameNodePrincipal: "nn/_HOST@S"}, system, []string{"nn1.example.com:8020"})
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Errorf("the error doesn't say %q: %v", row.fails, err)
				}
				return
			}
			if err != nil || *got != row.want {
				t.Errorf("got %+v, %v, want %+v", *got, err, row.want)
			}
		})
	}
	_, err = readKerberos(fs.Options{}, hadoop.Security{NameNodePrincipal: "nn/_HOST@S"}, hadoop.System{}, []string{"nn1:8020", "10.0.0.1:8020"})
	if err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("an address for _HOST isn't refused: %v", err)
	}
}

func TestTheServiceIsNamedByTheNameNodesHost(t *testing.T) {
	k := newTickets(&kerberosConfig{service: "nn/_HOST"}, nil)
	if got := k.service("NN1.Example.com:8020"); got != "nn/nn1.example.com" {
		t.Errorf("the service is %s", got)
	}
}

// TestKrb5Includes: distributions keep most of krb5.conf in a directory beside it.
func TestKrb5Includes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		p := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("d/realm.conf", "[realms]\nR = {\n kdc = kdc.example.com:88\n}\n")
	write("d/.hidden", "[libdefaults]\n default_realm = WRONG\n")
	write("d/realm.conf.rpmsave", "[libdefaults]\n default_realm = WRONG\n")
	write("one", "[libdefaults]\n default_realm = R\n")
	c, err := loadKrb5(write("krb5.conf", "includedir "+dir+"/d\nincludedir "+dir+"/none\ninclude "+dir+"/one\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, kdcs, err := c.GetKDCs("R", true); c.LibDefaults.DefaultRealm != "R" || err != nil || kdcs[1] != "kdc.example.com:88" {
		t.Errorf("realm %q, KDCs %v, %v", c.LibDefaults.DefaultRealm, kdcs, err)
	}
	for name, content := range map[string]string{"itself": "include " + dir + "/itself\n", "missing": "include " + dir + "/nowhere\n"} {
		if _, err := loadKrb5(write(name, content)); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("an include of a file that is %s: %v", name, err)
		}
	}
}

// TestDamagedKeysAreNamed: what the library panics on is an error with the file.
func TestDamagedKeysAreNamed(t *testing.T) {
	for _, content := range []string{"\x05", "\x05\x04\x00", "\x05\x02\xff\xff\xff", "\x05\x04\xff\xff\xff\xff\xff\xff"} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadCache(file); err == nil {
			t.Errorf("a cache of %q is read", content)
		}
		if k, err := loadKeytab(file); err == nil && len(k.Entries) > 0 {
			t.Errorf("a keytab of %q is read", content)
		}
	}
}

// answers is a NameNode that answers every call with an error.
type answers struct{ err error }

func (a answers) Execute(string, proto.Message, proto.Message) error { return a.err }

func TestWhoIsAnActiveNameNode(t *testing.T) {
	java := func(class string) error { return exception{"call", class, "why"} }
	for _, row := range []struct {
		name   string
		answer error
		active bool
		router bool
	}{
		{"it answers", nil, true, false},
		{"it is in safe mode", java(safeModeException), true, false},
		{"a standby", java(standbyException), false, false},
		{"an observer", java(observerException), false, false},
		{"a Router", java("java.lang.UnsupportedOperationException"), false, true},
		{"no answer", io.EOF, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := checkActive(answers{row.answer}, "c"); (err == nil) != row.active {
				t.Errorf("it counts as active: %v", err)
			}
			err := refuseRouter(answers{row.answer})
			if got := err != nil && fs.ClassOf(err) == fs.Unsupported && strings.Contains(err.Error(), "Router"); got != row.router {
				t.Errorf("it counts as a Router: %v", err)
			}
		})
	}
}
