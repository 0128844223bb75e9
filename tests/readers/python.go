package readers

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

//go:embed requirements.txt
var requirements []byte

//go:embed read.py
var script string

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
	sum := sha256.Sum256(requirements)
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
	list := filepath.Join(filepath.Dir(p.dir), "venv-requirements.txt")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", p.dir},
		{p.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", list},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("install the readers (python3 with venv is needed, and a package index): %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func (p *Python) python() string { return filepath.Join(p.dir, "bin", "python") }

// Jars is the class path of the Hadoop client that Spark brings.
func (p *Python) Jars() (string, error) {
	found, err := filepath.Glob(filepath.Join(p.dir, "lib", "python3*", "site-packages", "pyspark", "jars"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("find Spark's jars in %s: %d folders, %w", p.dir, len(found), errors.Join(err, os.ErrNotExist))
	}
	return found[0] + "/*", nil
}

// Job is some files of one format for a reader.
type Job struct {
	Format  string         `json:"format"`
	Files   []string       `json:"files"`
	Options map[string]any `json:"options,omitempty"`
}

// Found is what a reader says of one record, or why it couldn't read a file.
type Found struct {
	Job    int             `json:"job"`
	File   string          `json:"file"`
	Record json.RawMessage `json:"record"` // canonical, as read.py has it
	Error  string          `json:"error"`
}

// Read runs one reader on the jobs. What it finds is in the order of the jobs,
// their files and the records in them.
func (p *Python) Read(ctx context.Context, reader string, jobs []Job) ([]Found, error) {
	input, err := json.Marshal(jobs)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "out_hdfs-readers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.CommandContext(ctx, p.python(), "-c", script, reader)
	cmd.Env = append(os.Environ(), "READERS_TMP="+tmp, "PYSPARK_PYTHON="+p.python(), "PYTHONIOENCODING=utf-8", "TZ=UTC")
	// Spark's JVM is a child of the child, and ends with its group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, diagnosis bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &diagnosis
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", reader, err, diagnosis.Bytes())
	}
	return parse(&out)
}

func parse(r io.Reader) (all []Found, err error) {
	d := json.NewDecoder(r)
	for {
		var f Found
		switch err := d.Decode(&f); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("what a reader said: %w", err)
		}
		all = append(all, f)
	}
}
