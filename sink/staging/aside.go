package staging

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// asideDir receives staged files that aren't what was journaled, or that no part
// names after damage. What is in it is an operator's.
const asideDir = "aside"

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
		aside := path.Join(asideDir, path.Base(name))
		if _, err := a.size(aside); err == nil {
			return a.stateDir + "/" + aside, nil
		}
		return a.stateDir + "/" + name, nil
	case err != nil:
		return "", fmt.Errorf("set the damaged staged file of part %d aside: %w", part, err)
	}
	return where, nil
}

// moveAside replaces nothing.
func (a *Area) moveAside(name string) (where string, err error) {
	if err := errors.Join(a.disk.Mkdir(asideDir), a.disk.SyncDir(".")); err != nil {
		return "", err
	}
	names, err := a.disk.List(asideDir)
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
	if err := a.disk.Rename(name, path.Join(asideDir, free)); err != nil {
		return "", err
	}
	for _, d := range []string{asideDir, dir} { // in this order: the old name must not be the one that goes
		if err := a.disk.SyncDir(d); err != nil {
			return "", err
		}
	}
	return a.stateDir + "/" + path.Join(asideDir, free), nil
}
