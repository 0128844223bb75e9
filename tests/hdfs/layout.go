package hdfs

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Superuser is the user that the daemons run as, to HDFS.
const Superuser = "hdfs"

const (
	classNameNode    = "org.apache.hadoop.hdfs.server.namenode.NameNode"
	classJournalNode = "org.apache.hadoop.hdfs.qjournal.server.JournalNode"
	classDataNode    = "org.apache.hadoop.hdfs.server.datanode.DataNode"
	classFsShell     = "org.apache.hadoop.fs.FsShell"
	classDFSAdmin    = "org.apache.hadoop.hdfs.tools.DFSAdmin"
	classKeyShell    = "org.apache.hadoop.crypto.key.KeyShell"
)

// properties are Hadoop's, by name.
type properties map[string]string

// layout is the directory of a cluster.
type layout struct {
	installation
	dir string
}

func (l layout) conf() string            { return filepath.Join(l.dir, "conf") }
func (l layout) path(name string) string { return filepath.Join(l.dir, name) }

// write makes the configuration directory, with core-site.xml and
// hdfs-site.xml and what else a class path must hold.
func (l layout) write(core, hdfs properties) error {
	for _, app := range []string{"hdfs", "datanode", "journal", "secondary"} {
		// The jars leave these out, and a daemon without its own won't start.
		if err := os.MkdirAll(filepath.Join(l.conf(), "webapps", app, "WEB-INF"), 0o755); err != nil {
			return err
		}
	}
	// Standard output belongs to commands such as -cat.
	const log4j = `log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss,SSS} %p %c{1}: %m%n
`
	if err := os.WriteFile(filepath.Join(l.conf(), "log4j.properties"), []byte(log4j), 0o644); err != nil {
		return err
	}
	if err := writeSite(filepath.Join(l.conf(), "core-site.xml"), core); err != nil {
		return err
	}
	return writeSite(filepath.Join(l.conf(), "hdfs-site.xml"), hdfs)
}

func writeSite(file string, p properties) error {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, k := range slices.Sorted(maps.Keys(p)) {
		b.WriteString("  <property><name>")
		_ = xml.EscapeText(&b, []byte(k)) // a bytes.Buffer takes all
		b.WriteString("</name><value>")
		_ = xml.EscapeText(&b, []byte(p[k]))
		b.WriteString("</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// command is a JVM that starts fast and stays small.
func (l layout) command(ctx context.Context, class string, args ...string) *exec.Cmd {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	all := append([]string{
		"-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto",
		"--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Djava.net.preferIPv4Stack=true",
		"-cp", l.conf() + ":" + l.lib + "/*", class,
	}, args...)
	cmd := exec.CommandContext(ctx, java, all...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "HADOOP_USER_NAME="+Superuser, "HADOOP_CONF_DIR="+l.conf(), "HADOOP_HOME="+l.dir)
	return cmd
}

// tail is the end of a log, where the reason is.
func tail(log []byte) []byte {
	const most = 4000
	if len(log) > most {
		log = log[len(log)-most:]
	}
	return bytes.TrimSpace(log)
}

func copyTree(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Base(from), err)
	}
	return nil
}
