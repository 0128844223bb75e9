package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
)

func drainCommand(stateDir *string) *cobra.Command {
	var (
		set     []string
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Publish what a state directory holds when its output is gone",
		Long: "Publish everything a state directory holds, as the agent would: rolled parts go\n" +
			"where they were meant to, all other records where the options say. Those are the\n" +
			"ones of the agent's last start, changed by -o KEY=VALUE. No agent may have the\n" +
			"directory. Interrupted or out of time it can be run again.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values, err := drainOptions(*stateDir, set)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return drain(ctx, cmd.OutOrStdout(), values)
		},
	}
	cmd.Flags().StringArrayVarP(&set, "option", "o", nil, "an option of the output, as KEY=VALUE; may be repeated")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Hour, "give up after this long")
	return cmd
}

// drainOptions are the remembered options with the given ones over them.
func drainOptions(stateDir string, set []string) (map[string]string, error) {
	values, err := rememberedOptions(stateDir)
	if err != nil {
		return nil, err
	}
	if err := setOptions(values, set); err != nil {
		return nil, err
	}
	values[conf.KeyStateDir] = stateDir
	// What is left when Close gives up is tried again until the time is over.
	values[conf.KeyExitTimeout] = "5s"
	return values, nil
}

// rememberedOptions are those of the last start on a state directory.
func rememberedOptions(stateDir string) (map[string]string, error) {
	if _, err := options(stateDir); err != nil {
		return nil, err
	}
	values, err := instance.Remembered(stateDir)
	if values == nil {
		values = map[string]string{}
	}
	return values, err
}

// setOptions puts options given as KEY=VALUE over values.
func setOptions(values map[string]string, set []string) error {
	for _, s := range set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("-o %q isn't KEY=VALUE", s)
		}
		values[strings.ToLower(key)] = value
	}
	return nil
}

func drain(ctx context.Context, out io.Writer, values map[string]string) error {
	s, err := instance.Open(conf.Map(values), system("out-hdfs drain"))
	if err != nil {
		return err
	}
	drainErr := s.Drain(ctx)
	st, published := s.Status(context.Background()), s.Published()
	err = s.Close()
	fmt.Fprintf(out, "published %d parts with %d records\n", published.Parts, published.Records)
	return errors.Join(drainErr, err, leftBehind(st))
}

// leftBehind says what drain could not finish.
func leftBehind(st sink.Status) error {
	held, pending := len(st.HeldChunks), 0
	for _, p := range st.Parts {
		if p.State == "held" {
			held++
		} else {
			pending++
		}
	}
	if held == 0 && pending == 0 && st.UnfinishedChunks == 0 {
		return nil
	}
	return fmt.Errorf("%s still holds %d chunks and %d parts, %d of all are held; see `out-hdfs status --state-dir %s`",
		st.StateDir, st.UnfinishedChunks, pending+held, held, st.StateDir)
}
