package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/instance"
)

func checkCommand(stateDir *string) *cobra.Command {
	var (
		set     []string
		connect bool
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say what a configuration comes to, and whether its target can be written to",
		Long: "Say what the options come to: the target and, on HDFS, the configuration files that\n" +
			"were read, the NameNodes, and who writes. The options are those of -o KEY=VALUE, and\n" +
			"with --state-dir those of the agent's last start on it beneath.\n\n" +
			"With --connect a small hidden file is created in the base path, written, renamed,\n" +
			"found by its id and removed, as a sink does for a part.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := map[string]string{}
			if cmd.Flags().Changed("state-dir") {
				var err error
				if values, err = rememberedOptions(*stateDir); err != nil {
					return err
				}
			}
			if err := setOptions(values, set); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return check(ctx, cmd.OutOrStdout(), values, connect)
		},
	}
	cmd.Flags().StringArrayVarP(&set, "option", "o", nil, "an option of the output, as KEY=VALUE; may be repeated")
	cmd.Flags().BoolVar(&connect, "connect", false, "try it on the target")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "give up trying after this long")
	return cmd
}

func check(ctx context.Context, out io.Writer, values map[string]string, connect bool) error {
	c, err := instance.NewCheck(conf.Map(values), system("out-hdfs check"))
	if err != nil {
		return err
	}
	say := func(what, is string) { fmt.Fprintf(out, "%-12s %s\n", what, is) }
	say("target", c.Target.String())
	if h := c.HDFS; h != nil {
		say("read", strings.Join(c.Files, ", "))
		say("cluster", h.Name)
		say("NameNodes", strings.Join(h.NameNodes, ", "))
		say("user", h.User)
		if k := h.Kerberos; k != nil {
			say("principal", fmt.Sprintf("%s, by %s and %s", k.Principal, k.From, k.Config))
			say("NameNode is", k.NameNode)
			say("protection", fmt.Sprintf("calls %s, data %s", k.RPC, cmp.Or(k.Data, "as the DataNodes ask")))
		}
	}
	for _, w := range c.Warnings {
		say("warning", w)
	}
	if !connect {
		return nil
	}
	err = c.Connect(ctx, func(s instance.Step) {
		if s.Err == nil {
			say("ok", s.Name)
		} else {
			say("FAILED", fmt.Sprintf("%s: %v", s.Name, s.Err))
		}
	})
	if err != nil {
		return errors.New("parts could not be published there")
	}
	return nil
}

// system is the process around an instance that a command opens.
func system(owner string) instance.System {
	return instance.System{
		Log: logger(), Registry: instance.NewRegistry(), Getenv: os.Getenv,
		Owner: fmt.Sprintf("%s, pid %d", owner, os.Getpid()),
	}
}
