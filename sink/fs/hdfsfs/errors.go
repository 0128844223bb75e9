package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// effect is what a call could have done before it failed.
type effect int

const (
	reading  effect = iota // nothing
	changing               // what it was to do, or nothing
	writing                // a part of it was done and acknowledged: the file exists
)

// verdict is what an exception means, and what an operator can do.
type verdict struct {
	class  fs.Class
	advice string
}

const (
	adviceSpace   = "raise the quota (hdfs dfsadmin -setSpaceQuota) or make room below it"
	adviceNames   = "raise the quota (hdfs dfsadmin -setQuota) or remove files below it"
	adviceParent  = "a file is where a directory should be: move it away"
	advicePerm    = "give the user the right to write there (hdfs dfs -chown, -chmod or -setfacl), or set hdfs_user"
	adviceName    = "choose another bucket or part name"
	adviceWait    = "it is tried again by itself"
	adviceSafe    = "wait until the NameNode leaves safe mode, or run hdfs dfsadmin -safemode leave"
	adviceActive  = "see that one NameNode is active (hdfs haadmin -getAllServiceState) and that all of them are configured"
	adviceAddress = "see that a NameNode runs, and that its address is right (fs.defaultFS or dfs.namenode.rpc-address)"
	adviceEntries = "the directory is full: raise dfs.namenode.fs-limits.max-directory-items, or use smaller buckets"
)

const (
	accessControl      = "org.apache.hadoop.security.AccessControlException"
	notReplicatedYet   = "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException"
	parentNotDirectory = "org.apache.hadoop.fs.ParentNotDirectoryException"
)

// exceptions are those that the NameNode answers with, by the class's full
// name. It throws them before it changes anything.
var exceptions = map[string]verdict{
	"java.io.FileNotFoundException":                                {fs.Missing, ""},
	"org.apache.hadoop.fs.FileAlreadyExistsException":              {fs.Exists, ""},
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException": {fs.Exists, ""},
	accessControl:      {fs.Path, advicePerm},
	parentNotDirectory: {fs.Path, adviceParent},
	"org.apache.hadoop.fs.PathIsNotDirectoryException":                                    {fs.Path, adviceParent},
	"org.apache.hadoop.fs.PathIsNotEmptyDirectoryException":                               {fs.Path, "a directory is where a file should be: move it away"},
	"org.apache.hadoop.fs.InvalidPathException":                                           {fs.Path, adviceName},
	"org.apache.hadoop.fs.PathAccessDeniedException":                                      {fs.Path, advicePerm},
	"org.apache.hadoop.fs.UnresolvedLinkException":                                        {fs.Path, "symbolic links can't be followed: name the directory that it leads to"},
	"org.apache.hadoop.hdfs.protocol.UnresolvedPathException":                             {fs.Path, "symbolic links can't be followed: name the directory that it leads to"},
	"org.apache.hadoop.HadoopIllegalArgumentException":                                    {fs.Path, ""},
	"java.lang.IllegalArgumentException":                                                  {fs.Path, ""},
	"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException":                            {fs.Path, adviceNames},
	"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException":                            {fs.Path, adviceSpace},
	"org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException":                 {fs.Path, "raise the storage type's quota (hdfs dfsadmin -setSpaceQuota … -storageType) or make room below it"},
	"org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException":      {fs.Path, "shorten the bucket's or the part's name, or raise dfs.namenode.fs-limits.max-component-length"},
	"org.apache.hadoop.hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException": {fs.Path, adviceEntries},
	"org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException":                      {fs.Path, "a snapshot can't be written to: name another directory"},
	safeModeException: {fs.Target, adviceSafe},
	standbyException:  {fs.Target, adviceActive},
	observerException: {fs.Target, adviceActive},
	"org.apache.hadoop.ipc.RetriableException":           {fs.Target, adviceWait},
	"org.apache.hadoop.hdfs.protocol.RetriableException": {fs.Target, adviceWait},
	"org.apache.hadoop.ipc.CallQueueTooBigException":     {fs.Target, adviceWait},
	notReplicatedYet: {fs.Target, adviceWait},
	"org.apache.hadoop.security.authorize.AuthorizationException":  {fs.Target, "let the user in (hadoop-policy.xml, hadoop.proxyuser.*), or set hdfs_user"},
	"org.apache.hadoop.security.token.SecretManager$InvalidToken":  {fs.Target, adviceWait},
	"org.apache.hadoop.ipc.RpcNoSuchMethodException":               {fs.Unsupported, "the NameNode is too old: HDFS 2.7 or later is needed"},
	"org.apache.hadoop.ipc.RpcNoSuchProtocolException":             {fs.Unsupported, "this is no NameNode's RPC port: see fs.defaultFS or dfs.namenode.rpc-address"},
	"org.apache.hadoop.hdfs.UnknownCryptoProtocolVersionException": {fs.Unsupported, adviceEncrypted},
	"org.apache.hadoop.crypto.UnknownCipherSuiteException":         {fs.Unsupported, adviceEncrypted},
}

