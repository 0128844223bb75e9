package hdfsfs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// These are calls of Hadoop's ClientProtocol that the client library doesn't
// offer, or offers with the server's explanation left out. Its messages are
// registered by name: request and answer of a method are
// hadoop.hdfs.<Method>RequestProto and …ResponseProto.

// method is a call with the fields that it uses.
type method struct {
	name   string
	fields []string
	answer string // the answer's field, "" if nothing is read
}

var (
	methodFileInfo      = method{"getFileInfo", []string{"src"}, "fs"}
	methodIsFileClosed  = method{"isFileClosed", []string{"src"}, "result"}
	methodRename        = method{"rename2", []string{"src", "dst", "overwriteDest"}, ""}
	methodMkdirs        = method{"mkdirs", []string{"src", "masked", "createParent"}, "result"}
	methodDelete        = method{"delete", []string{"src", "recursive"}, "result"}
	methodSetPermission = method{"setPermission", []string{"src", "permission"}, ""}
	methodComplete      = method{"complete", []string{"src", "clientName", "last", "fileId"}, "result"}
	methodRenewLease    = method{"renewLease", []string{"clientName"}, ""}
	methodEncryptionKey = method{"getDataEncryptionKey", nil, "dataEncryptionKey"}
	methodListing       = method{"getListing", []string{"src", "startAfter", "needLocation"}, "dirList"}
)

// checkCalls returns an error if a message isn't what this file expects.
func checkCalls() error {
	for _, m := range []method{methodFileInfo, methodIsFileClosed, methodRename, methodMkdirs, methodDelete, methodSetPermission, methodComplete, methodListing, methodEncryptionKey, methodRenewLease} {
		req, err := newMessage(m.name, "Request")
		if err != nil {
			return err
		}
		for _, f := range m.fields {
			if req.Descriptor().Fields().ByName(protoreflect.Name(f)) == nil {
				return internalsError("%s takes no %s", m.name, f)
			}
		}
		resp, err := newMessage(m.name, "Response")
		if err != nil {
			return err
		}
		if m.answer != "" && resp.Descriptor().Fields().ByName(protoreflect.Name(m.answer)) == nil {
			return internalsError("%s answers no %s", m.name, m.answer)
		}
	}
	return nil
}

func newMessage(method, kind string) (protoreflect.Message, error) {
	name := "hadoop.hdfs." + strings.ToUpper(method[:1]) + method[1:] + kind + "Proto"
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil, internalsError("message %s: %w", name, err)
	}
	return t.New(), nil
}

// call makes an RPC and returns the answer's field, the zero Value if there is
// none in it.
func call(x executor, m method, values ...any) (protoreflect.Value, error) {
	req, err := newMessage(m.name, "Request")
	if err != nil {
		return protoreflect.Value{}, err
	}
	resp, err := newMessage(m.name, "Response")
	if err != nil {
		return protoreflect.Value{}, err
	}
	for i, name := range m.fields {
		fill(req, name, values[i])
	}
	if err := x.Execute(m.name, req.Interface(), resp.Interface()); err != nil {
		return protoreflect.Value{}, err
	}
	if m.answer == "" {
		return protoreflect.Value{}, nil
	}
	f := resp.Descriptor().Fields().ByName(protoreflect.Name(m.answer))
	if !resp.Has(f) {
		return protoreflect.Value{}, nil
	}
	return resp.Get(f), nil
}

// fill sets a field. A number for a field that is a message is the permission
// bits of a FsPermissionProto.
func fill(m protoreflect.Message, name string, value any) {
	f := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	if bits, ok := value.(uint32); ok && f.Kind() == protoreflect.MessageKind {
		p := m.Mutable(f).Message()
		p.Set(p.Descriptor().Fields().ByName("perm"), protoreflect.ValueOfUint32(bits))
		return
	}
	m.Set(f, protoreflect.ValueOf(value))
}

// errNothing is what a look-up of a path at which there is nothing fails with.
var errNothing = errors.New("there is nothing")

