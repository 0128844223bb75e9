package readers

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

//go:embed read.py
var script string

//go:embed Read.java
var program []byte

// Job is some files of one format for a reader.
type Job struct {
	Format  string         `json:"format"`
	Files   []string       `json:"files"`
	Options map[string]any `json:"options,omitempty"`
}

// Found is what a reader says: one record, the schema in the file that the
// next are of, or why it couldn't read a file.
type Found struct {
	Job    int             `json:"job"`
	File   string          `json:"file"`
	Record json.RawMessage `json:"record"` // canonical, as read.py has it
	Schema string          `json:"schema"`
	Error  string          `json:"error"`
}

// Java is the reader of Read.java; the others are those of read.py.
const Java = "java"

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
	cmd, err := p.command(ctx, reader, tmp)
	if err != nil {
		return nil, err
	}
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

func (p *Python) command(ctx context.Context, reader, tmp string) (*exec.Cmd, error) {
	if reader == Java {
		jars, err := p.Jars()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(tmp, "Read.java")
		if err := os.WriteFile(file, program, 0o644); err != nil {
			return nil, err
		}
		return java(ctx, tmp, jars, file)
	}
	more, err := filepath.Glob(filepath.Join(p.jars(), "*.jar"))
	if err != nil || len(more) == 0 {
		return nil, fmt.Errorf("find jars in %s: %w", p.jars(), errors.Join(err, os.ErrNotExist))
	}
	cmd := exec.CommandContext(ctx, p.python(), "-c", script, reader)
	cmd.Env = append(os.Environ(), "READERS_TMP="+tmp, "READERS_JARS="+strings.Join(more, ","),
		"PYSPARK_PYTHON="+p.python(), "PYTHONIOENCODING=utf-8", "TZ=UTC")
	return cmd, nil
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
