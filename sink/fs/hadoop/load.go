package hadoop

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// files are what a configuration directory is read for, the earlier first.
var files = []string{"core-site.xml", "hdfs-site.xml"}

// Locate returns the directory that Hadoop's configuration is in: given, if it
// isn't "", which then must have one; otherwise the first that has one of
// $HADOOP_CONF_DIR, $HADOOP_HOME/etc/hadoop and /etc/hadoop/conf. It returns ""
// if there is none.
func Locate(given string, s System) (string, error) {
	if given != "" {
		if !hasConfiguration(given) {
			return "", fmt.Errorf("hadoop_conf_dir %s has neither core-site.xml nor hdfs-site.xml that can be read", given)
		}
		return given, nil
	}
	candidates := []string{s.getenv("HADOOP_CONF_DIR"), "", "/etc/hadoop/conf"}
	if home := s.getenv("HADOOP_HOME"); home != "" {
		candidates[1] = filepath.Join(home, "etc", "hadoop")
	}
	for _, dir := range candidates {
		if dir != "" && hasConfiguration(dir) {
			return dir, nil
		}
	}
	return "", nil
}

func hasConfiguration(dir string) bool {
	for _, name := range files {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && !st.IsDir() {
			return true
		}
	}
	return false
}

// Load reads the configuration in dir; "" is an empty one. One of the files may
// be missing.
func Load(dir string, s System) (Conf, error) {
	b := builder{values: map[string]string{}, final: map[string]bool{}}
	if dir == "" {
		return New(nil, s), nil
	}
	for _, name := range files {
		file := filepath.Join(dir, name)
		f, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return Conf{}, fmt.Errorf("read Hadoop's configuration: %w", err)
		}
		err = errors.Join(b.read(f), f.Close())
		if err != nil {
			return Conf{}, fmt.Errorf("read Hadoop's configuration %s: %w", file, err)
		}
	}
	return New(b.values, s), nil
}

// Read reads one file's content.
func Read(r io.Reader, s System) (Conf, error) {
	b := builder{values: map[string]string{}, final: map[string]bool{}}
	if err := b.read(r); err != nil {
		return Conf{}, fmt.Errorf("read Hadoop's configuration: %w", err)
	}
	return New(b.values, s), nil
}

// builder lays files over each other.
type builder struct {
	values map[string]string
	final  map[string]bool
}

// maxFile bounds what is read of one file.
const maxFile = 16 << 20

// property is a <property>, whose parts may be attributes or elements.
type property struct {
	Name      *string `xml:"name"`
	Value     *string `xml:"value"`
	Final     string  `xml:"final"`
	NameAttr  *string `xml:"name,attr"`
	ValueAttr *string `xml:"value,attr"`
	FinalAttr string  `xml:"final,attr"`
}

var errInclude = errors.New("it uses XInclude, which isn't supported: put the properties into the file itself")

func (b *builder) read(r io.Reader) error {
	d := xml.NewDecoder(io.LimitReader(r, maxFile))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "ascii") {
			return in, nil
		}
		return nil, fmt.Errorf("encoding %q isn't supported: write it in UTF-8", charset)
	}
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF && roots > 0 {
			return nil
		}
		if err == io.EOF {
			return errors.New("it has no <configuration>")
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "property" && depth > 0 {
				if err := b.property(d, t); err != nil {
					return err
				}
				continue
			}
			if err := element(t, depth); err != nil {
				return err
			}
			depth++
			roots++
		case xml.EndElement:
			depth--
		}
	}
}

// element judges one that isn't a property: a configuration may be within
// another.
func element(t xml.StartElement, depth int) error {
	switch {
	case t.Name.Local == "include":
		return errInclude
	case t.Name.Local == "configuration":
		return nil
	case depth == 0:
		return fmt.Errorf("its root is <%s> and not <configuration>", t.Name.Local)
	}
	return nil
}

func (b *builder) property(d *xml.Decoder, t xml.StartElement) error {
	var p property
	if err := d.DecodeElement(&p, &t); err != nil {
		return err
	}
	name, value := p.Name, p.Value
	if name == nil {
		name = p.NameAttr
	}
	if value == nil {
		value = p.ValueAttr
	}
	if name == nil || value == nil || strings.TrimSpace(*name) == "" {
		return nil // as Hadoop does: it says nothing
	}
	key := current(strings.TrimSpace(*name))
	if b.final[key] {
		return nil
	}
	b.values[key] = *value
	if strings.TrimSpace(p.Final) == "true" || p.FinalAttr == "true" {
		b.final[key] = true
	}
	return nil
}
