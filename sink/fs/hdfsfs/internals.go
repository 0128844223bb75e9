package hdfsfs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// This file alone reaches into the client library, github.com/colinmarc/hdfs
// v2.4.0, which has no way to say some of what is needed here:
//
//   - Its Rename replaces. The NameNode's rename2 without overwriting, and
//     isFileClosed, can be sent on the connection that the client keeps in the
//     private field "namenode".
//   - A FileWriter that failed leaves two goroutines behind, which only end
//     when its block stream's private channels are closed.
//   - A FileWriter that the NameNode refuses its next block, or its end, until
//     the blocks before are reported has forgotten its last block, without which
//     it can't ask again: a second Close would never complete a file of several
//     blocks.
//   - It takes whatever protection of calls the NameNode offers most, and doesn't
//     say which: that shows in the type of the connection's private "transport".
//   - That no NameNode was reached, so that nothing was sent, shows in the text
//     of an error only.
//
// The version is fixed in go.mod and the library is no longer developed. Should
// it change all the same, checkInternals fails before anything is written, and
// says what to look at.

// executor is the client's connection to the NameNode.
type executor interface {
	Execute(method string, req, resp proto.Message) error
}

// noNamenodes begins the error of a call that reached no NameNode.
const noNamenodes = "no available namenodes"

// checkInternals returns an error if the library isn't the one this package
// was written for. It uses no network.
func checkInternals() error {
	return errors.Join(checkExecutor(), checkWriter(), checkText(), checkCalls())
}

func internalsError(format string, args ...any) error {
	return fmt.Errorf("the HDFS client library isn't v2.4.0, which this plugin was built for; build it with the version in go.mod: "+format, args...)
}

func checkExecutor() error {
	f, ok := reflect.TypeFor[hdfs.Client]().FieldByName("namenode")
	if !ok || !f.Type.Implements(reflect.TypeFor[executor]()) {
		return internalsError("Client.namenode can't execute a call")
	}
	if t, ok := f.Type.Elem().FieldByName("transport"); !ok || t.Type.Kind() != reflect.Interface {
		return internalsError("%v has no transport", f.Type)
	}
	return nil
}

// blockFields are the fields of a FileWriter's block writer that tell which block
// it writes.
var blockFields = [...]string{"ClientName", "Block", "BlockSize", "Offset"}

// writerPath leads from a FileWriter to its block stream, by pointers.
var writerPath = [...]string{"blockWriter", "stream"}

// streamFields are the block stream's fields that abandon uses.
var streamFields = [...]struct {
	name string
	typ  reflect.Type
}{
	{"closed", reflect.TypeFor[bool]()},
	{"packets", reflect.TypeFor[chan int]()},
	{"heartbeats", reflect.TypeFor[chan struct{}]()},
	{"acksDone", reflect.TypeFor[chan struct{}]()},
}

// signingTransport is the library's type of a transport whose calls are protected,
// which has a field for how.
const signingTransport = "*rpc.saslTransport"

// checkRPCProtection fails if the NameNode's answers are protected less than the
// configuration asks for.
func checkRPCProtection(c *hdfs.Client, least string) error {
	if least == "" || least == "authentication" {
		return nil
	}
	t := private(private(reflect.ValueOf(c).Elem(), "namenode").Elem(), "transport").Elem()
	got := "authentication"
	if t.Type().String() == signingTransport {
		got = "integrity"
		if private(t.Elem(), "privacy").Bool() {
			got = "privacy"
		}
	}
	if got == least || got == "privacy" {
		return nil
	}
	return &fs.Error{Op: "open", Path: "/", Class: fs.Target,
		Err: fmt.Errorf("the NameNode offers %s for its calls, and hadoop.rpc.protection here asks for %s at least; set the same on both", got, least)}
}

