package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// reader gathers the sections of a file and of those that it includes.
type reader struct {
	getenv Getenv
	set    map[string]string // @SET and env
	open   map[string]bool   // files that are being read, by path
	out    *File
}

func (r *reader) read(path string) error {
	if r.open[path] {
		return fmt.Errorf("%s includes itself", path)
	}
	r.open[path] = true
	defer delete(r.open, path)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if isYAML(path) {
		return r.yaml(path, content)
	}
	return r.classic(path, content)
}

// include reads the files of a pattern, relative to the one that names it.
func (r *reader) include(from, pattern string) error {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(filepath.Dir(from), pattern)
	}
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 && !strings.ContainsAny(pattern, "*?[") {
		err = fmt.Errorf("%s: %w", pattern, os.ErrNotExist)
	}
	for i := 0; i < len(files) && err == nil; i++ {
		err = r.read(files[i])
	}
	return err
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand replaces ${NAME}: of the configuration's own variables first, then of
// the environment; one that isn't set is empty.
func (r *reader) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(v string) string {
		name := v[2 : len(v)-1]
		if value, ok := r.set[name]; ok {
			return value
		}
		return r.getenv(name)
	})
}

// add keeps a section of a kind that matters.
func (r *reader) add(kind string, s Section) {
	switch strings.ToLower(kind) {
	case "service":
		r.out.Service.Properties = append(r.out.Service.Properties, s.Properties...)
		if r.out.Service.File == "" {
			r.out.Service.File, r.out.Service.Line = s.File, s.Line
		}
	case "input":
		r.out.Inputs = append(r.out.Inputs, s)
	case "output":
		r.out.Outputs = append(r.out.Outputs, s)
	}
}

// classic reads the classic format: [SECTION] lines, and below them indented
// lines of a key, blanks and a value.
func (r *reader) classic(path string, content []byte) error {
	var section *Section
	var kind string
	end := func() {
		if section != nil {
			r.add(kind, *section)
		}
		section = nil
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		fail := func(what string) error { return fmt.Errorf("%s:%d: %s: %q", path, n, what, text) }
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case strings.HasPrefix(text, "@"):
			if err := r.command(path, text); err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
		case strings.HasPrefix(text, "["):
			if !strings.HasSuffix(text, "]") {
				return fail("a section isn't closed")
			}
			end()
			kind, section = strings.Trim(text, "[] "), &Section{File: path, Line: n}
		case section == nil:
			return fail("a key outside of a section")
		default:
			key, value := cutBlank(text)
			if value == "" {
				return fail("Fluent Bit doesn't start with a key that has no value")
			}
			section.Properties = append(section.Properties, Property{key, r.expand(value), n})
		}
	}
	end()
	return lines.Err()
}

func cutBlank(text string) (before, after string) {
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// command obeys @INCLUDE and @SET.
func (r *reader) command(path, text string) error {
	command, rest := cutBlank(text)
	switch strings.ToUpper(command) {
	case "@INCLUDE":
		return r.include(path, r.expand(rest))
	case "@SET":
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return errors.New("@SET takes NAME=VALUE")
		}
		r.set[strings.TrimSpace(name)] = strings.TrimSpace(value)
		return nil
	}
	return fmt.Errorf("%s isn't a command", command)
}
