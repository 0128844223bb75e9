package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// AsideDir receives staged files that aren't what was journaled, or that no part
// names after damage. What is in it is an operator's.
const AsideDir = "aside"

// SetAside moves a staged file out of the way, for good and for whoever wants to
// look at it. It answers where it is then, in words for an operator, and its size
// in bytes.
func (a *Area) SetAside(name string) (where string, size int64, err error) {
	size, err = a.size(name)
	if err == nil {
		where, err = a.moveAside(name)
	}
	if err != nil {
		return "", 0, fmt.Errorf("set staged file %s aside: %w", name, err)
	}
	return where, size, nil
}

func (a *Area) size(name string) (int64, error) {
	f, err := a.disk.Open(name)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// SetAsideOf moves the wrong staged file of a part out of the way, and answers
// where it is then: where it was, if it is missing there and wasn't set aside
// before.
func (a *Area) SetAsideOf(name string, part uint64) (string, error) {
	where, err := a.moveAside(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		aside := path.Join(AsideDir, path.Base(name))
		if _, err := a.size(aside); err == nil {
			return a.stateDir + "/" + aside, nil
		}
		return a.stateDir + "/" + name, nil
	case err != nil:
		return "", fmt.Errorf("set the damaged staged file of part %d aside: %w", part, err)
	}
	return where, nil
}

// Aside is the bytes of what was set aside.
func (a *Area) Aside() int64 { return a.aside.Load() }

// countAside counts what lies aside, which may be nothing.
func (a *Area) countAside() error {
	names, err := a.disk.List(AsideDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list what was set aside: %w", err)
	}
	total := int64(0)
	for _, n := range names {
		if size, err := a.size(path.Join(AsideDir, n)); err == nil {
			total += size
		}
	}
	a.aside.Store(total)
	return nil
}

// PurgeAside removes what was set aside, but for what keep says to keep of the
// numbers of parts.
func (a *Area) PurgeAside(keep func(part uint64) bool) error {
	names, err := a.disk.List(AsideDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list what was set aside: %w", err)
	}
	var errs []error
	for _, n := range names {
		number, _, _ := strings.Cut(n, ".")
		if part, err := strconv.ParseUint(number, 10, 64); err == nil && keep(part) {
			continue
		}
		if err := a.disk.Remove(path.Join(AsideDir, n)); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", path.Join(AsideDir, n), err))
		}
	}
	return errors.Join(append(errs, a.countAside())...)
}

// moveAside replaces nothing.
func (a *Area) moveAside(name string) (where string, err error) {
	size, err := a.size(name)
	if err != nil {
		return "", err
	}
	if err := errors.Join(a.disk.Mkdir(AsideDir), a.disk.SyncDir(".")); err != nil {
		return "", err
	}
	names, err := a.disk.List(AsideDir)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, n := range names {
		taken[n] = true
	}
	free := path.Base(name)
	for i := 1; taken[free]; i++ {
		free = fmt.Sprintf("%s.%d", path.Base(name), i)
	}
	if err := a.disk.Rename(name, path.Join(AsideDir, free)); err != nil {
		return "", err
	}
	a.aside.Add(size)
	for _, d := range []string{AsideDir, dir} { // in this order: the old name must not be the one that goes
		if err := a.disk.SyncDir(d); err != nil {
			return "", err
		}
	}
	return a.stateDir + "/" + path.Join(AsideDir, free), nil
}
