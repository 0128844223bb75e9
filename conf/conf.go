// Package conf turns what a user wrote into Settings.
//
// One table (Options) declares every key: its kind, default, allowed values
// and help. Parsing, checking, rendering back and the README's reference all
// follow it. Parse reports every mistake at once, each with its key, the value
// and what is allowed, and Settings have nothing left to parse: whoever builds
// the sink only joins the parts.
//
// It touches nothing, no file and no environment, but through what Environment
// hands it, and holds no state.
package conf

import (
	"errors"
	"strings"
)

// Lookup answers with the value of a key, "" if it isn't set. Fluent Bit's own
// look-up is case-insensitive and has already expanded ${VARIABLES}.
type Lookup func(key string) string

// Environment is what the meaning of a configuration depends on beside its
// keys.
type Environment struct {
	Formats []string // the names of the formats that are built in
	Schemes []string // the schemes of the file systems that are built in
	// OpenSchema reads a given schema, whose mistakes are the configuration's.
	OpenSchema SchemaOpener
	// DefaultFS is Hadoop's fs.defaultFS, "" if no Hadoop configuration was
	// found. It applies where default_scheme isn't set.
	DefaultFS string
	// DefaultFSErr is why DefaultFS can't be told although there is a Hadoop
	// configuration: a path without a scheme is then a mistake, since it may be
	// meant for HDFS.
	DefaultFSErr error
	// Mounted is where Hadoop's configuration says that a path of a viewfs mount
	// table leads to, "" if it doesn't; nil if there is no configuration.
	Mounted func(table, path string) string
	// StateDirectory is $STATE_DIRECTORY, which systemd sets: directories
	// separated by colons, of which the first counts.
	StateDirectory string
	// Timezone is $TZ, by which the host's zone is another than its own; "" if it
	// isn't set.
	Timezone string
}

// Map is a Lookup in a map, with keys in any case.
func Map(values map[string]string) Lookup {
	lower := make(map[string]string, len(values))
	for k, v := range values {
		lower[strings.ToLower(k)] = v
	}
	return func(key string) string { return lower[strings.ToLower(key)] }
}

// Parse reads all keys of the table. On an error the Settings don't count; the
// error joins one *Mistake for each thing that is wrong. Warnings are for the
// log: what is allowed but probably not meant.
func Parse(lookup Lookup, env Environment) (s Settings, warnings []string, err error) {
	p := parsing{env: env, given: map[string]string{}, failed: map[string]bool{}}
	for _, o := range Options(env) {
		p.option(o, lookup(o.Key))
	}
	p.check()
	if len(p.mistakes) > 0 {
		return Settings{}, nil, errors.Join(p.mistakes...)
	}
	return p.settings, p.warnings, nil
}

// parsing is one run of Parse.
type parsing struct {
	env      Environment
	settings Settings
	given    map[string]string // what the user set, by key
	failed   map[string]bool   // keys whose value was refused
	mistakes []error
	warnings []string
}

// option takes one key's value, or its default.
func (p *parsing) option(o Option, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		if o.Default == "" {
			if o.Required {
				p.mistake(o, "", errors.New("it must be set"))
			}
			return
		}
		if err := o.parse(&p.settings, o.Default); err != nil {
			p.mistake(o, o.Default, err)
		}
		return
	}
	p.given[o.Key] = text
	if err := checkQuotes(text); err != nil {
		p.mistake(o, text, err)
		return
	}
	if strings.EqualFold(text, None) && !o.allows(None) {
		if !o.Empty {
			p.mistake(o, text, errors.New("it can't be empty"))
			return
		}
		text = ""
	}
	if err := o.parse(&p.settings, text); err != nil {
		p.mistake(o, text, err)
	}
}

func (p *parsing) mistake(o Option, value string, err error) {
	p.failed[o.Key] = true
	p.mistakes = append(p.mistakes, &Mistake{Key: o.Key, Value: value, Secret: o.Secret, Err: err})
}
