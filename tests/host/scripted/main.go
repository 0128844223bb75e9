// Command scripted is a plugin whose outputs do what their properties say, so
// that the border to Fluent Bit can be tested by itself. It is built as out_hdfs
// is, as a c-shared library:
//
//	path    a file that gets a line for each flush and for the close
//	answer  what each flush does, in turn and over again: ok, retry, error,
//	        panic, fault (read a page that isn't there), or a duration to wait
//	        before the next of the list
//	fail    the mistakes to refuse to start with, separated by ;
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/out-hdfs/out_hdfs/fluentbit"
)

func main() {} // a plugin has none, but a c-shared library wants one

func init() { fluentbit.Serve(open) }

func open(_ string, lookup func(key string) string, log *slog.Logger) (fluentbit.Output, error) {
	if fail := lookup("fail"); fail == "panic" {
		panic("asked for")
	} else if fail != "" {
		var errs []error
		for mistake := range strings.SplitSeq(fail, ";") {
			errs = append(errs, errors.New(mistake))
		}
		return nil, errors.Join(errs...)
	}
	file, err := os.OpenFile(lookup("path"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	log.Debug("opened", "path", file.Name())
	answers := strings.Split(lookup("answer"), ",")
	return &scripted{file: file, log: log, answers: answers}, nil
}

type scripted struct {
	file    *os.File
	log     *slog.Logger
	answers []string
	next    atomic.Int64
}

func (s *scripted) Flush(f fluentbit.Flush) fluentbit.Answer {
	fmt.Fprintf(s.file, "flush tag=%s size=%d file=%q engine=%v\n", f.Tag, len(f.Data), f.File.Path(), f.OnEngineThread)
	s.log.Debug("flush", "tag", f.Tag)
	for {
		word := s.answers[(s.next.Add(1)-1)%int64(len(s.answers))]
		switch word {
		case "ok", "":
			return fluentbit.OK
		case "retry":
			return fluentbit.Retry
		case "error":
			return 0
		case "panic":
			panic("asked for")
		case "fault":
			return fluentbit.Answer(*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(f.Data)), 1<<46)))
		default:
			if wait, err := time.ParseDuration(word); err == nil {
				time.Sleep(wait)
			} else if n, err := strconv.Atoi(word); err == nil {
				return fluentbit.Answer(n)
			}
		}
	}
}

func (s *scripted) Close() error {
	fmt.Fprintln(s.file, "close")
	return s.file.Close()
}
