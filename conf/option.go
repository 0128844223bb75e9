package conf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// None is what a user writes for an empty value, since Fluent Bit hands an
// empty one on as unset.
const None = "none"

// Kind is the type of an option's value.
type Kind string

// The kinds of values.
const (
	Text     Kind = "text"
	Path     Kind = "path"
	Size     Kind = "size"
	Duration Kind = "duration"
	Number   Kind = "number"
	Choice   Kind = "choice"
	Boolean  Kind = "boolean"
	Mode     Kind = "mode"
	List     Kind = "list"
	Accessor Kind = "accessor"
)

// Option declares one key.
type Option struct {
	Key         string
	Group       string // what it is about, for the reference
	Kind        Kind
	Default     string   // as a user would write it; "" is none
	DefaultText string   // for the reference, where Default doesn't say it all
	Allowed     []string // of a Choice, all of its values
	Help        string   // one or two sentences for the reference
	Example     string
	Required    bool
	Empty       bool   // None is allowed
	Secret      bool   // the value is shown nowhere
	Scheme      string // for file systems of this scheme only; other schemes have the same key

	parse  func(s *Settings, text string) error
	render func(s *Settings) (text string, ok bool) // !ok leaves the key unset
	// ofFormat is set for an option of some formats only: where effective is
	// false of the settings, it is warned of and forgotten.
	ofFormat  bool
	effective func(*Settings) bool // nil is always
}

func (o *Option) allows(value string) bool { return slices.Contains(o.Allowed, value) }

// where leaves the key unset in renderings of settings that it has no effect
// on, since check takes it for a mistake there.
func (o Option) where(effective func(*Settings) bool) Option {
	render := o.render
	o.effective = effective
	o.render = func(s *Settings) (string, bool) {
		text, ok := render(s)
		return text, ok && effective(s)
	}
	return o
}

// of says which formats the option belongs to.
func (o Option) of(formats func(*Settings) bool) Option {
	o = o.where(formats)
	o.ofFormat = true
	return o
}

// choice makes o take one of its allowed values, in any case.
func (o Option) choice(at func(*Settings) *string, allowed ...string) Option {
	o.Kind, o.Allowed = Choice, allowed
	o.parse = func(s *Settings, text string) error {
		value := strings.ToLower(text)
		if !o.allows(value) {
			return fmt.Errorf("use one of %s", strings.Join(allowed, ", "))
		}
		*at(s) = value
		return nil
	}
	o.render = func(s *Settings) (string, bool) { return *at(s), true }
	return o
}

// text makes o take what check lets through; check may change the text.
func (o Option) text(at func(*Settings) *string, check func(string) (string, error)) Option {
	o.parse = func(s *Settings, text string) error {
		checked, err := check(text)
		if err == nil {
			*at(s) = checked
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) {
		if o.Empty && *at(s) == "" {
			return None, true
		}
		return *at(s), *at(s) != ""
	}
	return o
}

func (o Option) size(at func(*Settings) *int64, least int64) Option {
	o.Kind = Size
	o.parse = func(s *Settings, text string) error {
		v, err := parseSize(text)
		if err == nil && v < least {
			err = fmt.Errorf("it must be at least %s", formatSize(least))
		}
		if err == nil {
			*at(s) = v
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) { return formatSize(*at(s)), true }
	return o
}

func (o Option) duration(at func(*Settings) *time.Duration, least, most time.Duration) Option {
	o.Kind = Duration
	o.parse = func(s *Settings, text string) error {
		v, err := parseDuration(text, time.Second)
		switch {
		case err != nil:
		case v < least:
			err = fmt.Errorf("it must be at least %s", formatDuration(least))
		case v > most:
			err = fmt.Errorf("it must be at most %s", formatDuration(most))
		default:
			*at(s) = v
		}
		return err
	}
	o.render = func(s *Settings) (string, bool) { return formatDuration(*at(s)), true }
	return o
}

func (o Option) number(at func(*Settings) *int, least, most int) Option {
	o.Kind = Number
	o.parse = func(s *Settings, text string) error {
		v, err := strconv.Atoi(text)
		if err != nil || v < least || v > most {
			return fmt.Errorf("use a whole number from %d to %d", least, most)
		}
		*at(s) = v
		return nil
	}
	o.render = func(s *Settings) (string, bool) { return strconv.Itoa(*at(s)), true }
	return o
}

func (o Option) flag(at func(*Settings) *bool) Option {
	o.Kind = Boolean
	o.parse = func(s *Settings, text string) error {
		v, ok := parseBool(text)
		if !ok {
			return errors.New("use true or false")
		}
		*at(s) = v
		return nil
	}
	o.render = func(s *Settings) (string, bool) { return strconv.FormatBool(*at(s)), true }
	return o
}

func (o Option) mode(at func(*Settings) *uint32, least uint32) Option {
	o.Kind, o.Empty = Mode, true
	o.parse = func(s *Settings, text string) error {
		v, err := uint64(0), error(nil)
		if text != "" {
			if v, err = strconv.ParseUint(strings.TrimPrefix(text, "0o"), 8, 32); err != nil || v > 0o777 || v == 0 {
				return fmt.Errorf("use octal permissions such as %s, or %s for the file system's default", o.Default, None)
			}
			if uint32(v)&least != least {
				return fmt.Errorf("the owner needs at least %04o", least)
			}
		}
		*at(s) = uint32(v)
		return nil
	}
	o.render = func(s *Settings) (string, bool) {
		if *at(s) == 0 {
			return None, true
		}
		return fmt.Sprintf("%04o", *at(s)), true
	}
	return o
}
