// Command out-hdfs is the operator's side of the plugin: it shows what a state
// directory holds, ends what is held, adopts a directory that was moved, finishes
// what an agent left behind, lists and removes what damage had set aside, and
// tries a configuration on its target.
//
// It talks to the agent that has the directory, if one runs, and otherwise
// reads or opens the directory itself. It never writes into a directory that an
// agent has.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/staging"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "out-hdfs:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	var stateDir string
	cmd := &cobra.Command{
		Use:           "out-hdfs",
		Short:         "Look after the state directories of the Fluent Bit output hdfs",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&stateDir, "state-dir", conf.DefaultStateDir(os.Getenv("STATE_DIRECTORY")), "the instance's state_dir")
	cmd.AddCommand(statusCommand(&stateDir), resolveCommand(&stateDir), adoptCommand(&stateDir), drainCommand(&stateDir),
		damagedCommand(&stateDir), checkCommand(&stateDir))
	return cmd
}

// logger tells an operator on a terminal what the sink would tell the agent's
// log.
func logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// openJournal opens a directory that no agent has, to change it.
func openJournal(stateDir string, adopt bool) (*journal.Journal, error) {
	o, err := options(stateDir)
	if err != nil {
		return nil, err
	}
	o.Adopt, o.Tool = adopt, true
	j, report, err := journal.Open(o)
	if err != nil {
		return nil, err
	}
	journal.LogReport(o.Log, report)
	return j, nil
}

func options(stateDir string) (journal.Options, error) {
	d, err := disk.NewOS(stateDir)
	if err != nil {
		return journal.Options{}, err
	}
	if names, err := d.List(journal.Dir); err != nil || len(names) == 0 {
		return journal.Options{}, fmt.Errorf("%s is no state directory of an hdfs output: it holds no journal", stateDir)
	}
	log := logger()
	return journal.Options{
		Disk: d, Log: log, Owner: fmt.Sprintf("out-hdfs, pid %d", os.Getpid()), Staged: staging.New(d, stateDir, log),
	}, nil
}
