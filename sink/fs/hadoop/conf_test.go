package hadoop

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// env is an environment of the names and values given in turn.
func env(pairs ...string) System {
	return System{User: "alice", Home: "/home/alice", Getenv: func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}}
}

// site is a file of the properties given as elements.
func site(elements string) string {
	return "<?xml version=\"1.0\"?>\n<configuration>" + elements + "</configuration>"
}

func p(name, value string) string {
	return "<property><name>" + name + "</name><value>" + value + "</value></property>"
}

// utf16 is text of the Latin alphabet in UTF-16 with a byte order mark.
func utf16(text string) string {
	out := []byte{0xff, 0xfe}
	for _, r := range text {
		out = append(out, byte(r), byte(r>>8))
	}
	return string(out)
}

// include is an XInclude element.
func include(href, content string) string {
	return `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="` + href + `">` + content + `</xi:include>`
}

func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	for _, row := range []struct {
		name  string
		files map[string]string
		want  map[string]string
	}{
		{"no file at all", nil, map[string]string{}},
		{"one file only", map[string]string{"hdfs-site.xml": site(p("a", "1"))}, map[string]string{"a": "1"}},
		{"the later file wins", map[string]string{"core-site.xml": site(p("a", "core")), "hdfs-site.xml": site(p("a", "hdfs"))},
			map[string]string{"a": "hdfs"}},
		{"unless the earlier says final", map[string]string{
			"core-site.xml": site("<property><name>a</name><value>core</value><final>true</final></property>"),
			"hdfs-site.xml": site(p("a", "hdfs") + p("b", "2")),
		}, map[string]string{"a": "core", "b": "2"}},
		{"the later in one file wins", map[string]string{"core-site.xml": site(p("a", "1") + p("a", "2"))}, map[string]string{"a": "2"}},
		{"space around a name and description elements", map[string]string{
			"core-site.xml": site("<property>\n<name> a </name><description>why</description><value>1</value>\n</property><!-- x -->"),
		}, map[string]string{"a": "1"}},
		{"attributes", map[string]string{"core-site.xml": site(`<property name="a" value="1" final="true"/>`), "hdfs-site.xml": site(p("a", "2"))},
			map[string]string{"a": "1"}},
		{"a configuration within another", map[string]string{"core-site.xml": site(site(p("a", "1"))[len("<?xml version=\"1.0\"?>\n"):])},
			map[string]string{"a": "1"}},
		{"entities and CDATA", map[string]string{"core-site.xml": site(p("a", "&lt;1&gt; &amp; <![CDATA[<2>]]>"))}, map[string]string{"a": "<1> & <2>"}},
		{"an empty value is one", map[string]string{"core-site.xml": site(p("a", "1")), "hdfs-site.xml": site(p("a", ""))}, map[string]string{"a": ""}},
		{"a property without a value or a name is none", map[string]string{
			"core-site.xml": site("<property><name>a</name></property><property><value>1</value></property><property/>"),
		}, map[string]string{}},
		{"old names", map[string]string{"core-site.xml": site(p("fs.default.name", "hdfs://old") + p("dfs.block.size", "1m"))},
			map[string]string{"fs.defaultFS": "hdfs://old", "dfs.blocksize": "1m"}},
		{"a new name after the old", map[string]string{"core-site.xml": site(p("fs.default.name", "hdfs://old")), "hdfs-site.xml": site(p("fs.defaultFS", "hdfs://new"))},
			map[string]string{"fs.defaultFS": "hdfs://new"}},
		{"a byte order mark", map[string]string{"core-site.xml": "\ufeff" + site(p("a", "1"))}, map[string]string{"a": "1"}},
		{"an include, what follows it winning", map[string]string{
			"core-site.xml": site(p("a", "0") + p("b", "0") + include("more.xml", "") + p("b", "2")), "more.xml": site(p("a", "1") + p("b", "1")),
		}, map[string]string{"a": "1", "b": "2"}},
		{"an include in an include, both relative to the directory", map[string]string{
			"core-site.xml": site(include("one.xml", "")), "one.xml": site(include("two.xml", "") + p("b", "2")), "two.xml": site(p("a", "1")),
		}, map[string]string{"a": "1", "b": "2"}},
		{"a final one of an include", map[string]string{
			"core-site.xml": site(include("more.xml", "")), "more.xml": site("<property><name>a</name><value>1</value><final>true</final></property>"),
			"hdfs-site.xml": site(p("a", "2")),
		}, map[string]string{"a": "1"}},
		{"a fallback for a file that isn't there", map[string]string{
			"core-site.xml": site(include("none.xml", "<xi:fallback>"+p("a", "1")+include("more.xml", "")+"</xi:fallback>") + p("c", "3")), "more.xml": site(p("b", "2")),
		}, map[string]string{"a": "1", "b": "2", "c": "3"}},
		{"an empty fallback", map[string]string{"core-site.xml": site(include("none.xml", "<fallback/>") + p("a", "1"))}, map[string]string{"a": "1"}},
		{"a fallback that isn't needed", map[string]string{
			"core-site.xml": site(include("more.xml", "<xi:fallback>"+p("a", "2")+include("none.xml", "")+"</xi:fallback>")), "more.xml": site(p("a", "1")),
		}, map[string]string{"a": "1"}},
		{"an include without href", map[string]string{"core-site.xml": site(`<include/>` + p("a", "1"))}, map[string]string{"a": "1"}},
		{"ISO-8859-1", map[string]string{"core-site.xml": "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><configuration>" + p("a", "K\xf6ln") + "</configuration>"},
			map[string]string{"a": "Köln"}},
		{"GBK", map[string]string{"core-site.xml": "<?xml version=\"1.0\" encoding=\"GBK\"?><configuration>" + p("a", "\xd6\xd0\xce\xc4") + "</configuration>"},
			map[string]string{"a": "中文"}},
		{"US-ASCII", map[string]string{"core-site.xml": "<?xml version=\"1.0\" encoding=\"us-ascii\"?><configuration>" + p("a", "1") + "</configuration>"},
			map[string]string{"a": "1"}},
		{"UTF-16", map[string]string{"core-site.xml": utf16("<?xml version=\"1.0\" encoding=\"UTF-16\"?><configuration>" + p("a", "Köln") + "</configuration>")},
			map[string]string{"a": "Köln"}},
		{"a style sheet and a DOCTYPE", map[string]string{
			"core-site.xml": "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n<configuration>" + p("a", "1") + "</configuration>\n",
		}, map[string]string{"a": "1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := Load(directory(t, row.files), env())
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Properties(); !maps.Equal(got, row.want) {
				t.Errorf("properties are %q, want %q", got, row.want)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, content := range map[string]string{
		"nothing":                   "",
		"text":                      "fs.defaultFS=hdfs://a",
		"a broken file":             "<configuration><property><name>a</name>",
		"another root":              "<settings>" + p("a", "1") + "</settings>",
		"an include of nothing":     site(include("other.xml", "") + p("a", "1")),
		"an include of the web":     site(include("http://conf.example.com/other.xml", "<fallback/>")),
		"an include of itself":      site(include("core-site.xml", "")),
		"an include of garbage":     site(include("garbage", "<fallback/>")),
		"an encoding that is none":  `<?xml version="1.0" encoding="klingon"?><configuration/>`,
		"an entity of its own file": `<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><configuration>` + p("a", "&x;") + `</configuration>`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := directory(t, map[string]string{"core-site.xml": content, "garbage": "garbage"})
			c, err := Load(dir, env())
			if err == nil {
				t.Fatalf("no error, properties %v", c.Properties())
			}
			if !strings.Contains(err.Error(), "core-site.xml") {
				t.Errorf("the error doesn't name the file: %v", err)
			}
			if _, href, ok := strings.Cut(content, `href="`); ok {
				if href, _, _ = strings.Cut(href, `"`); !strings.Contains(err.Error(), href) {
					t.Errorf("the error doesn't name the href %s: %v", href, err)
				}
			}
		})
	}
}

func TestLocate(t *testing.T) {
	full := directory(t, map[string]string{"hdfs-site.xml": site("")})
	empty := t.TempDir()
	home := t.TempDir()
	ofHome := filepath.Join(home, "etc", "hadoop")
	if err := os.MkdirAll(ofHome, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ofHome, "core-site.xml"), []byte(site("")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		given  string
		system System
		want   string
		fails  bool
	}{
		{"the option", full, env("HADOOP_CONF_DIR", ofHome), full, false},
		{"an option without files", empty, env("HADOOP_CONF_DIR", full), "", true},
		{"an option that isn't there", filepath.Join(empty, "none"), env(), "", true},
		{"HADOOP_CONF_DIR", "", env("HADOOP_CONF_DIR", full, "HADOOP_HOME", home), full, false},
		{"HADOOP_CONF_DIR without files, then HADOOP_HOME", "", env("HADOOP_CONF_DIR", empty, "HADOOP_HOME", home), ofHome, false},
		{"HADOOP_HOME", "", env("HADOOP_HOME", home), ofHome, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Locate(row.given, row.system)
			if got != row.want || (err != nil) != row.fails {
				t.Errorf("found %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	s := env("HOST", "nn1", "EMPTY", "")
	for _, row := range []struct{ name, value, want string }{
		{"none", "plain", "plain"},
		{"another property", "${b}/x", "B/x"},
		{"an old name", "${fs.default.name}", "hdfs://d"},
		{"two", "${b}-${c}", "B-BC"},
		{"one that leads on", "${c}", "BC"},
		{"nested", "${${name}}", "B"},
		{"the user", "/user/${user.name}", "/user/alice"},
		{"the user's home", "${user.home}/x", "/home/alice/x"},
		{"the environment", "${env.HOST}:8020", "nn1:8020"},
		{"the environment, set, with a default", "${env.HOST:-other}", "nn1"},
		{"the environment, unset, with a default", "${env.NONE:-other}", "other"},
		{"the environment, unset, with a default after a dash", "${env.NONE-other}", "other"},
		{"the environment, empty, with a default", "${env.EMPTY:-other}", "other"},
		{"an unknown one stays", "${none}/x", "${none}/x"},
		{"an unset one of the environment stays", "${env.NONE}", "${env.NONE}"},
		{"no name", "${}x", "${}x"},
		{"a space in the name", "${b c}", "${b c}"},
		{"unfinished", "${b", "${b"},
		{"a dollar alone", "$b $ ${b}", "$b $ B"},
		{"a dollar before one", "$${b}", "$B"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := New(map[string]string{"a": row.value, "b": "B", "c": "${b}C", "name": "b", "fs.defaultFS": "hdfs://d"}, s)
			if got, err := c.Get("a"); err != nil || got != row.want {
				t.Errorf("%q is %q, %v, want %q", row.value, got, err, row.want)
			}
		})
	}
}

func TestVariablesThatLeadToThemselves(t *testing.T) {
	for name, properties := range map[string]map[string]string{
		"at once":   {"a": "${a}"},
		"in a ring": {"a": "x${b}", "b": "${a}"},
		"growing":   {"a": "${b}${b}", "b": "${c}${c}", "c": "${a}${a}"},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(properties, env())
			if v, err := c.Get("a"); err == nil {
				t.Errorf("a is %.50q and no error", v)
			}
			if got := c.Properties()["a"]; got != properties["a"] {
				t.Errorf("Properties has %.50q, want it as written", got)
			}
		})
	}
}

func TestValues(t *testing.T) {
	c := New(map[string]string{
		"empty": "", "space": "  x ", "list": " a, b ,,c,", "yes": " True ", "no": "false", "odd": "maybe",
		"n": " 7 ", "negative": "-1", "huge": "99999999999",
		"bytes": "4096", "k": "4k", "M": "128M", "g": "1 g", "e": "7e", "over": "8e", "junk": "12x", "unit": "m",
	}, env())
	if v, err := c.Get("space"); v != "x" || err != nil {
		t.Errorf("space is %q, %v", v, err)
	}
	if v, err := c.List("list"); !slices.Equal(v, []string{"a", "b", "c"}) || err != nil {
		t.Errorf("list is %q, %v", v, err)
	}
	for _, row := range []struct {
		name  string
		want  bool
		fails bool
	}{{"yes", true, false}, {"no", false, false}, {"empty", true, false}, {"none", true, false}, {"odd", true, true}} {
		if v, err := c.Bool(row.name, true); v != row.want || (err != nil) != row.fails {
			t.Errorf("bool %s is %v, %v", row.name, v, err)
		}
	}
	for _, row := range []struct {
		name  string
		want  int
		fails bool
	}{{"n", 7, false}, {"none", -5, false}, {"negative", -5, true}, {"huge", -5, true}, {"odd", -5, true}} {
		if v, err := c.Int(row.name, -5); v != row.want || (err != nil) != row.fails {
			t.Errorf("int %s is %v, %v", row.name, v, err)
		}
	}
	for _, row := range []struct {
		name  string
		want  int64
		fails bool
	}{
		{"bytes", 4096, false}, {"k", 4 << 10, false}, {"M", 128 << 20, false}, {"g", 1 << 30, false}, {"e", 7 << 60, false},
		{"none", -5, false}, {"over", -5, true}, {"junk", -5, true}, {"unit", -5, true}, {"negative", -5, true},
	} {
		if v, err := c.Size(row.name, -5); v != row.want || (err != nil) != row.fails {
			t.Errorf("size %s is %v, %v", row.name, v, err)
		}
	}
}

func TestMillis(t *testing.T) {
	const unset = -time.Second
	for _, row := range []struct {
		value string
		want  time.Duration
		fails bool
	}{
		{"", unset, false}, {"0", 0, false}, {"1500", 1500 * time.Millisecond, false}, {"20s", 20 * time.Second, false}, {"3 M", 3 * time.Minute, false},
		{"5ms", 5 * time.Millisecond, false}, {"7us", 7 * time.Microsecond, false}, {"9ns", 9, false}, {"2h", 2 * time.Hour, false}, {"1d", 24 * time.Hour, false},
		{"soon", unset, true}, {"s", unset, true}, {"-1", unset, true}, {"1.5s", unset, true}, {"99999999999999d", unset, true},
	} {
		t.Run(row.value, func(t *testing.T) {
			got, err := New(map[string]string{"a": row.value}, env()).Millis("a", unset)
			if got != row.want || (err != nil) != row.fails {
				t.Errorf("%q is %v, %v, want %v", row.value, got, err, row.want)
			}
		})
	}
}

func TestUmask(t *testing.T) {
	for _, row := range []struct {
		value string
		want  uint32
		fails bool
	}{
		{"", 0o022, false}, {"022", 0o022, false}, {"77", 0o077, false}, {"0027", 0o027, false}, {"0", 0, false}, {"777", 0o777, false},
		{"u=rwx,g=rx,o=", 0o027, false}, {"u=rwx", 0o077, false}, {"a=rx", 0o222, false}, {"=rwx", 0, false},
		{"a+rwx,o-w", 0o002, false}, {"ug=rw, o+r", 0o113, false}, {"u=rwx,g=rwx,o=rx", 0o002, false},
		{"888", 0o022, true}, {"99999", 0o022, true}, {"-1", 0o022, true}, {"u", 0o022, true}, {"x=r", 0o022, true}, {"u=q", 0o022, true}, {"u=r,,g=r", 0o022, true},
	} {
		t.Run(row.value, func(t *testing.T) {
			c := New(map[string]string{"fs.permissions.umask-mode": row.value}, env())
			got, err := c.Umask()
			if got != row.want || (err != nil) != row.fails {
				t.Errorf("umask is %04o, %v, want %04o", got, err, row.want)
			}
		})
	}
}

func TestSecurity(t *testing.T) {
	const auth, rpc, protection, encrypt = "hadoop.security.authentication", "hadoop.rpc.protection", "dfs.data.transfer.protection", "dfs.encrypt.data.transfer"
	for _, row := range []struct {
		name       string
		properties map[string]string
		want       Security
		fails      bool
	}{
		{"nothing said", nil, Security{RPCProtection: "authentication"}, false},
		{"simple", map[string]string{auth: "simple"}, Security{RPCProtection: "authentication"}, false},
		{"kerberos", map[string]string{auth: "KERBEROS", "dfs.namenode.kerberos.principal": "nn/_HOST@R"}, Security{Kerberos: true, NameNodePrincipal: "nn/_HOST@R", RPCProtection: "authentication"}, false},
		{"the strongest protection", map[string]string{protection: "privacy, authentication,integrity"}, Security{RPCProtection: "authentication", Protection: "privacy"}, false},
		{"one", map[string]string{protection: "integrity"}, Security{RPCProtection: "authentication", Protection: "integrity"}, false},
		{"encryption is the strongest", map[string]string{protection: "authentication", encrypt: "true"}, Security{RPCProtection: "authentication", Protection: "privacy"}, false},
		{"calls in private", map[string]string{rpc: "privacy"}, Security{RPCProtection: "privacy"}, false},
		{"calls at least signed", map[string]string{rpc: "privacy,integrity"}, Security{RPCProtection: "integrity"}, false},
		{"calls as they like", map[string]string{rpc: "privacy,authentication"}, Security{RPCProtection: "authentication"}, false},
		{"another protection of calls", map[string]string{rpc: "some"}, Security{}, true},
		{"another authentication", map[string]string{auth: "certificate"}, Security{}, true},
		{"another protection", map[string]string{protection: "some"}, Security{}, true},
		{"encryption that isn't a yes or no", map[string]string{encrypt: "some"}, Security{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := New(row.properties, env()).Security()
			if !row.fails && got != row.want || (err != nil) != row.fails {
				t.Errorf("security is %+v, %v, want %+v", got, err, row.want)
			}
		})
	}
}

func TestService(t *testing.T) {
	two := map[string]string{
		"fs.defaultFS": "hdfs://logs/", "dfs.nameservices": "logs, archive,single",
		"dfs.ha.namenodes.logs": "nn1,nn2", "dfs.namenode.rpc-address.logs.nn1": "a:8020", "dfs.namenode.rpc-address.logs.nn2": " b:9000 ",
		"dfs.ha.namenodes.archive": "x", "dfs.namenode.rpc-address.archive.x": "c",
		"dfs.namenode.rpc-address.single": "d:8020",
	}
	for _, row := range []struct {
		name       string
		properties map[string]string
		authority  string
		want       Service
		fails      bool
	}{
		{"host and port", nil, "h:9000", Service{"h:9000", []string{"h:9000"}}, false},
		{"an IPv6 address", nil, "[::1]:9000", Service{"[::1]:9000", []string{"[::1]:9000"}}, false},
		{"a host alone", nil, "h", Service{"h", []string{"h:8020"}}, false},
		{"a nameservice", two, "logs", Service{"logs", []string{"a:8020", "b:9000"}}, false},
		{"another one, its address without a port", two, "archive", Service{"archive", []string{"c:8020"}}, false},
		{"a federated one without a standby", two, "single", Service{"single", []string{"d:8020"}}, false},
		{"the default", two, "", Service{"logs", []string{"a:8020", "b:9000"}}, false},
		{"a NameNode of a nameservice by its address", two, "a:8020", Service{"a:8020", []string{"a:8020"}}, false},
		{"a full host name beside nameservices", two, "nn.example.com", Service{"nn.example.com", []string{"nn.example.com:8020"}}, false},
		{"the only nameservice", map[string]string{"dfs.nameservices": "ns", "dfs.namenode.rpc-address.ns": "h:1"}, "", Service{"ns", []string{"h:1"}}, false},
		{"the default, host and port", map[string]string{"fs.defaultFS": "hdfs://h:1"}, "", Service{"h:1", []string{"h:1"}}, false},
		{"a name that is no nameservice", two, "log", Service{}, true},
		{"no default", nil, "", Service{}, true},
		{"a default that is no HDFS", map[string]string{"fs.defaultFS": "s3a://bucket"}, "", Service{}, true},
		{"a default that is no HDFS, and one nameservice", map[string]string{"fs.defaultFS": "file:///", "dfs.nameservices": "ns", "dfs.namenode.rpc-address.ns": "h:1"}, "", Service{"ns", []string{"h:1"}}, false},
		{"no default and two nameservices", map[string]string{"dfs.nameservices": "a,b"}, "", Service{}, true},
		{"a nameservice without an address", map[string]string{"dfs.nameservices": "ns", "dfs.ha.namenodes.ns": "nn1"}, "ns", Service{}, true},
		{"a port that is none", nil, "h:http", Service{}, true},
		{"port 0", nil, "h:0", Service{}, true},
		{"two colons", nil, "a:b:c", Service{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := New(row.properties, env()).Service(row.authority)
			if (err != nil) != row.fails || got.Name != row.want.Name || !slices.Equal(got.Addresses, row.want.Addresses) {
				t.Errorf("service is %+v, %v, want %+v", got, err, row.want)
			}
		})
	}
}

// TestWhatIsMissingIsToldWithTheFilesThatWereRead: an operator sees where he is to
// look, and what is there.
func TestWhatIsMissingIsToldWithTheFilesThatWereRead(t *testing.T) {
	dir := directory(t, map[string]string{
		"core-site.xml": site(p("fs.defaultFS", "s3a://bucket")),
		"hdfs-site.xml": site(include("ha.xml", "")),
		"ha.xml":        site(p("dfs.nameservices", "logs,archive") + p("dfs.ha.namenodes.logs", "nn1,nn2") + p("dfs.namenode.rpc-address.logs.nn1", "a:8020")),
	})
	files := []string{dir + "/core-site.xml", dir + "/hdfs-site.xml", dir + "/ha.xml"}
	for _, row := range []struct {
		name, authority string
		says            []string
	}{
		{"a nameservice that isn't configured", "log", append(files, "logs, archive")},
		{"a NameNode without an address", "logs", append(files, "dfs.namenode.rpc-address.logs.nn2 isn't set", "dfs.namenode.rpc-address.logs.nn1=a:8020")},
		{"a nameservice without addresses", "archive", append(files, "dfs.namenode.rpc-address.archive isn't set", "none of its properties")},
		{"a default that is no HDFS", "", append(files, "s3a://bucket")},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := Load(dir, env())
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Service(row.authority)
			for _, want := range row.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error doesn't say %q: %v", want, err)
				}
			}
		})
	}
}

