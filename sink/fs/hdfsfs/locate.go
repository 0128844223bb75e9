package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// Stat describes what is at p.
func (d *Driver) Stat(ctx context.Context, p string) (info fs.Info, err error) {
	err = d.read(ctx, "stat", p, func(s *session) error {
		info, err = stat(s.x, p)
		return err
	})
	if err != nil {
		return fs.Info{}, err
	}
	return info, nil
}

// Locate makes an edit, looks, and makes another edit, all on one session and so on
// one connection. A
// NameNode acknowledges an edit only once a majority of the journal has it, which
// a NameNode that was deposed can't get: so whoever acknowledged both was the
// active one all the time between, and what it says is missing is missing.
//
// An edit is the creation of an empty file of fixed name, without a block, or
// the removal of one that is there, left by a crash or by somebody who locates
// at the same time: either proves the same.
func (d *Driver) Locate(ctx context.Context, id fs.FileID, names ...string) (place fs.Place, err error) {
	dir, err := fs.CheckNames(names)
	if err != nil {
		return fs.Place{}, err
	}
	for _, name := range names {
		if err := checkPath("locate", name); err != nil {
			return fs.Place{}, err
		}
	}
	err = d.change(ctx, "locate", dir, func(s *session) error {
		place, err = s.locate(ctx, id, dir, names)
		return err
	})
	if err != nil {
		return fs.Place{}, err
	}
	return place, nil
}

// locate is Locate on one session. dir receives the marker, or what is left
// above it does.
func (s *session) locate(ctx context.Context, id fs.FileID, dir string, names []string) (fs.Place, error) {
	dir, err := s.existing(dir)
	if err != nil {
		return fs.Place{}, failed(ctx, "locate", dir, err, reading)
	}
	marker := path.Join(dir, markerName(s.c.user))
	if err := s.edit(marker); err != nil {
		return fs.Place{}, bracketFailed(ctx, marker, err)
	}
	place, err := s.look(ctx, id, names)
	if err != nil {
		_, _ = remove(s.x, marker) // or the next time; the look's error counts
		return fs.Place{}, err
	}
	err = s.edit(marker)
	if err == nil {
		_, err = remove(s.x, marker)
	}
	if err != nil {
		return fs.Place{}, bracketFailed(ctx, marker, err)
	}
	return place, nil
}

// look is what this session's NameNode says.
func (s *session) look(ctx context.Context, id fs.FileID, names []string) (fs.Place, error) {
	ask := func(p string, f func() (fs.Info, error)) (fs.Info, error) {
		if ctx.Err() != nil {
			return fs.Info{}, ended(ctx, "locate", p, nil)
		}
		info, err := f()
		if err != nil {
			return fs.Info{}, failed(ctx, "locate", p, err, reading)
		}
		return info, nil
	}
	return fs.LookUp(id, names, func(name string) (fs.Info, error) {
		return ask(name, func() (fs.Info, error) { return stat(s.x, name) })
	}, func(id fs.FileID) (fs.Info, error) {
		return ask(inodePath(id), func() (fs.Info, error) { return search(s.x, id) })
	})
}

// bracketFailed is the error of a bracket. Whatever it means for the marker, it
// says nothing about the names that are asked about.
func bracketFailed(ctx context.Context, marker string, err error) error {
	err = failed(ctx, "locate", marker, err, changing)
	var wrapped *fs.Error
	if errors.As(err, &wrapped) && (wrapped.Class == fs.Missing || wrapped.Class == fs.Exists) {
		wrapped.Class = fs.Unclear
	}
	return err
}

// markerName is the same for all that locate as one user, who may remove each
// other's files. It is frozen, since a marker may be another version's.
func markerName(user string) string {
	return ".out_hdfs.settle." + strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, user)
}

// existing is dir, or what is left above it.
func (s *session) existing(dir string) (string, error) {
	for {
		st, err := getFileInfo(s.x, dir)
		if err == nil && isDir(st) {
			return dir, nil
		}
		if err != nil && !nothingThere(err) || dir == "/" {
			return dir, err
		}
		dir = path.Dir(dir)
	}
}

// nothingThere says that a path leads to nothing: it isn't there, or it goes on
// below a file.
func nothingThere(err error) bool {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		name := remote.Exception()
		return exceptions[name].class == fs.Missing || name == parentNotDirectory
	}
	return errors.Is(err, errNothing)
}

// maxEdits bounds the tries of an edit. Each that comes to nothing is one in
// which somebody else located a file.
const maxEdits = 20

// edit returns nil after one acknowledged edit. The marker exists then or not.
func (s *session) edit(marker string) error {
	for range maxEdits {
		replication, blockSize, err := s.shape(fs.UploadOptions{})
		if err != nil {
			return err
		}
		_, err = s.client.CreateFile(marker, replication, blockSize, 0o600)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return err
		}
		if was, err := remove(s.x, marker); err != nil || was {
			return err
		}
	}
	return fmt.Errorf("others made and removed the marker %d times meanwhile", maxEdits)
}

// search describes the file with the identity. Where it is the NameNode doesn't
// say, but its name there: Path is that alone. A file that was moved to where
// this user may not look exists all the same; of it nothing but the identity is
// known, and Length is -1.
func search(x executor, id fs.FileID) (fs.Info, error) {
	info, err := stat(x, inodePath(id))
	info.Path = ""
	var remote hdfs.Error
	if errors.As(err, &remote) && remote.Exception() == accessControl {
		// A number that is nobody's is missing before rights are looked at.
		return fs.Info{ID: id, Length: -1}, nil
	}
	if err == nil {
		info.Path, err = nameOf(x, id)
	}
	return info, err
}

// nameOf is a file's name in the directory that it is in now, "" if that can't
// be had. It looks through the directory, which the NameNode finds as the parent
// of an inode.
func nameOf(x executor, id fs.FileID) (string, error) {
	for after, more := "", true; more; {
		entries, left, err := getListing(x, inodePath(id)+"/..", after)
		var remote hdfs.Error
		switch {
		case errors.As(err, &remote) && judge(remote, reading).class == fs.Path, nothingThere(err):
			return "", nil // we may not look there, or it is gone meanwhile
		case err != nil:
			return "", err
		}
		for _, e := range entries {
			if after = string(e.GetPath()); identity(e) == id {
				return after, nil
			}
		}
		more = left && len(entries) > 0
	}
	return "", nil
}
