package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

func statusCommand(stateDir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show buckets, unfinished parts, what is held and why, and how old it is",
		Long: "Show what the instance has in hand. An agent that runs is asked; otherwise the\n" +
			"journal is read, without changing it. In-progress parts exist in an agent only.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := status(cmd.Context(), *stateDir)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(st)
			}
			return printStatus(cmd.OutOrStdout(), st)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func status(ctx context.Context, stateDir string) (sink.Status, error) {
	st, err := control.Dial(stateDir).Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return st, err
	}
	o, err := options(stateDir)
	if err != nil {
		return st, err
	}
	j, report, err := inspect(o)
	if err != nil {
		return st, err
	}
	for _, d := range report.Damage {
		fmt.Fprintln(os.Stderr, "damage:", d)
	}
	st = sink.JournalStatus(j)
	st.StateDir = stateDir
	return st, nil
}

// inspect tries again when an agent that is starting or stopping changed the
// directory under the look at it.
func inspect(o journal.Options) (j *journal.Journal, r *journal.Report, err error) {
	for range 3 {
		if j, r, err = journal.Inspect(o); err == nil {
			return j, r, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, nil, err
}

func printStatus(w io.Writer, st sink.Status) error {
	running := "no agent is running"
	if st.Running {
		running = "writing to " + st.Target
	}
	fmt.Fprintf(w, "%s in %s: %s\n", st.WriterID, st.StateDir, running)
	fmt.Fprintf(w, "journal %s, staged %s", size(st.JournalBytes), size(st.StagedBytes))
	if st.StateLimit > 0 {
		fmt.Fprintf(w, " of state_limit %s", size(st.StateLimit))
	}
	fmt.Fprintf(w, "\nfinished %d parts, %d records, %s\n", st.Finished.Parts, st.Finished.Records, size(int64(st.Finished.Bytes)))
	printLedger(w, st.Ledger)
	fmt.Fprintf(w, "unfinished chunks %d", st.UnfinishedChunks)
	if st.Oldest != nil {
		fmt.Fprintf(w, ", oldest unpublished record came %s ago", age(st.At, *st.Oldest))
	}
	fmt.Fprintln(w)
	for _, t := range st.Troubles {
		fmt.Fprintf(w, "trouble for %s: %s %s: %s\n", age(st.At, t.Since), t.Target, t.Bucket, t.Why)
	}
	for _, c := range st.HeldChunks {
		fmt.Fprintf(w, "held: chunk %d killed the process three times in a row; "+
			"end it with `out-hdfs resolve --state-dir %s chunk %d dead-letter` or `… decode`\n", c, st.StateDir, c)
	}
	if len(st.Parts) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "\nPART\tSTATE\tBUCKET\tSIZE\tRECORDS\tAGE")
	for _, p := range st.Parts {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%s\n", p.Number, p.State, bucketName(p.Bucket), size(p.Bytes), p.Records, age(st.At, p.Since))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range st.Parts {
		if p.Why != "" {
			fmt.Fprintf(w, "held: part %d: %s; end it with `out-hdfs resolve --state-dir %s part %d publish` or `… done`\n",
				p.Number, p.Why, st.StateDir, p.Number)
		}
	}
	return nil
}

// printLedger tells what isn't as everybody hopes.
func printLedger(w io.Writer, l sink.LedgerStatus) {
	if l.DeadLetters > 0 {
		fmt.Fprintf(w, "dead letters %d of %d records: see %s below the path\n", l.DeadLetters, l.Records, sink.LettersDir)
	}
	if l.LostChunks > 0 {
		fmt.Fprintf(w, "lost %d chunks to damage, and with them %d records of chunks that were rolled in part\n", l.LostChunks, l.Lost)
	}
	if l.Unbalanced != 0 {
		fmt.Fprintf(w, "bug: %d records aren't accounted for; please report this with `out-hdfs status --json`\n", l.Unbalanced)
	}
}

func bucketName(b string) string {
	if b == "" {
		return "."
	}
	return b
}

func age(now, then time.Time) string { return now.Sub(then).Round(time.Second).String() }

// size prints bytes in the unit that leaves three or four digits.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f := float64(n)
	for _, u := range units {
		if f < 1024 || u == "TiB" {
			if u == "B" {
				return fmt.Sprintf("%d B", n)
			}
			return fmt.Sprintf("%.1f %s", f, u)
		}
		f /= 1024
	}
	return ""
}