func TestMounted(t *testing.T) {
	const table = "fs.viewfs.mounttable."
	c := New(map[string]string{
		table + "c.link./logs": "hdfs://ns1/logs", table + "c.link./logs/web": "hdfs://ns2/w/", table + "default.link./": "hdfs://ns3/",
		table + "f.linkFallback": "hdfs://ns4/rest", table + "m.linkMergeSlash": "hdfs://ns5/",
	}, env())
	for _, row := range []struct{ table, path, want string }{
		{"c", "/logs/a", "hdfs://ns1/logs/a"}, {"c", "/logs", "hdfs://ns1/logs"}, {"c", "/logs/web/a", "hdfs://ns2/w/a"}, {"c", "/logs/website", "hdfs://ns1/logs/website"},
		{"c", "/other", ""}, {"none", "/logs", ""}, {"", "/logs", "hdfs://ns3/logs"}, {"f", "/logs", "hdfs://ns4/rest/logs"}, {"m", "/logs", "hdfs://ns5/logs"},
	} {
		if got := c.Mounted(row.table, row.path); got != row.want {
			t.Errorf("%s of %s leads to %q, want %q", row.path, row.table, got, row.want)
		}
	}
}

// FuzzRead reads any file: it ends, and what it answers can be asked for.
func FuzzRead(f *testing.F) {
	f.Add(site(p("a", "${b}") + p("b", "${a}")))
	f.Add(site(`<property name="a" value="1"/>`))
	f.Add(site(`<xi:include href="x"/>`))
	f.Add(site(p("dfs.nameservices", "x") + p("dfs.ha.namenodes.x", "n") + p("fs.permissions.umask-mode", "u=rwx")))
	f.Fuzz(func(t *testing.T, content string) {
		c, err := Read(strings.NewReader(content), env("X", "1"))
		if err != nil {
			return
		}
		for k := range c.Properties() {
			if v, err := c.Get(k); err == nil && len(v) > maxExpanded {
				t.Errorf("%s has %d bytes", k, len(v))
			}
			if n, err := c.Size(k, 0); err == nil && n < 0 {
				t.Errorf("%s is %d", k, n)
			}
			if d, err := c.Millis(k, 0); err == nil && d < 0 {
				t.Errorf("%s is %v", k, d)
			}
			if _, err := c.Service(k); err == nil && k == "" {
				t.Error("an empty name is a service")
			}
		}
		if m, err := c.Umask(); err == nil && m > 0o777 {
			t.Errorf("umask is %o", m)
		}
		_, _ = c.Security()
	})
}
