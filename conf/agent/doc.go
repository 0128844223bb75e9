// Package agent reads the configuration of a Fluent Bit agent, classic or YAML,
// and says what is wrong with its hdfs outputs: their own options, keys that
// nobody takes, and the settings around them on which the guarantee depends. A
// plugin can't see most of these: Fluent Bit shows it only the keys that it asks
// for, of its own output.
//
// It reads files and nothing else, keeps to what Fluent Bit 5.1 takes, and is
// safe for concurrent use.
package agent

import (
	"path/filepath"
	"strings"
)

// File is a configuration as far as outputs depend on it.
type File struct {
	Service Section
	Inputs  []Section
	Outputs []Section
}

// Section is the service, an input or an output.
type Section struct {
	File       string
	Line       int
	Properties []Property
	// Processors is true of an output whose records are changed on the way to it.
	Processors bool
}

// Property is a key and its value, as written but for variables.
type Property struct {
	Key, Value string
	Line       int
}

// Get is the value of a key, in any case, "" if it isn't set. Of several the
// first counts, as for Fluent Bit.
func (s *Section) Get(key string) string {
	for _, p := range s.Properties {
		if strings.EqualFold(p.Key, key) {
			return p.Value
		}
	}
	return ""
}

// line is where a key stands, and where the section does if it has none.
func (s *Section) line(key string) int {
	for _, p := range s.Properties {
		if strings.EqualFold(p.Key, key) {
			return p.Line
		}
	}
	return s.Line
}

// Getenv is os.Getenv, as the agent will see it.
type Getenv func(string) string

// Read reads a configuration with what it includes: YAML if its name ends so,
// else classic.
func Read(path string, getenv Getenv) (*File, error) {
	r := &reader{getenv: getenv, set: map[string]string{}, open: map[string]bool{}, out: &File{}}
	if err := r.read(path); err != nil {
		return nil, err
	}
	return r.out, nil
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}
