package conf

import "fmt"

// check looks at what only several keys together tell. What concerns a key
// that was refused already isn't reported twice.
func (p *parsing) check() {
	p.settings.State.DirIsDefault = p.given[KeyStateDir] == ""
	p.checkZone()
	p.checkTarget()
	p.checkAssigner()
	p.checkRolling()
	p.checkNames()
	p.checkState()
	p.checkFormat()
	p.checkDelivery()
	p.checkKerberos()
}

func (p *parsing) wrong(key string, format string, args ...any) {
	if p.failed[key] {
		return
	}
	p.failed[key] = true
	p.mistakes = append(p.mistakes, &Mistake{Key: key, Value: p.given[key], Err: fmt.Errorf(format, args...)})
}

// noEffect refuses an option that another one, as it is set, leaves without use,
// and says what that one would have to be.
func (p *parsing) noEffect(key, other, is, needed string) {
	p.wrong(key, "it has no effect with %s %s; leave it out or set %s %s", other, is, other, needed)
}

func (p *parsing) warn(key, format string, args ...any) {
	if !p.failed[key] {
		p.warnings = append(p.warnings, key+": "+fmt.Sprintf(format, args...))
	}
}

func (p *parsing) has(key string) bool { return p.given[key] != "" }

// plain takes any text that a line of a log can show.
func plain(text string) (string, error) { return text, checkPlain(text) }
