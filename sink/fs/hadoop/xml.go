package hadoop

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxFile bounds what is read of one file.
	maxFile = 16 << 20
	// maxIncludes bounds how deep files include each other, so that those that
	// include themselves are told and not followed.
	maxIncludes = 16
)

// reader lays files over each other, in the order in which they are read.
type reader struct {
	values map[string]string
	final  map[string]bool
	files  []string // that were read, those that were included too
}

func newReader() *reader { return &reader{values: map[string]string{}, final: map[string]bool{}} }

// property is a <property>, whose parts may be attributes or elements.
type property struct {
	Name      *string `xml:"name"`
	Value     *string `xml:"value"`
	Final     string  `xml:"final"`
	NameAttr  *string `xml:"name,attr"`
	ValueAttr *string `xml:"value,attr"`
	FinalAttr string  `xml:"final,attr"`
}

// file reads one file; os.ErrNotExist if it isn't there.
func (r *reader) file(name, base string, depth int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	r.files = append(r.files, name)
	return errors.Join(r.document(f, base, depth), f.Close())
}

// document reads one document. What it includes by a relative name is looked for
// in base.
func (r *reader) document(in io.Reader, base string, depth int) error {
	d, err := decoder(io.LimitReader(in, maxFile))
	if err != nil {
		return err
	}
	level, roots := 0, 0
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
			if level == 0 && t.Name.Local != "configuration" {
				return fmt.Errorf("its root is <%s> and not <configuration>", t.Name.Local)
			}
			inner, err := r.element(d, t, base, depth)
			if err != nil {
				return err
			}
			if !inner {
				level++
				roots++
			}
		case xml.EndElement:
			level--
		}
	}
}

// element takes an element within the root. It reports whether it has read the
// element up to its end: otherwise what is in it comes next.
func (r *reader) element(d *xml.Decoder, t xml.StartElement, base string, depth int) (whole bool, err error) {
	switch t.Name.Local {
	case "property":
		return true, r.property(d, t)
	case "include":
		return true, r.include(d, t, base, depth)
	}
	return false, nil
}

func (r *reader) property(d *xml.Decoder, t xml.StartElement) error {
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
	if r.final[key] {
		return nil
	}
	r.values[key] = *value
	if strings.TrimSpace(p.Final) == "true" || p.FinalAttr == "true" {
		r.final[key] = true
	}
	return nil
}

// include reads the file that an XInclude element names, or what is in its
// fallback if that file isn't there. An element without href includes nothing,
// as in Hadoop.
func (r *reader) include(d *xml.Decoder, t xml.StartElement, base string, depth int) error {
	i := slices.IndexFunc(t.Attr, func(a xml.Attr) bool { return a.Name.Local == "href" })
	if i < 0 {
		return d.Skip()
	}
	href := t.Attr[i].Value
	name, err := includedFile(href, base)
	if err != nil {
		return fmt.Errorf("include of %q: %w", href, err)
	}
	if depth >= maxIncludes {
		return fmt.Errorf("include of %q: files include each other more than %d deep", href, maxIncludes)
	}
	err = r.file(name, base, depth+1)
	missing := errors.Is(err, os.ErrNotExist)
	if err != nil && !missing {
		return fmt.Errorf("include of %q: %w", href, err)
	}
	return r.fallback(d, href, name, missing, base, depth)
}

// includedFile is the local file that an href leads to.
func includedFile(href, base string) (string, error) {
	u, err := url.Parse(href)
	switch {
	case err != nil:
		return "", err
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost"):
		return u.Path, nil
	case u.Scheme != "":
		return "", fmt.Errorf("only local files can be included: copy it to this machine and name it there, or put its properties into the file itself")
	case filepath.IsAbs(href):
		return href, nil
	case base == "":
		return "", errors.New("a relative name can't be looked up, since the configuration is no file")
	}
	return filepath.Join(base, href), nil
}

// fallback reads an include element up to its end. What is in its fallback counts
// if the file is missing.
func (r *reader) fallback(d *xml.Decoder, href, name string, missing bool, base string, depth int) error {
	found := false
	for level := 1; level > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			found = found || t.Name.Local == "fallback"
			whole := !missing
			if missing {
				whole, err = r.element(d, t, base, depth)
			} else {
				err = d.Skip()
			}
			if err != nil {
				return err
			}
			if !whole {
				level++
			}
		case xml.EndElement:
			level--
		}
	}
	if missing && !found {
		return fmt.Errorf("include of %q: %s isn't there, and the include has no fallback", href, name)
	}
	return nil
}
