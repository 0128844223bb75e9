package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// exception is what a NameNode answers.
type exception struct{ method, class, message string }

func (e exception) Method() string    { return e.method }
func (e exception) Desc() string      { return "ERROR_APPLICATION" }
func (e exception) Exception() string { return e.class }
func (e exception) Message() string   { return e.message }
func (e exception) Error() string     { return e.class }

var _ hdfs.Error = exception{}

func TestClassOfAnError(t *testing.T) {
	java := func(method, class string) error { return exception{method, class, class + ": why\n\tat Java.main"} }
	inPath := func(err error) error { return &os.PathError{Op: "create", Path: "/p", Err: err} }
	for _, row := range []struct {
		name string
		err  error
		// what it means after each effect
		reading, changing, writing fs.Class
	}{
		{"nothing there", errNothing, fs.Missing, fs.Missing, fs.Unclear},
		{"the library's own missing", inPath(os.ErrNotExist), fs.Missing, fs.Missing, fs.Unclear},
		{"the library's own existing", inPath(os.ErrExist), fs.Exists, fs.Exists, fs.Unclear},
		{"the library's own permission", inPath(os.ErrPermission), fs.Path, fs.Path, fs.Path},
		{"file not found", java("rename2", "java.io.FileNotFoundException"), fs.Missing, fs.Missing, fs.Unclear},
		{"already exists", java("rename2", "org.apache.hadoop.fs.FileAlreadyExistsException"), fs.Exists, fs.Exists, fs.Unclear},
		{"already being created", java("create", "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"), fs.Exists, fs.Exists, fs.Unclear},
		{"permission", java("delete", accessControl), fs.Path, fs.Path, fs.Path},
		{"parent is a file", java("mkdirs", parentNotDirectory), fs.Path, fs.Path, fs.Path},
		{"quota of names", java("create", "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"), fs.Path, fs.Path, fs.Path},
		{"quota of space", inPath(java("addBlock", "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException")), fs.Path, fs.Path, fs.Path},
		{"name too long", java("create", "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"), fs.Path, fs.Path, fs.Path},
		{"invalid path", java("mkdirs", "org.apache.hadoop.fs.InvalidPathException"), fs.Path, fs.Path, fs.Path},
		{"safe mode", java("create", "org.apache.hadoop.hdfs.server.namenode.SafeModeException"), fs.Target, fs.Target, fs.Target},
		{"standby", java("create", "org.apache.hadoop.ipc.StandbyException"), fs.Target, fs.Target, fs.Target},
		{"try again", java("create", "org.apache.hadoop.ipc.RetriableException"), fs.Target, fs.Target, fs.Target},
		{"no DataNodes", inPath(java("addBlock", "java.io.IOException")), fs.Target, fs.Target, fs.Target},
		{"block size", inPath(java("create", "java.io.IOException")), fs.Path, fs.Path, fs.Path},
		{"something without a name", java("rename2", "java.io.IOException"), fs.Target, fs.Unclear, fs.Unclear},
		{"something unheard of", java("delete", "org.apache.hadoop.NewException"), fs.Target, fs.Unclear, fs.Unclear},
		{"a lease that was taken", java("complete", "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException"), fs.Target, fs.Unclear, fs.Unclear},
		{"an old server", java("isFileClosed", "org.apache.hadoop.ipc.RpcNoSuchMethodException"), fs.Unsupported, fs.Unsupported, fs.Unsupported},
		{"no NameNode", errors.New(noNamenodes + ": connection refused"), fs.Target, fs.Target, fs.Target},
		{"no DataNode", &dialError{syscall.ECONNREFUSED}, fs.Target, fs.Target, fs.Target},
		{"end of the connection", io.EOF, fs.Target, fs.Unclear, fs.Unclear},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, fs.Target, fs.Unclear, fs.Unclear},
		{"too late", os.ErrDeadlineExceeded, fs.Target, fs.Unclear, fs.Unclear},
		{"closed", net.ErrClosed, fs.Target, fs.Unclear, fs.Unclear},
		{"replicating for too long", inPath(hdfs.ErrReplicating), fs.Target, fs.Unclear, fs.Unclear},
		{"one that has a class", fmt.Errorf("more: %w", &fs.Error{Class: fs.Exists, Err: io.EOF}), fs.Exists, fs.Exists, fs.Exists},
	} {
		t.Run(row.name, func(t *testing.T) {
			for e, want := range map[effect]fs.Class{reading: row.reading, changing: row.changing, writing: row.writing} {
				got := failed(t.Context(), "op", "/p", row.err, e)
				if fs.ClassOf(got) != want {
					t.Errorf("after effect %d the class is %v, want %v: %v", e, fs.ClassOf(got), want, got)
				}
				if !errors.Is(got, row.err) {
					t.Errorf("%v doesn't wrap %v", got, row.err)
				}
				if strings.Contains(got.Error(), "\n") || strings.Contains(got.Error(), "at Java") {
					t.Errorf("it has a stack trace: %v", got)
				}
			}
		})
	}
}

// TestEndedCtx: whatever a call met because its ctx ended, the ctx is the
// reason, unless the NameNode has answered all the same.
func TestEndedCtx(t *testing.T) {
	why := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, err := range []error{net.ErrClosed, io.EOF, errors.New(noNamenodes), why, &dialError{why}} {
		if got := failed(ctx, "op", "/p", err, changing); !errors.Is(got, why) || fs.ClassOf(got) != fs.Unclear {
			t.Errorf("%v becomes %v of class %v", err, got, fs.ClassOf(got))
		}
	}
	answered := exception{"rename2", "org.apache.hadoop.fs.FileAlreadyExistsException", ""}
	if got := failed(ctx, "op", "/p", answered, changing); fs.ClassOf(got) != fs.Exists {
		t.Errorf("an answer becomes %v of class %v", got, fs.ClassOf(got))
	}
}

func TestInternals(t *testing.T) {
	if err := checkInternals(); err != nil {
		t.Fatal(err)
	}
}

func TestFrames(t *testing.T) {
	frame := func(n int) string { return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) }
	for _, row := range []struct {
		name, stream string
		fails        bool
	}{
		{"nothing", "", false},
		{"one", frame(3) + "abc", false},
		{"several, of which one is empty", frame(3) + "abc" + frame(0) + frame(1) + "a" + frame(2) + "a", false},
		{"a body that looks like a long frame", frame(5) + "HTTP/" + frame(1) + "a", false},
		{"the longest", frame(maxAnswer) + "HTTP", false},
		{"a longer one", frame(maxAnswer+1) + "x", true},
		{"a web server", "HTTP/1.1 400 Bad Request\r\n", true},
		{"one behind another", frame(1) + "aHTTP/1.1", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 4, 1000} {
				var f frames
				var err error
				for rest := row.stream; rest != "" && err == nil; {
					n := min(piece, len(rest))
					err = f.pass([]byte(rest[:n]))
					rest = rest[n:]
				}
				if (err != nil) != row.fails {
					t.Errorf("in pieces of %d: %v", piece, err)
				}
			}
		})
	}
}
