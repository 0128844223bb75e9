// Package main is out_hdfs.so, as Fluent Bit loads it: it joins the border to
// Fluent Bit with what opens a sink, and does nothing itself.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/out-hdfs/out_hdfs/fluentbit"
	"github.com/out-hdfs/out_hdfs/instance"
	"github.com/out-hdfs/out_hdfs/sink"
)

func main() {} // a plugin has none, but a c-shared library wants one

// fileSystems are shared by the instances of this process, so that outputs to
// one cluster share its clients and limits.
var fileSystems = instance.NewRegistry()

var (
	// left is told of by instances that a hot reload ends, and asked by those that
	// it starts.
	left instance.Left
	// process is what the instances share with the agent.
	process instance.Process
)

func init() { fluentbit.Serve(open) }

// open opens the sink that the properties of an instance describe.
func open(name string, lookup func(key string) string, log *slog.Logger) (fluentbit.Output, error) {
	o, err := instance.Start(lookup, instance.System{
		Log: log, Registry: fileSystems, Left: &left, Process: &process, Getenv: os.Getenv,
		Owner: fmt.Sprintf("Fluent Bit, pid %d, output %s", os.Getpid(), name),
	})
	if err != nil {
		return nil, err
	}
	return output{o}, nil
}

// output is a sink as an output of Fluent Bit.
type output struct{ *instance.Output }

func (o output) Flush(f fluentbit.Flush) fluentbit.Answer {
	if o.Output.Flush(f.Tag, f.Data, f.File, sink.FlushOptions{NoWait: f.OnEngineThread}) == sink.OK {
		return fluentbit.OK
	}
	return fluentbit.Retry
}
