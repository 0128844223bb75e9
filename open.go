//go:build !bordertest

package main

import (
	"errors"
	"log/slog"

	"github.com/out-hdfs/out_hdfs/sink"
)

// openSink opens the sink that the instance's properties describe.
func openSink(lookup func(key string) string, log *slog.Logger) (output, error) {
	s, err := openConfigured(lookup, log)
	if err != nil {
		return nil, err
	}
	return sinkOutput{s}, nil
}

// openConfigured is where conf.Open belongs.
func openConfigured(func(key string) string, *slog.Logger) (*sink.Sink, error) {
	return nil, errors.New("no sink is built in")
}

// sinkOutput is a sink as an output.
type sinkOutput struct{ sink *sink.Sink }

func (o sinkOutput) flush(f flush) answer {
	if o.sink.Flush(f.tag, f.data, f.file, sink.FlushOptions{NoWait: f.onEngineThread}) != sink.OK {
		return retry
	}
	return ok
}

func (o sinkOutput) close() error { return o.sink.Close() }
