// Command mutants shows that the tests would notice: it plants one bug at a time
// in a copy of the code and runs the tests that must fail then. A bug that they
// don't notice is a test that is missing.
//
// Each file of list/ is one bug:
//
//	what it does wrong, in words
//	file: the file it is in
//	test: arguments of go test
//	---
//	the text that is replaced, which the file has once
//	+++
//	what takes its place
//
// Nothing outside of the copy is written.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "plant the bugs alone whose file's name contains this")
	flag.Parse()
	if err := run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// mutant is one bug.
type mutant struct {
	name, what, file, test string
	old, new               string
}

func run(only string) error {
	names, err := filepath.Glob("tests/mutants/list/*")
	if err != nil || len(names) == 0 {
		return errors.Join(errors.New("no bugs are listed: run it at the root of the repository"), err)
	}
	dir, err := copyOfTheCode()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	survived := 0
	for _, name := range names {
		if !strings.Contains(filepath.Base(name), only) {
			continue
		}
		m, err := parse(name)
		if err != nil {
			return err
		}
		began := time.Now()
		by, err := m.try(dir)
		switch {
		case err != nil:
			survived++
			by = "NOT PLANTED " + err.Error()
		case by == "":
			survived++
			by = "SURVIVED " + m.test
		}
		fmt.Printf("%-32s %4.0fs  %s\n%34s%s\n", m.name, time.Since(began).Seconds(), m.what, "", by)
	}
	if survived > 0 {
		return fmt.Errorf("%d bugs weren't noticed or couldn't be planted", survived)
	}
	return nil
}

// copyOfTheCode copies what git knows of the working tree.
func copyOfTheCode() (string, error) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return "", fmt.Errorf("list the code: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return "", err
	}
	for _, name := range strings.Split(strings.Trim(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not yet committed so
		}
		to := filepath.Join(dir, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, content, 0o644)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

func parse(name string) (m mutant, err error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	head, change, ok := strings.Cut(string(content), "\n---\n")
	old, new, ok2 := strings.Cut(change, "+++\n")
	lines := strings.Split(head, "\n")
	if !ok || !ok2 || len(lines) != 3 {
		return m, fmt.Errorf("%s: it isn't written as this command's comment says", name)
	}
	m = mutant{name: filepath.Base(name), what: lines[0], old: old, new: new}
	m.file = strings.TrimSpace(strings.TrimPrefix(lines[1], "file:"))
	m.test = strings.TrimSpace(strings.TrimPrefix(lines[2], "test:"))
	return m, nil
}

// try plants the bug, runs its tests and takes it out again. It answers which
// test failed, "" if none did.
func (m *mutant) try(dir string) (by string, err error) {
	path := filepath.Join(dir, m.file)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(content), m.old); n != 1 {
		return "", fmt.Errorf("%s has the text %d times and not once", m.file, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), m.old, m.new, 1)), 0o644); err != nil {
		return "", err
	}
	test := exec.Command("go", append([]string{"test", "-count=1", "-failfast", "-timeout=10m"}, strings.Fields(m.test)...)...)
	test.Dir = dir
	out, testErr := test.CombinedOutput()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return "", err
	}
	if testErr == nil {
		return "", nil
	}
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		return "", fmt.Errorf("the code with the bug isn't built:\n%s", out)
	}
	return firstFailure(string(out)), nil
}

// firstFailure is the name of the first test that failed.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
	}
	if strings.Contains(out, "panic: test timed out") {
		return "a test that didn't end"
	}
	return "a panic"
}
