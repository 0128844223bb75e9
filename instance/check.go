package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
)

// Check is what a configuration comes to, as Open would take it. Nothing of the
// state directory is read or made.
type Check struct {
	Target   fs.Location
	Warnings []string
	// ConfDir is where Hadoop's configuration was found, "" if nowhere, and Files
	// what was read of it.
	ConfDir string
	Files   []string
	// HDFS is set for a target on HDFS.
	HDFS *hdfsfs.Description

	open   func(ctx context.Context, target string) (*fs.Client, error)
	upload fs.UploadOptions
}

// NewCheck reads an instance's configuration. The error joins everything that is
// wrong with it.
func NewCheck(lookup conf.Lookup, sys System) (*Check, error) {
	s, _, hadoop, warnings, err := settle(lookup, sys)
	if err != nil {
		return nil, err
	}
	c := &Check{
		Target: s.Target.Location, Warnings: warnings, ConfDir: hadoop.dir, Files: hadoop.hadoop.Files(),
		open: openTarget(&s, sys.Registry, hadoop), upload: uploadOptions(&s),
	}
	if s.Target.Location.Scheme == schemeHDFS {
		d, err := hadoop.describe(&s)
		if err != nil {
			return nil, err
		}
		c.HDFS = &d
	}
	return c, nil
}

// Step is one thing that a sink must be able to do on its target.
type Step struct {
	Name string
	Err  error // nil if it can
}

// Connect does on the target what a sink does for a part, with a file of its own
// in the base path, and tells of each step as it is over. It ends at the first
// step that fails, and removes its file all the same. The base path is made if
// it is missing, as a sink would.
func (c *Check) Connect(ctx context.Context, tell func(Step)) error {
	client, err := c.open(ctx, c.Target.Scheme+"://"+c.Target.Authority)
	tell(Step{"connect to " + c.Target.Scheme + "://" + c.Target.Authority, err})
	if err != nil {
		return err
	}
	t := trial{client, c.upload, path.Join(c.Target.Path, ".out_hdfs.check."+strings.ToLower(rand.Text())), tell}
	return errors.Join(t.run(ctx), client.Close())
}

// trial is one run of Connect.
type trial struct {
	client *fs.Client
	upload fs.UploadOptions
	name   string
	tell   func(Step)
}

const trialContent = "This file is a trial of out-hdfs check and may be removed.\n"

func (t *trial) run(ctx context.Context) error {
	renamed := t.name + ".renamed"
	var info fs.Info
	left := ""
	for _, step := range []struct {
		name string
		try  func() error
	}{
		{"create and write a file in " + path.Dir(t.name), func() (err error) {
			left = t.name
			info, err = t.client.Upload(ctx, strings.NewReader(trialContent), t.name, t.upload)
			return err
		}},
		{"rename it", func() error {
			return t.client.Publish(ctx, info, renamed, fs.PublishOptions{DirMode: t.upload.DirMode})
		}},
		{"find it by its id", func() error { return t.find(ctx, info.ID, renamed, &left) }},
		{"remove it", func() error {
			err := t.client.Discard(ctx, left)
			if err == nil {
				left = ""
			}
			return err
		}},
	} {
		err := step.try()
		t.tell(Step{step.name, err})
		if err != nil {
			return errors.Join(err, t.clean(ctx, left, renamed))
		}
	}
	return nil
}

// find looks for the renamed file under its former name and by its id.
func (t *trial) find(ctx context.Context, id fs.FileID, renamed string, left *string) error {
	*left = renamed
	place, err := t.client.Locate(ctx, id, t.name)
	switch {
	case err != nil:
		return err
	case place.Names[0].Exists:
		return fmt.Errorf("%s is still there after it was renamed", t.name)
	case place.Searched && !place.Elsewhere.Exists:
		return fmt.Errorf("nothing has the id %s of %s", id, renamed)
	}
	return nil
}

// clean removes what a step that failed may have left.
func (t *trial) clean(ctx context.Context, names ...string) error {
	var errs []error
	for _, name := range names {
		if name == "" {
			continue
		}
		if err := t.client.Discard(ctx, name); err != nil && fs.ClassOf(err) != fs.Missing {
			errs = append(errs, fmt.Errorf("%s may be left: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
