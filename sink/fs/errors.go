package fs

import (
	"errors"
	"fmt"
)

// Class is what an error means for the caller. Drivers classify, so that
// nobody else looks at an error's text.
type Class int

const (
	// Unclear: the operation may or may not have taken effect, now or later.
	// It is also the class of an error that nobody classified.
	Unclear Class = iota
	// Exists: there already is something at the path. Nothing was changed.
	Exists
	// Missing: there is nothing at the path. Nothing was changed.
	Missing
	// Path: the target refused this path (quota, permission, a file where a
	// directory should be, a name too long). Other paths may work, and this one
	// will once an operator has acted. Nothing was changed.
	Path
	// Target: the target as a whole can't be reached or refuses everything
	// (connection refused, safe mode, standby). It heals on its own or by an
	// operator. Nothing was changed.
	Target
	// Unsupported: the driver or the target can't do this at all.
	Unsupported
)

func (c Class) String() string {
	return [...]string{"unclear", "exists", "missing", "path", "target", "unsupported"}[c]
}

// Error is an error of a Client or Driver: what was being done, to which path, and
// what that means.
type Error struct {
	Op    string
	Path  string
	Class Class
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of the outermost Error in err's chain, Unclear without
// one. It panics on nil, since success has no class.
func ClassOf(err error) Class {
	if err == nil {
		panic("fs: ClassOf(nil)")
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Unclear
}