// getFileInfo asks for a path's status; errNothing if there is none.
func getFileInfo(x executor, p string) (*hdfs.FileStatus, error) {
	v, err := call(x, methodFileInfo, p)
	if err != nil {
		return nil, err
	}
	if !v.IsValid() {
		return nil, errNothing
	}
	return as[*hdfs.FileStatus](v)
}

// isFileClosed says whether nobody holds the file for writing.
func isFileClosed(x executor, p string) (bool, error) {
	v, err := call(x, methodIsFileClosed, p)
	return v.IsValid() && v.Bool(), err
}

// renameNoReplace is rename2, whose answer has no content.
func renameNoReplace(x executor, from, to string) error {
	_, err := call(x, methodRename, from, to, false)
	return err
}

// mkdirs makes one directory. It is no error if it exists.
func mkdirs(x executor, p string, mode uint32) error {
	v, err := call(x, methodMkdirs, p, mode, true)
	if err == nil && !(v.IsValid() && v.Bool()) {
		err = errors.New("the NameNode answered that it made no directory")
	}
	return err
}

// remove deletes a file or an empty directory, and says whether there was any.
func remove(x executor, p string) (bool, error) {
	v, err := call(x, methodDelete, p, false)
	return v.IsValid() && v.Bool(), err
}

func setPermission(x executor, p string, mode uint32) error {
	_, err := call(x, methodSetPermission, p, mode)
	return err
}

// complete ends a file that was written by a client's writer, whose last block is
// given, and says whether it is complete: it isn't while DataNodes haven't
// reported its blocks.
func complete(x executor, p, clientName string, last protoreflect.Message, fileID uint64) (bool, error) {
	v, err := call(x, methodComplete, p, clientName, last, fileID)
	return v.IsValid() && v.Bool(), err
}

const safeModeException = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"

// checkActive fails if the NameNode isn't the active one, to its own knowledge. A
// client renews the leases that it has, which is an edit of nothing if it has
// none, and which a standby and an observer refuse. In safe mode an active
// NameNode refuses it too, but only once it knows that it is active
// (FSNamesystem.renewLease).
func checkActive(x executor, clientName string) error {
	_, err := call(x, methodRenewLease, clientName)
	var remote hdfs.Error
	if errors.As(err, &remote) && remote.Exception() == safeModeException {
		return nil
	}
	return err
}

// refuseRouter fails if what answers is a Router of router-based federation, which
// looks like a NameNode of many namespaces: file numbers repeat there, no file is
// found by its number, and no edit proves anything about another namespace. A
// NameNode tells anybody its key for encrypted data, or that it has none; a Router
// doesn't know the call (RouterClientProtocol of Hadoop 3.4).
func refuseRouter(x executor) error {
	_, err := call(x, methodEncryptionKey)
	var remote hdfs.Error
	if errors.As(err, &remote) && remote.Exception() == "java.lang.UnsupportedOperationException" {
		return &fs.Error{Op: "open", Path: "/", Class: fs.Unsupported,
			Err: errors.New("this is a Router (router-based federation) and no NameNode: write the nameservice behind it that the path is mounted from (hdfs dfsrouteradmin -ls)")}
	}
	return err
}

// getListing returns entries of a directory after a name, in name order, and
// whether there are more; errNothing if there is no directory.
func getListing(x executor, p string, after string) (entries []*hdfs.FileStatus, more bool, err error) {
	v, err := call(x, methodListing, p, []byte(after), true)
	if err != nil {
		return nil, false, err
	}
	if !v.IsValid() {
		return nil, false, errNothing
	}
	list := v.Message()
	fields := list.Descriptor().Fields()
	partial := list.Get(fields.ByName("partialListing")).List()
	for i := range partial.Len() {
		e, err := as[*hdfs.FileStatus](partial.Get(i))
		if err != nil {
			return nil, false, err
		}
		entries = append(entries, e)
	}
	return entries, list.Get(fields.ByName("remainingEntries")).Uint() > 0, nil
}

func as[M proto.Message](v protoreflect.Value) (M, error) {
	m, ok := v.Message().Interface().(M)
	if !ok {
		return m, fmt.Errorf("the NameNode answered a %T", v.Message().Interface())
	}
	return m, nil
}
