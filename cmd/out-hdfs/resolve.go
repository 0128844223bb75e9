package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

func resolveCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "resolve {part NUMBER {publish|done} | chunk {NUMBER|doubtful} {decode|dead-letter|done}}",
		Short: "End what is held",
		Long: "End what no rule could decide, and status lists as held.\n\n" +
			"  part N publish       it was not published: upload and publish it again\n" +
			"  part N done          it was published: forget it\n" +
			"  chunk N decode       decode it once more\n" +
			"  chunk N dead-letter  send it undecoded to the dead letters\n" +
			"  chunk N done         all of its records were published: forget it\n\n" +
			"`chunk doubtful` is every chunk of which damage hides what was published.\n\n" +
			"Publishing a part again that readers have seen repeats its records; accepting one\n" +
			"that never arrived loses them. Look first.",
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "chunk" && args[1] == "doubtful" {
				return resolveDoubtful(cmd.Context(), *stateDir, args[2])
			}
			n, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil || n == 0 {
				return fmt.Errorf("%q is no number of a %s", args[1], args[0])
			}
			r := control.Request{How: args[2]}
			switch args[0] {
			case "part":
				r.Part = n
			case "chunk":
				r.Chunk = n
			default:
				return fmt.Errorf("%q can't be held: parts and chunks can", args[0])
			}
			return resolve(cmd.Context(), *stateDir, r)
		},
	}
}

func resolve(ctx context.Context, stateDir string, r control.Request) error {
	frame, err := r.Frame()
	if err != nil {
		return err
	}
	err = control.Dial(stateDir).Resolve(ctx, r)
	if !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	j, err := openJournal(stateDir, false)
	if err != nil {
		return err
	}
	return errors.Join(sink.ResolveStopped(j, frame), j.Close())
}

// resolveDoubtful ends every chunk of which damage hides what was published.
func resolveDoubtful(ctx context.Context, stateDir, how string) error {
	if _, err := (control.Request{Chunk: 1, How: how}).Frame(); err != nil {
		return err
	}
	agent := control.Dial(stateDir)
	end := func(r control.Request) error { return agent.Resolve(ctx, r) }
	st, err := agent.Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		var j *journal.Journal
		if j, err = openJournal(stateDir, false); err != nil {
			return err
		}
		defer j.Close()
		st = sink.JournalStatus(j)
		end = func(r control.Request) error {
			frame, err := r.Frame()
			return errors.Join(err, sink.ResolveStopped(j, frame))
		}
	}
	if err != nil {
		return err
	}
	for _, seq := range st.DoubtfulChunks {
		if err := end(control.Request{Chunk: seq, How: how}); err != nil {
			return fmt.Errorf("chunk %d: %w", seq, err)
		}
	}
	return nil
}