func checkWriter() error {
	t := reflect.TypeFor[hdfs.FileWriter]()
	if f, ok := t.FieldByName("fileId"); !ok || f.Type != reflect.TypeFor[*uint64]() {
		return internalsError("%v has no fileId", t)
	}
	for _, name := range writerPath {
		f, ok := t.FieldByName(name)
		if !ok || f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			return internalsError("%v has no pointer %s", t, name)
		}
		t = f.Type.Elem()
		if name == "blockWriter" {
			for _, field := range blockFields {
				if _, ok := t.FieldByName(field); !ok {
					return internalsError("%v has no %s", t, field)
				}
			}
			f, _ := t.FieldByName("Block")
			if located, ok := reflect.Zero(f.Type).Interface().(proto.Message); !ok || located.ProtoReflect().Descriptor().Fields().ByName("b") == nil {
				return internalsError("%v is no located block", f.Type)
			}
		}
	}
	for _, want := range streamFields {
		if f, ok := t.FieldByName(want.name); !ok || f.Type != want.typ {
			return internalsError("%v has no %s of type %v", t, want.name, want.typ)
		}
	}
	return nil
}

func checkText() error {
	_, err := hdfs.NewClient(hdfs.ClientOptions{User: "nobody"}) // without an address
	if err == nil || !strings.HasPrefix(err.Error(), noNamenodes) {
		return internalsError("without a NameNode it says %v", err)
	}
	return nil
}

// private is the value of a private field of the struct that v is.
func private(v reflect.Value, name string) reflect.Value {
	f := v.FieldByName(name)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// executorOf returns the client's own connection.
func executorOf(c *hdfs.Client) executor {
	return private(reflect.ValueOf(c).Elem(), "namenode").Interface().(executor)
}

// blockOf is what w writes its current block with, a nil pointer before the first.
func blockOf(w *hdfs.FileWriter) reflect.Value {
	return reflect.ValueOf(private(reflect.ValueOf(w).Elem(), "blockWriter").Interface())
}

// askAgain lets w ask for its next block once more, after the NameNode has
// refused it. last is the full block before, which is finished and of which w
// gets back no more than that it is full: its connection is closed already.
func askAgain(w *hdfs.FileWriter, last reflect.Value) {
	full := reflect.New(last.Type().Elem())
	for _, name := range blockFields {
		full.Elem().FieldByName(name).Set(last.Elem().FieldByName(name))
	}
	private(reflect.ValueOf(w).Elem(), "blockWriter").Set(full)
}

// ending is what the NameNode needs to know to complete w's file, when last is
// what its last block was written with.
func ending(w *hdfs.FileWriter, last reflect.Value) (clientName string, block protoreflect.Message, fileID uint64) {
	located := last.Elem().FieldByName("Block").Interface().(proto.Message).ProtoReflect()
	block = located.Get(located.Descriptor().Fields().ByName("b")).Message()
	if id := private(reflect.ValueOf(w).Elem(), "fileId").Interface().(*uint64); id != nil {
		fileID = *id
	}
	return last.Elem().FieldByName("ClientName").String(), block, fileID
}

// abandon ends the goroutines of a writer on which a call has failed, and waits
// for them. Its connections must have been closed, and nobody may use w any
// more: least of all Close, which after a failure can commit a wrong length.
func abandon(w *hdfs.FileWriter) {
	v := reflect.ValueOf(w).Elem()
	for _, name := range writerPath {
		p := private(v, name)
		if p.IsNil() {
			return // no block was begun, or the last one is done
		}
		v = p.Elem()
	}
	acksDone := private(v, "acksDone").Interface().(chan struct{})
	closed := private(v, "closed").Addr().Interface().(*bool)
	if !*closed { // Close didn't come to the block: heartbeats go on
		*closed = true
		close(private(v, "heartbeats").Interface().(chan struct{}))
	}
	select {
	case <-acksDone: // only after packets was closed
	default:
		// The reader of acks drains packets until it is closed. Nobody sends.
		close(private(v, "packets").Interface().(chan int))
		<-acksDone
	}
}
