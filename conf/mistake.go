package conf

import "strconv"

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	Key    string
	Value  string // as given, or the default that can't hold
	Secret bool   // the value isn't shown
	Err    error  // why, and what is allowed
}

// longestShown is how much of a value an error shows, in bytes.
const longestShown = 120

func (m *Mistake) Error() string {
	switch {
	case m.Value == "":
		return m.Key + ": " + m.Err.Error()
	case m.Secret:
		return m.Key + " (not shown): " + m.Err.Error()
	case len(m.Value) > longestShown:
		return m.Key + " " + strconv.Quote(m.Value[:longestShown]) + "…: " + m.Err.Error()
	}
	return m.Key + " " + strconv.Quote(m.Value) + ": " + m.Err.Error()
}

func (m *Mistake) Unwrap() error { return m.Err }