// ioException is what the NameNode throws if it has no better name. What it
// means depends on the method.
const ioException = "java.io.IOException"

var ioExceptions = map[string]verdict{
	// The block size or the replication is out of the server's bounds.
	"create": {fs.Path, "set block_size and replication to what the server allows"},
	// No block was made: there are no DataNodes, or none that has room.
	"addBlock": {fs.Target, "see that DataNodes run and have room (hdfs dfsadmin -report)"},
}

// failed wraps an error that stopped op, once. It decides what it means.
func failed(ctx context.Context, op, p string, err error, e effect) error {
	var done *fs.Error
	if errors.As(err, &done) {
		return err
	}
	var none *noNameNodeError
	if errors.As(err, &none) && ctx.Err() == nil {
		return &fs.Error{Op: op, Path: p, Class: fs.Target, Err: advise(err, none.advice())}
	}
	if isStandby(err) { // the library's text names whatever call noticed it
		return &fs.Error{Op: op, Path: p, Class: fs.Target, Err: &standbyError{err}}
	}
	var remote hdfs.Error
	if errors.As(err, &remote) {
		v := judge(remote, e)
		return &fs.Error{Op: op, Path: p, Class: v.class, Err: &remoteError{err, remote, v.advice}}
	}
	if v, ok := judgeLocal(err, e); ok {
		return &fs.Error{Op: op, Path: p, Class: v.class, Err: advise(err, v.advice)}
	}
	if ctx.Err() != nil {
		return ended(ctx, op, p, err)
	}
	class, advice := fs.Unclear, ""
	var dial *dialError
	switch {
	case strings.HasPrefix(err.Error(), noNamenodes):
		class, advice = fs.Target, adviceAddress
	case errors.As(err, &dial):
		class, advice = fs.Target, adviceWait
	case e == reading:
		class = fs.Target
	}
	return &fs.Error{Op: op, Path: p, Class: class, Err: advise(err, advice)}
}

// judge says what an exception means after e.
func judge(remote hdfs.Error, e effect) verdict {
	v, known := exceptions[remote.Exception()]
	if remote.Exception() == ioException {
		v, known = ioExceptions[remote.Method()]
	}
	switch {
	case !known && e == reading:
		return verdict{fs.Target, ""}
	case !known:
		return verdict{fs.Unclear, ""}
	case e == writing && (v.class == fs.Missing || v.class == fs.Exists):
		// Somebody removed or replaced the file under its writer.
		return verdict{fs.Unclear, "somebody else removes or writes the same temp file: give each agent its own writer_id"}
	}
	return v
}

// judgeLocal is judge for what the library has made of an exception.
func judgeLocal(err error, e effect) (verdict, bool) {
	for _, row := range []struct {
		is error
		verdict
	}{
		{errNothing, verdict{fs.Missing, ""}},
		{os.ErrNotExist, verdict{fs.Missing, ""}},
		{os.ErrExist, verdict{fs.Exists, ""}},
		{os.ErrPermission, verdict{fs.Path, advicePerm}},
		{os.ErrInvalid, verdict{fs.Path, adviceName}},
	} {
		if !errors.Is(err, row.is) {
			continue
		}
		if e == writing && row.class != fs.Path {
			return verdict{fs.Unclear, ""}, true
		}
		return row.verdict, true
	}
	return verdict{}, false
}

// ended is the error of a call whose ctx ended; err is what that looked like,
// or nil.
func ended(ctx context.Context, op, p string, err error) error {
	cause := context.Cause(ctx)
	if err != nil && !errors.Is(err, cause) {
		cause = fmt.Errorf("%w (%w)", cause, err)
	}
	return &fs.Error{Op: op, Path: p, Class: fs.Unclear, Err: cause}
}

// standbyError is that the NameNode became a standby in the middle of an act.
type standbyError struct{ err error }

func (e *standbyError) Error() string {
	return "the NameNode is no longer the active one; " + adviceWait
}
func (e *standbyError) Unwrap() error { return e.err }

func advise(err error, advice string) error {
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// remoteError is an exception in words. Java's stack trace is left out.
type remoteError struct {
	err       error
	exception hdfs.Error // in err
	advice    string
}

func (e *remoteError) Error() string {
	name := e.exception.Exception()
	name = name[strings.LastIndexAny(name, ".$")+1:]
	if name == "" {
		name = e.exception.Desc()
	}
	message, _, _ := strings.Cut(e.exception.Message(), "\n")
	text := fmt.Sprintf("%s (%s): %s", name, e.exception.Method(), strings.TrimSpace(message))
	if e.advice != "" {
		text += "; " + e.advice
	}
	return text
}

func (e *remoteError) Unwrap() error { return e.err }
