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
	fluentbit "github.com/out-hdfs/out_hdfs/conf/agent"
	"github.com/out-hdfs/out_hdfs/instance"
)

func checkCommand(stateDir *string) *cobra.Command {
	var (
		set     []string
		connect bool
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say what a configuration comes to, and whether its target can be written to",
		Long: "With FILE, a Fluent Bit configuration, classic or YAML: say what is wrong with its hdfs\n" +
			"outputs, keys that nobody takes and settings around them that lose or repeat data among\n" +
			"it, each with its line, and what each output comes to. It fails if something must be\n" +
			"changed.\n\n" +
			"Without: say what the options come to: the target and, on HDFS, the configuration files that\n" +
			"were read, the NameNodes, and who writes. The options are those of -o KEY=VALUE, and\n" +
			"with --state-dir those of the agent's last start on it beneath.\n\n" +
			"With --connect a small hidden file is created in the base path, written, renamed,\n" +
			"found by its id and removed, as a sink does for a part.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if len(set) > 0 || cmd.Flags().Changed("state-dir") {
					return errors.New("a FILE has the options; leave -o and --state-dir out")
				}
				ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
				defer cancel()
				return checkFile(ctx, cmd.OutOrStdout(), args[0], connect)
			}
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

// checkFile checks each hdfs output of a Fluent Bit configuration.
func checkFile(ctx context.Context, out io.Writer, path string, connect bool) error {
	file, err := fluentbit.Read(path, os.Getenv)
	if err != nil {
		return err
	}
	outputs, findings := fluentbit.Judge(file, system("out-hdfs check").Environment())
	wrong := 0
	for _, f := range findings {
		fmt.Fprintln(out, f)
		if f.Wrong {
			wrong++
		}
	}
	if len(outputs) == 0 {
		return fmt.Errorf("%s has no output of the name %s", path, fluentbit.Plugin)
	}
	for _, o := range outputs {
		if o.Settings == nil {
			continue // what is wrong with it was told
		}
		fmt.Fprintf(out, "\nthe output at %s:%d\n", o.Section.File, o.Section.Line)
		if err := check(ctx, out, o.Options, connect); err != nil {
			fmt.Fprintf(out, "error: %v\n", err)
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d things must be changed", wrong)
	}
	return nil
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
