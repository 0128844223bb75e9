package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

func damagedCommand(stateDir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "damaged",
		Short: "List and remove what was set aside since it is damaged",
		Long: "What damage touched is never removed by an agent: it lies in aside/ and in\n" +
			"journal/damaged/ of the state directory, outside of state_limit.",
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List it: files, sizes, and what staged files say of themselves",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := options(*stateDir); err != nil {
				return err
			}
			files, err := asideFiles(*stateDir)
			if err != nil {
				return err
			}
			return printAside(cmd.OutOrStdout(), files)
		},
	}
	var yes bool
	purge := &cobra.Command{
		Use:   "purge",
		Short: "Remove it for good, but for the files of held parts",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !yes {
				return errors.New("what lies aside may be the last copy of records: look at `out-hdfs damaged list`, then purge with --yes")
			}
			err := control.Dial(*stateDir).Purge(cmd.Context())
			if !errors.Is(err, control.ErrNotRunning) {
				return err
			}
			return purgeStopped(*stateDir)
		},
	}
	purge.Flags().BoolVar(&yes, "yes", false, "remove it without asking")
	cmd.AddCommand(list, purge)
	return cmd
}

// purgeStopped purges a directory that no agent has.
func purgeStopped(stateDir string) error {
	j, err := openJournal(stateDir, false)
	if err != nil {
		return err
	}
	d, err := disk.NewOS(stateDir)
	if err == nil {
		err = sink.PurgeAside(j, staging.New(d, stateDir, logger()))
	}
	return errors.Join(err, j.Close())
}

// asideFile is a file that was set aside.
type asideFile struct {
	name string // below the state directory
	size int64
	at   time.Time       // when it was written last
	part *journal.Rolled // nil if it doesn't say what it is
}

// asideFiles are all of them. Nothing is changed.
func asideFiles(stateDir string) (out []asideFile, err error) {
	d, err := disk.NewOS(stateDir)
	if err != nil {
		return nil, err
	}
	area := staging.New(d, stateDir, logger())
	for _, dir := range []string{staging.AsideDir, journal.DamagedDir} {
		entries, err := os.ReadDir(filepath.Join(stateDir, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			f := asideFile{name: dir + "/" + e.Name(), size: info.Size(), at: info.ModTime()}
			if description, err := area.Description(f.name); err == nil {
				if r, ok := journal.ReadDescription(description); ok {
					f.part = &r
				}
			}
			out = append(out, f)
		}
	}
	return out, nil
}

func printAside(w io.Writer, files []asideFile) error {
	if len(files) == 0 {
		_, err := fmt.Fprintln(w, "nothing was set aside")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "FILE\tSIZE\tWRITTEN\tPART\tBUCKET\tRECORDS")
	for _, f := range files {
		part, bucket, records := "", "", ""
		if f.part != nil {
			p := f.part.Part
			part, bucket, records = fmt.Sprint(p.Number), bucketName(p.Bucket), fmt.Sprint(p.Records)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.name, size(f.size), f.at.Format(time.RFC3339), part, bucket, records)
	}
	return t.Flush()
}
