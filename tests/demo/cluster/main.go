// Command cluster starts a real HDFS for the demo and runs Hadoop's own shell
// on it. When HDFS takes writes it prints
//
//	uri hdfs://127.0.0.1:PORT
//	conf DIRECTORY
//
// and an empty line. Then each line of its standard input is the arguments of
// an `hdfs dfs`, parted by spaces; it prints what that prints, and a line with
// nothing but a dot and the exit code. At the end of the input, or at SIGTERM,
// HDFS ends with everything that is on it.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	c, err := hdfs.Start(ctx, hdfs.Options{DataNodes: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	fmt.Printf("uri %s\nconf %s\n\n", c.URI(), c.ConfDir())
	commands := make(chan string)
	go func() { // ends with the input, or with the process
		defer close(commands)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			commands <- lines.Text()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-commands:
			if !ok {
				return nil
			}
			shell(ctx, c, strings.Fields(line))
		}
	}
}

// shell runs one command.
func shell(ctx context.Context, c *hdfs.Cluster, args []string) {
	out, err := c.FsShell(ctx, args...)
	fmt.Print(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		fmt.Println()
	}
	code := 0
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		code = 1
	}
	fmt.Printf(".%d\n", code)
}
