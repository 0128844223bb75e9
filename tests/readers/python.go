package readers

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

//go:embed requirements.txt
var requirements []byte

//go:embed pom.xml
var pom []byte

// Python is an environment that has the readers.
type Python struct{ dir string }

// Install brings the readers into root/build/venv, unless they are there in
// the pinned versions. Processes that come at the same time wait for the first.
func Install(ctx context.Context, root string) (*Python, error) {
	build := filepath.Join(root, "build")
	if err := os.MkdirAll(build, 0o755); err != nil {
		return nil, fmt.Errorf("make a place for the readers: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(build, "venv.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the readers: %w", err)
	}
	defer lock.Close() // and with it the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock the readers: %w", err)
	}
	p := &Python{filepath.Join(build, "venv")}
	sum := sha256.Sum256(append(append([]byte(nil), requirements...), pom...))
	installed := filepath.Join(p.dir, "installed-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(installed); err == nil {
		return p, nil
	}
	if err := p.install(ctx); err != nil {
		return nil, err
	}
	return p, os.WriteFile(installed, nil, 0o644)
}

func (p *Python) install(ctx context.Context) error {
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove old readers: %w", err)
	}
	list, project := p.dir+"-requirements.txt", p.dir+"-pom.xml"
	if err := errors.Join(os.WriteFile(list, requirements, 0o644), os.WriteFile(project, pom, 0o644)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", p.dir},
		{p.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", list},
		{"mvn", "-q", "-B", "-f", project, "dependency:copy-dependencies", "-DexcludeTransitive=true", "-DoutputDirectory=" + p.jars()},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("install the readers (python3 with venv and Maven are needed, and their package indexes): %s: %w\n%s",
				strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func (p *Python) python() string { return filepath.Join(p.dir, "bin", "python") }

// jars are those of pom.xml.
func (p *Python) jars() string { return filepath.Join(p.dir, "jars") }

// Jars is the class path of what Spark brings: Hadoop's client, and Java's
// readers of Parquet and Avro.
func (p *Python) Jars() (string, error) {
	found, err := filepath.Glob(filepath.Join(p.dir, "lib", "python3*", "site-packages", "pyspark", "jars"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("find Spark's jars in %s: %d folders, %w", p.dir, len(found), errors.Join(err, os.ErrNotExist))
	}
	return found[0] + "/*", nil
}
