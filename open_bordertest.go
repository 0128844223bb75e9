//go:build bordertest

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
)

// openSink, with the tag bordertest, opens an output that does what its
// properties say, so that the border to Fluent Bit can be tested by itself:
//
//	path    a file that gets a line for each flush and for the close
//	answer  what each flush does, in turn and over again: ok, retry, error,
//	        panic, fault (read a page that isn't there), or a duration to wait
//	        before the next of the list
//	fail    the mistakes to refuse to start with, separated by ;
func openSink(_ string, lookup func(key string) string, log *slog.Logger) (output, error) {
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

func (s *scripted) flush(f flush) answer {
	fmt.Fprintf(s.file, "flush tag=%s size=%d file=%q engine=%v\n", f.tag, len(f.data), f.file.Path(), f.onEngineThread)
	s.log.Debug("flush", "tag", f.tag)
	for {
		word := s.answers[(s.next.Add(1)-1)%int64(len(s.answers))]
		switch word {
		case "ok", "":
			return ok
		case "retry":
			return retry
		case "error":
			return 0
		case "panic":
			panic("asked for")
		case "fault":
			return answer(*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(f.data)), 1<<46)))
		default:
			if wait, err := time.ParseDuration(word); err == nil {
				time.Sleep(wait)
			} else if n, err := strconv.Atoi(word); err == nil {
				return answer(n)
			}
		}
	}
}

func (s *scripted) close() error {
	fmt.Fprintln(s.file, "close")
	return s.file.Close()
}
