package hdfs

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

//go:embed pom.xml
var pom []byte

// buildDir is build/hadoop of the repository, or below the user's cache if only
// the binary was kept.
func buildDir() (string, error) {
	if root := moduleRoot(); root != "" {
		return filepath.Join(root, "build", "hadoop"), nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for Hadoop's jars: %w", err)
	}
	return filepath.Join(cache, "out_hdfs-tests", "hadoop"), nil
}

// moduleRoot is the directory of go.mod at or above the working directory,
// which under `go test` is the package's. It is "" if there is none.
func moduleRoot() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// installation is what is kept on a machine between runs.
type installation struct {
	lib  string // the jars
	name string // a formatted NameNode's directory, to be copied
	keys string // a key store's directory, to be copied
	// shared has a formatted NameNode's directory, name, and the journal that it
	// shares with another, both to be copied.
	shared string
}

// install brings the jars and formats a NameNode, once per machine and pom.xml.
// Test processes that come at the same time wait for the first.
func install(ctx context.Context) (installation, error) {
	base, err := buildDir()
	if err != nil {
		return installation{}, err
	}
	sum := sha256.Sum256(pom)
	dir := filepath.Join(base, hex.EncodeToString(sum[:6]))
	in := installation{lib: filepath.Join(dir, "lib"), name: filepath.Join(dir, "name"), keys: filepath.Join(dir, "keys"),
		shared: filepath.Join(dir, "shared")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return installation{}, fmt.Errorf("make a place for Hadoop's jars: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return installation{}, fmt.Errorf("lock Hadoop's jars: %w", err)
	}
	defer lock.Close() // and with it the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return installation{}, fmt.Errorf("lock Hadoop's jars: %w", err)
	}
	if err := once(in.lib, func(to string) error { return download(ctx, to) }); err != nil {
		return installation{}, err
	}
	if err := once(in.name, func(to string) error { return format(ctx, in.lib, to) }); err != nil {
		return installation{}, err
	}
	if err := once(in.keys, func(to string) error { return makeKey(ctx, in.lib, to) }); err != nil {
		return installation{}, err
	}
	if err := once(in.shared, func(to string) error { return formatShared(ctx, in.lib, to) }); err != nil {
		return installation{}, err
	}
	return in, nil
}

// once makes a directory whole or not at all.
func once(dir string, fill func(to string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := fill(partial); err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	return os.Rename(partial, dir)
}

func download(ctx context.Context, to string) error {
	work, err := os.MkdirTemp("", "out_hdfs-maven-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+to, "-DincludeScope=runtime")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("get Hadoop's jars with Maven (install maven, and see that it reaches a repository): %w\n%s", err, out)
	}
	return nil
}

// format makes an empty namespace. Every cluster begins with a copy of it.
func format(ctx context.Context, lib, to string) error {
	return prepare(ctx, lib, properties{"dfs.namenode.name.dir": "file://" + to}, classNameNode, "-format", "-nonInteractive", "-clusterid", "tests")
}

// formatShared makes an empty namespace whose edits are in a journal.
func formatShared(ctx context.Context, lib, to string) error {
	ports, err := reserve(4)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "out_hdfs-prepare-")
	if err != nil {
		return errors.Join(err, ports.release())
	}
	c := &Cluster{layout: layout{dir: work, installation: installation{lib: lib}}, spawner: newSpawner(), ports: ports}
	return errors.Join(c.formatShared(ctx, to), c.Stop())
}

func (c *Cluster) formatShared(ctx context.Context, to string) error {
	site := haProperties(c.ports.address(2))
	maps.Copy(site, properties{
		"dfs.nameservices": Nameservice, "dfs.ha.namenodes." + Nameservice: "nn1,nn2", "dfs.ha.namenode.id": "nn1",
		"dfs.namenode.rpc-address." + Nameservice + ".nn1": c.ports.address(0), "dfs.namenode.rpc-address." + Nameservice + ".nn2": c.ports.address(1),
		"dfs.namenode.name.dir": "file://" + filepath.Join(to, "name"), "dfs.journalnode.edits.dir": filepath.Join(to, "journal"),
		"dfs.journalnode.rpc-address": c.ports.address(2), "dfs.journalnode.http-address": c.ports.address(3),
	})
	if err := c.layout.write(properties{"fs.defaultFS": "hdfs://" + Nameservice}, site); err != nil {
		return err
	}
	c.journal = &Daemon{cluster: c, name: "journal", class: classJournalNode, addr: c.ports.address(2)}
	if err := c.journal.start(); err != nil {
		return err
	}
	if err := c.journal.wait(ctx, "listening", c.journal.listens); err != nil {
		return err
	}
	out, err := c.layout.command(ctx, classNameNode, "-format", "-force", "-nonInteractive", "-clusterid", "tests").CombinedOutput()
	if err != nil {
		return fmt.Errorf("format a shared namespace: %w\n%s", err, tail(out))
	}
	return nil
}

// zoneKey is the key of all encryption zones.
const zoneKey = "zone"

// makeKey makes a key store that has it.
func makeKey(ctx context.Context, lib, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return prepare(ctx, lib, nil, classKeyShell, "create", zoneKey, "-size", "128", "-provider", keyStore(to))
}

func keyStore(dir string) string { return "jceks://file" + filepath.Join(dir, "keys.jceks") }

// prepare runs a command of Hadoop's that makes something to be copied.
func prepare(ctx context.Context, lib string, site properties, class string, args ...string) error {
	work, err := os.MkdirTemp("", "out_hdfs-prepare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	l := layout{dir: work, installation: installation{lib: lib}}
	if err := l.write(properties{"fs.defaultFS": "hdfs://127.0.0.1:1"}, site); err != nil {
		return err
	}
	out, err := l.command(ctx, class, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", class, err, tail(out))
	}
	return nil
}
