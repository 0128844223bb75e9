//go:build !bordertest

package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink"
)

// fileSystems are shared by the instances of this process, so that outputs to
// one cluster share its clients and limits.
var fileSystems = conf.NewRegistry()

// openSink opens the sink that the properties of an instance describe.
func openSink(name string, lookup func(key string) string, log *slog.Logger) (output, error) {
	i, err := conf.Open(lookup, conf.System{
		Log: log, Registry: fileSystems, Getenv: os.Getenv, ChunkFiles: conf.ListChunkFiles,
		Owner: fmt.Sprintf("Fluent Bit, pid %d, output %s", os.Getpid(), name),
	})
	if err != nil {
		return nil, err
	}
	return sinkOutput{i}, nil
}

// sinkOutput is a sink as an output of Fluent Bit.
type sinkOutput struct{ *conf.Instance }

func (o sinkOutput) flush(f flush) answer {
	if o.Flush(f.tag, f.data, f.file, sink.FlushOptions{NoWait: f.onEngineThread}) == sink.OK {
		return ok
	}
	return retry
}

func (o sinkOutput) close() error { return o.Close() }
