package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func adoptCommand(stateDir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt",
		Short: "Accept a state directory that was moved or restored",
		Long: "A state directory remembers where it was made, and an agent refuses a copy: two\n" +
			"agents with one state would publish the same records twice, and an old backup\n" +
			"would publish again what is published. Adopt one only if the original is gone and\n" +
			"nothing was published from it after the copy was made.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := openJournal(*stateDir, true)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is now the state of writer %s\n", *stateDir, j.WriterID())
			return j.Close()
		},
	}
}
