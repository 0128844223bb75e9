package hdfsfs

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// nameNode answers a rename with an error and has files, by path.
type nameNode struct {
	renamed error
	files   map[string]uint64
	asked   []string // what it was asked for, in order
	away    bool     // it answers nothing after the rename
}

func (n *nameNode) Execute(method string, req, resp proto.Message) error {
	n.asked = append(n.asked, method)
	if method == "rename2" {
		return n.renamed
	}
	if n.away {
		return io.EOF
	}
	in, out := req.ProtoReflect(), resp.ProtoReflect()
	id, ok := n.files[in.Get(in.Descriptor().Fields().ByName("src")).String()]
	if ok {
		st := out.Mutable(out.Descriptor().Fields().ByName("fs")).Message()
		st.Set(st.Descriptor().Fields().ByName("fileId"), protoreflect.ValueOfUint64(id))
	}
	return nil
}

// TestWhatAnAnswerToARenameMeans has a row for each line of Publish's table, and
// for what else may be at the two names.
func TestWhatAnAnswerToARenameMeans(t *testing.T) {
	const from, final, id, other = "/d/.temp", "/d/final", 7, 8
	java := func(class string) error { return exception{"rename2", class, "why"} }
	missing, unnamed := java("java.io.FileNotFoundException"), java(ioException)
	for _, row := range []struct {
		name    string
		answer  error
		files   map[string]uint64
		away    bool
		class   fs.Class // of an error
		success bool
		looks   bool // the NameNode is asked where the file is
	}{
		{name: "success", success: true},
		{name: "the name is taken", answer: java("org.apache.hadoop.fs.FileAlreadyExistsException"), files: map[string]uint64{from: id, final: other}, class: fs.Exists},
		{name: "not found, and gone", answer: missing, class: fs.Missing, looks: true},
		{name: "not found, and under the new name: an earlier try took effect", answer: missing, files: map[string]uint64{final: id}, class: fs.Missing, looks: true},
		{name: "not found, and another is there", answer: missing, files: map[string]uint64{from: other}, class: fs.Missing, looks: true},
		{name: "not found, and it still is there", answer: missing, files: map[string]uint64{from: id}, class: fs.Path, looks: true},
		{name: "not found, it still is there, and the name is taken", answer: missing, files: map[string]uint64{from: id, final: other}, class: fs.Exists, looks: true},
		{name: "not found, and nobody says where it is", answer: missing, away: true, class: fs.Missing, looks: true},
		{name: "no name, and gone", answer: unnamed, class: fs.Unclear, looks: true},
		{name: "no name, and another is there", answer: unnamed, files: map[string]uint64{from: other}, class: fs.Unclear, looks: true},
		{name: "no name, and it still is there", answer: unnamed, files: map[string]uint64{from: id}, class: fs.Path, looks: true},
		{name: "no name, it still is there, and the name is taken", answer: unnamed, files: map[string]uint64{from: id, final: other}, class: fs.Exists, looks: true},
		{name: "no name, and nobody says where it is", answer: unnamed, away: true, class: fs.Unclear, looks: true},
		{name: "permission", answer: java(accessControl), files: map[string]uint64{from: id}, class: fs.Path},
		{name: "a quota", answer: java("org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"), files: map[string]uint64{from: id}, class: fs.Path},
		{name: "a file is in the way of the directory", answer: java(parentNotDirectory), files: map[string]uint64{from: id}, class: fs.Path},
		{name: "safe mode", answer: java("org.apache.hadoop.hdfs.server.namenode.SafeModeException"), files: map[string]uint64{from: id}, class: fs.Target},
		{name: "standby", answer: java("org.apache.hadoop.ipc.StandbyException"), files: map[string]uint64{from: id}, class: fs.Target},
		{name: "busy", answer: java("org.apache.hadoop.ipc.RetriableException"), files: map[string]uint64{from: id}, class: fs.Target},
		{name: "an exception that nobody knows", answer: java("org.apache.hadoop.NewException"), files: map[string]uint64{from: id}, class: fs.Unclear},
		{name: "the connection ended", answer: io.EOF, files: map[string]uint64{from: id}, class: fs.Unclear},
		{name: "no connection was made", answer: &dialError{syscall.ECONNREFUSED}, files: map[string]uint64{from: id}, class: fs.Target},
		{name: "no NameNode was reached", answer: errors.New(noNamenodes + ": refused"), files: map[string]uint64{from: id}, class: fs.Target},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := &nameNode{renamed: row.answer, files: row.files, away: row.away}
			err := (&session{x: n}).rename(t.Context(), from, final, "7")
			if (err == nil) != row.success || err != nil && (fs.ClassOf(err) != row.class || !errors.Is(err, row.answer)) {
				t.Errorf("the error is %v, want class %v", err, row.class)
			}
			if looks := len(n.asked) > 1; looks != row.looks {
				t.Errorf("it was asked for %v", n.asked)
			}
		})
	}
	t.Run("on a connection that broke an answer counts for nothing", func(t *testing.T) {
		n := &nameNode{renamed: unnamed, files: map[string]uint64{from: id}}
		s := &session{x: n}
		s.broken.Store(true)
		if err := s.rename(t.Context(), from, final, "7"); err == nil || fs.ClassOf(err) != fs.Unclear || len(n.asked) != 1 {
			t.Errorf("the error is %v; it was asked for %v", err, n.asked)
		}
	})
	t.Run("a ctx that ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := (&session{x: &nameNode{renamed: io.EOF}}).rename(ctx, from, final, "7")
		if !errors.Is(err, context.Canceled) || fs.ClassOf(err) != fs.Unclear {
			t.Errorf("the error is %v", err)
		}
	})
}
