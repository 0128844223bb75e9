// Package openfiles knows the error of a process, or of a system, that has as
// many files open as it may, and what an operator can do about it.
//
// Such an error says nothing about the disk or the target that met it, and
// passes as soon as some files are closed.
package openfiles

import (
	"errors"
	"syscall"
)

// Exhausted reports whether an error says that no file can be opened any more.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Raise is what an operator can do about the limit.
const Raise = "raise the agent's limit of open files: `ulimit -n`, or LimitNOFILE= of its systemd unit"

// Advice is what an operator can do about an error: Raise, or, if open files
// aren't the reason, what is given otherwise.
func Advice(err error, otherwise string) string {
	if Exhausted(err) {
		return Raise
	}
	return otherwise
}
