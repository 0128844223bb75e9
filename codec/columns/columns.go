// Package columns is the list of columns that a user names for a format of
// rows, and what each holds of an event.
//
// A list is separated by commas. A column is one of
//
//	name                     the record's top-level key
//	$accessor                a value within the record, or the tag
//	name=$accessor           the same under another name
//
// A plain name means what it means in a line of JSON: the record's own field,
// or, if it has none of that name, the date, the tag, the metadata or the group
// if that is their key.
// The name of an accessor is its keys with dots between them: $a['b'][0] is
// a.b.0, and $TAG[1] is tag.1.
package columns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/out-hdfs/out_hdfs/codec/event"
)

// ErrList is wrapped by Parse's errors.
var ErrList = errors.New("not a list of columns")

// Column is one of them. It is immutable and safe for concurrent use.
type Column struct {
	Name  string
	value *event.Accessor
	// plain columns fall back on what lies outside the record under their name.
	plain bool
}

// IsPlain reports whether the column is a name alone.
func (c *Column) IsPlain() bool { return c.plain }

// Parse reads a list. Of an empty one it returns none.
func Parse(list string) ([]Column, error) {
	var all []Column
	rest := strings.TrimSpace(list)
	for rest != "" {
		c, after, err := parseOne(rest)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.Name == c.Name {
				return nil, fmt.Errorf("%w: two columns are named %q; rename one as in other=$key", ErrList, c.Name)
			}
		}
		all = append(all, c)
		if after = strings.TrimSpace(after); after == "" {
			return all, nil
		}
		if after[0] != ',' {
			return nil, fmt.Errorf("%w: a comma is missing before %q", ErrList, after)
		}
		if rest = strings.TrimSpace(after[1:]); rest == "" {
			return nil, fmt.Errorf("%w: nothing follows the last comma", ErrList)
		}
	}
	return all, nil
}

// parseOne reads the column that s begins with.
func parseOne(s string) (c Column, rest string, err error) {
	if s[0] != '$' {
		end := strings.IndexAny(s, ",=")
		if end < 0 {
			end = len(s)
		}
		name := strings.TrimSpace(s[:end])
		rest = s[end:]
		if name == "" {
			return c, s, fmt.Errorf("%w: a column before %q has no name", ErrList, rest)
		}
		if !strings.HasPrefix(rest, "=") {
			return Column{Name: name, value: event.NewKey(name), plain: true}, rest, nil
		}
		c.Name, s = name, strings.TrimSpace(rest[1:])
	}
	if c.value, rest, err = event.ParsePrefix(s); err != nil {
		return c, s, fmt.Errorf("%w: %w", ErrList, err)
	}
	if c.Name == "" {
		c.Name = dotted(c.value)
	}
	return c, rest, nil
}

// dotted is an accessor's keys with dots between them.
func dotted(a *event.Accessor) string {
	if key, ok := a.Key(); ok {
		return key
	}
	key, rest := cutStep(a.String()[1:])
	if a.IsTag() {
		key = "tag"
	}
	for rest != "" {
		var next string
		next, rest = cutStep(rest)
		key += "." + next
	}
	return key
}

// cutStep cuts the first key or index off a sound accessor, whose $ is cut.
func cutStep(text string) (step, rest string) {
	if text[0] != '[' {
		end := strings.IndexByte(text, '[')
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:]
	}
	quote := text[1]
	if quote != '\'' && quote != '"' {
		step, rest, _ = strings.Cut(text[1:], "]")
		return step, rest
	}
	var key strings.Builder
	for i := 2; ; i++ {
		if text[i] == quote {
			if i++; text[i] != quote { // it is the bracket
				return key.String(), text[i+1:]
			}
		}
		key.WriteByte(text[i])
	}
}
