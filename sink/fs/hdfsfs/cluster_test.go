package hdfsfs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	client "github.com/colinmarc/hdfs/v2"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	c := shared.Cluster(t)
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nobody := unused.Addr().String()
	must(t, unused.Close())
	for _, row := range []struct {
		name      string
		authority string
		user      string
		settings  map[string]string
		class     fs.Class
		says      []string
	}{
		{"nobody listens", nobody, user, usual, fs.Target, []string{nobody, "connection refused", "fs.defaultFS"}},
		{"a DataNode's port", c.DataNode(0).Addr(), user, hasty, fs.Target, []string{c.DataNode(0).Addr()}},
		{"the port of the web pages", c.HTTPAddr(), user, hasty, fs.Target, []string{c.HTTPAddr()}},
		{"no user", c.Authority(), "", usual, fs.Unsupported, []string{"hdfs_user", "HADOOP_USER_NAME"}},
		{"a nameservice that isn't configured", "logs", user, with("dfs.nameservices", "other"), fs.Unsupported, []string{"logs", "other"}},
		{"no authority and no default", "", user, usual, fs.Unsupported, []string{"hadoop_conf_dir"}},
		{"Kerberos", c.Authority(), user, with("hadoop.security.authentication", "kerberos"), fs.Unsupported, []string{"Kerberos"}},
		{"a size that is none", c.Authority(), user, with("dfs.blocksize", "big"), fs.Unsupported, []string{"dfs.blocksize", "big"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := hdfsfs.Opener{}.Open(bounded(t, time.Minute), row.authority, fs.Options{User: row.user, Settings: row.settings})
			if err == nil {
				f.Close()
			}
			wantClass(t, err, row.class)
			mentions(t, err, row.says...)
		})
	}
}

func TestTheDefaultFileSystemIsThatOfTheConfiguration(t *testing.T) {
	c := shared.Cluster(t)
	f := open(t, "", user, with("fs.defaultFS", c.URI()))
	upload(t, f, directory(t, c)+"/a", "content")
}

func TestFilesBelongToTheUser(t *testing.T) {
	c := shared.Cluster(t)
	for _, row := range []struct{ name, option, env, want string }{
		{"the option", "carol", "dave", "carol"},
		{"HADOOP_USER_NAME", "", "dave", "dave"},
		{"the operating system's", "", "", "bob"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := directory(t, c)
			must(t, c.Chmod(t.Context(), dir, 0o777))
			d := hdfsfs.Opener{System: system("HADOOP_USER_NAME", row.env)}
			f, err := d.Open(t.Context(), c.Authority(), fs.Options{User: row.option, Settings: usual})
			must(t, err)
			defer f.Close()
			upload(t, f.(*hdfsfs.Driver), dir+"/new/a", "content")
			for _, p := range []string{dir + "/new", dir + "/new/a"} {
				if st := status(t, superuser(t, c), p); st.GetOwner() != row.want {
					t.Errorf("%s belongs to %s, want %s", p, st.GetOwner(), row.want)
				}
			}
		})
	}
}

func status(t testing.TB, hc *client.Client, p string) *client.FileStatus {
	t.Helper()
	info, err := hc.Stat(p)
	must(t, err)
	return info.Sys().(*client.FileStatus)
}

func TestShapeOfAFile(t *testing.T) {
	c := shared.Cluster(t)
	hc := superuser(t, c)
	for _, row := range []struct {
		name        string
		settings    map[string]string
		o           fs.UploadOptions
		replication uint32
		blockSize   uint64
		file, dir   uint32
	}{
		{"as the server does", map[string]string{}, fs.UploadOptions{}, 2, 128 << 20, 0o644, 0o755},
		{"as the client's configuration says", map[string]string{"dfs.replication": "1", "dfs.blocksize": "2m", "fs.permissions.umask-mode": "077"},
			fs.UploadOptions{}, 1, 2 << 20, 0o600, 0o700},
		{"as asked for, whatever the configuration", map[string]string{"dfs.replication": "1", "dfs.blocksize": "2m", "fs.permissions.umask-mode": "077"},
			fs.UploadOptions{Replication: 2, BlockSize: 1 << 20, FileMode: 0o664, DirMode: 0o1777}, 2, 1 << 20, 0o664, 0o1777},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := directory(t, c)
			f := open(t, c.Authority(), user, row.settings)
			p := dir + "/new/a"
			_, err := f.Upload(t.Context(), strings.NewReader(content), p, row.o)
			must(t, err)
			st := status(t, hc, p)
			if st.GetBlockReplication() != row.replication || st.GetBlocksize() != row.blockSize || st.GetPermission().GetPerm() != row.file {
				t.Errorf("replication %d, block size %d, mode %o", st.GetBlockReplication(), st.GetBlocksize(), st.GetPermission().GetPerm())
			}
			if perm := status(t, hc, dir+"/new").GetPermission().GetPerm(); perm != row.dir {
				t.Errorf("the directory's mode is %o, want %o", perm, row.dir)
			}
		})
	}
}

// TestModesUnderADefaultACL: it takes rights from what is made below it, except
// from what was asked for by number.
func TestModesUnderADefaultACL(t *testing.T) {
	c := shared.Cluster(t)
	hc, dir := superuser(t, c), directory(t, c)
	_, err := c.FsShell(bounded(t, time.Minute), "-setfacl", "-m", "default:user::rwx,default:group::---,default:other::---", dir)
	must(t, err)
	f := open(t, c.Authority(), user, usual)
	info := upload(t, f, dir+"/d/a", content)
	const bits = 0o1777
	if file, parent := status(t, hc, dir+"/d/a").GetPermission().GetPerm()&bits, status(t, hc, dir+"/d").GetPermission().GetPerm()&bits; file != 0o644 || parent != 0o755 {
		t.Errorf("modes are %o and %o, want those asked for", file, parent)
	}
	if now, err := f.Stat(t.Context(), dir+"/d/a"); err != nil || !now.Same(info) {
		t.Errorf("Stat answers %+v, %v; Upload answered %+v", now, err, info)
	}
	_, err = f.Upload(t.Context(), strings.NewReader(content), dir+"/d/b", fs.UploadOptions{})
	must(t, err)
	if perm := status(t, hc, dir+"/d/b").GetPermission().GetPerm() & bits; perm != 0o600 {
		t.Errorf("without a mode asked for it is %o, want the ACL's 600", perm)
	}
}

func TestRefusals(t *testing.T) {
	c := shared.Cluster(t)
	f := open(t, c.Authority(), user, usual)
	putIn := func(p string, o fs.UploadOptions) error {
		_, err := f.Upload(bounded(t, time.Minute), strings.NewReader(content), p, o)
		return err
	}
	for _, row := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		act     func(dir string) error
		class   fs.Class
		says    []string
	}{
		{"quota of names", func(t *testing.T, dir string) { must(t, c.SetQuota(t.Context(), dir, 1)) },
			func(dir string) error { return putIn(dir+"/a", options) }, fs.Path, []string{"NSQuotaExceeded", "-setQuota"}},
		{"quota of names, for a directory", func(t *testing.T, dir string) { must(t, c.SetQuota(t.Context(), dir, 1)) },
			func(dir string) error { return putIn(dir+"/d/a", options) }, fs.Path, []string{"NSQuotaExceeded", "-setQuota"}},
		{"quota of space", func(t *testing.T, dir string) { must(t, c.SetSpaceQuota(t.Context(), dir, 1<<20)) },
			func(dir string) error { return putIn(dir+"/a", options) }, fs.Path, []string{"DSQuotaExceeded", "-setSpaceQuota"}},
		{"permission", func(t *testing.T, dir string) { must(t, c.Chown(t.Context(), dir, "somebody")) },
			func(dir string) error { return putIn(dir+"/a", options) }, fs.Path, []string{user, "-chown", "hdfs_user"}},
		{"permission, for a directory", func(t *testing.T, dir string) { must(t, c.Chown(t.Context(), dir, "somebody")) },
			func(dir string) error { return putIn(dir+"/d/a", options) }, fs.Path, []string{"user=" + user, "-chown"}},
		{"a block that is too small", nil,
			func(dir string) error { return putIn(dir+"/a", fs.UploadOptions{BlockSize: 1024}) }, fs.Path, []string{"min-block-size", "block_size"}},
		{"a block that isn't whole", nil,
			func(dir string) error { return putIn(dir+"/a", fs.UploadOptions{BlockSize: 1<<20 + 1}) }, fs.Path, []string{"block_size", "512"}},
		{"more replicas than the server allows", nil,
			func(dir string) error { return putIn(dir+"/a", fs.UploadOptions{Replication: 600}) }, fs.Path, []string{"600", "replication"}},
		{"a name with a colon", nil,
			func(dir string) error { return putIn(dir+"/12:00", options) }, fs.Path, []string{"colon", "bucket_format"}},
		{"a name that isn't UTF-8", nil,
			func(dir string) error { return putIn(dir+"/\xff", options) }, fs.Path, []string{"UTF-8"}},
		{"erasure coding", func(t *testing.T, dir string) { must(t, c.SetErasureCoding(t.Context(), dir, "XOR-2-1-1024k")) },
			func(dir string) error { return putIn(dir+"/a", options) }, fs.Unsupported, []string{"erasure coded", "hdfs ec"}},
		{"erasure coding above a new directory", func(t *testing.T, dir string) { must(t, c.SetErasureCoding(t.Context(), dir, "XOR-2-1-1024k")) },
			func(dir string) error { return putIn(dir+"/d/a", options) }, fs.Unsupported, []string{"erasure coded"}},
		{"an encryption zone", func(t *testing.T, dir string) { must(t, c.CreateEncryptionZone(t.Context(), dir)) },
			func(dir string) error { return putIn(dir+"/a", options) }, fs.Unsupported, []string{"encryption zone"}},
		{"an encryption zone above a new directory", func(t *testing.T, dir string) { must(t, c.CreateEncryptionZone(t.Context(), dir)) },
			func(dir string) error { return putIn(dir+"/d/a", options) }, fs.Unsupported, []string{"encryption zone"}},
		{"locating where a file can't be made", func(t *testing.T, dir string) { must(t, c.Chown(t.Context(), dir, "somebody")) },
			func(dir string) error { _, err := f.Locate(bounded(t, time.Minute), "", dir+"/a"); return err }, fs.Path, []string{"locate"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := directory(t, c)
			if row.prepare != nil {
				row.prepare(t, dir)
			}
			err := row.act(dir)
			wantClass(t, err, row.class)
			mentions(t, err, row.says...)
			// What is refused harms no other path.
			upload(t, f, directory(t, c)+"/a", content)
		})
	}
}

// TestRenameIntoAnEncryptionZone: HDFS moves nothing over its border.
func TestRenameIntoAnEncryptionZone(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	info := upload(t, f, dir+"/a", content)
	must(t, c.MkdirAs(t.Context(), user, dir+"/zone"))
	must(t, c.CreateEncryptionZone(t.Context(), dir+"/zone"))
	wantClass(t, f.Publish(t.Context(), info, dir+"/zone/a", publishing), fs.Unsupported)
	if now, err := f.Stat(t.Context(), dir+"/a"); err != nil || !now.Same(info) {
		t.Errorf("Stat answers %+v, %v", now, err)
	}
}

func TestSafeMode(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	info := upload(t, f, dir+"/a", content)
	must(t, c.SafeMode(t.Context(), true))
	defer c.SafeMode(context.Background(), false)
	ctx := bounded(t, time.Minute)
	_, uploadErr := f.Upload(ctx, strings.NewReader(content), dir+"/b", options)
	_, belowErr := f.Upload(ctx, strings.NewReader(content), dir+"/d/b", options)
	_, locateErr := f.Locate(ctx, info.ID, dir+"/a")
	for op, err := range map[string]error{
		"upload":                      uploadErr,
		"upload into a new directory": belowErr,
		"publish":                     f.Publish(ctx, info, dir+"/b", publishing),
		"discard":                     f.Discard(ctx, dir+"/a"),
		"locate":                      locateErr,
	} {
		t.Run(op, func(t *testing.T) {
			wantClass(t, err, fs.Target)
			mentions(t, err, "safemode leave")
		})
	}
	if now, err := f.Stat(ctx, dir+"/a"); err != nil || !now.Same(info) {
		t.Errorf("Stat answers %+v, %v, want %+v", now, err, info)
	}
	must(t, c.SafeMode(t.Context(), false))
	upload(t, f, dir+"/b", content)
}

func TestAFileThatIsBeingWritten(t *testing.T) {
	c := shared.Cluster(t)
	hc, f, dir := superuser(t, c), open(t, c.Authority(), user, usual), directory(t, c)
	w, err := hc.CreateFile(dir+"/a", 2, 1<<20, 0o644)
	must(t, err)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat(t.Context(), dir+"/a")
	if err != nil || info.Closed {
		t.Errorf("Stat answers %+v, %v", info, err)
	}
	if infos, err := f.List(t.Context(), dir); err != nil || len(infos) != 1 || infos[0].Closed {
		t.Errorf("List answers %+v, %v", infos, err)
	}
	if found := find(t, f, info.ID, dir); !found.Exists || found.Info.Closed {
		t.Errorf("it is found as %+v", found)
	}
	_, err = f.Upload(t.Context(), strings.NewReader("other"), dir+"/a", options)
	wantClass(t, err, fs.Exists)
	finish(t, w)
	if info, err := f.Stat(t.Context(), dir+"/a"); err != nil || !info.Closed || info.Length != int64(len(content)) {
		t.Errorf("Stat of the closed file answers %+v, %v", info, err)
	}
}

// TestATempThatIsTakenAway: the one that takes it away isn't taken for an
// answer that there is nothing, nor that there is something.
func TestATempThatIsTakenAway(t *testing.T) {
	c := shared.Cluster(t)
	for _, row := range []struct {
		name string
		act  func(hc *client.Client, p string) error
	}{
		{"removed", func(hc *client.Client, p string) error { return hc.Remove(p) }},
		{"replaced", func(hc *client.Client, p string) error {
			if err := hc.Remove(p); err != nil {
				return err
			}
			return hc.CreateEmptyFile(p)
		}},
		{"moved", func(hc *client.Client, p string) error { return hc.Rename(p, p+".elsewhere") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, dir, hc := open(t, c.Authority(), user, usual), directory(t, c), superuser(t, c)
			done := false
			src := &interrupted{Reader: strings.NewReader(strings.Repeat("x", 3<<20)), before: func(off int64) {
				if off >= 2<<20 && !done {
					done = true
					must(t, row.act(hc, dir+"/.temp"))
				}
			}}
			_, err := f.Upload(bounded(t, time.Minute), src, dir+"/.temp", options)
			wantClass(t, err, fs.Unclear)
		})
	}
}

// interrupted is a source during whose reading something happens.
type interrupted struct {
	*strings.Reader
	before func(off int64)
}

func (s *interrupted) ReadAt(p []byte, off int64) (int, error) {
	s.before(off)
	return s.Reader.ReadAt(p, off)
}

// find looks for a file by its identity alone, under a name that nobody has.
func find(t *testing.T, f *hdfsfs.Driver, id fs.FileID, dir string) fs.Entry {
	t.Helper()
	place, err := f.Locate(t.Context(), id, dir+"/nobody has this name")
	must(t, err)
	if !place.Searched {
		t.Errorf("Locate hasn't searched: %+v", place)
	}
	return place.Elsewhere
}

func TestLocateWhereOneMayNotLook(t *testing.T) {
	c := shared.Cluster(t)
	hc, f, dir := superuser(t, c), open(t, c.Authority(), user, usual), directory(t, c)
	info := upload(t, f, dir+"/a", content)
	must(t, hc.MkdirAll("/secret", 0o700))
	must(t, hc.Rename(dir+"/a", fmt.Sprint("/secret/", info.ID)))
	found := find(t, f, info.ID, dir)
	if !found.Exists || found.Info.ID != info.ID || found.Info.Length != -1 || found.Info.Dir || found.Info.Same(info) {
		t.Errorf("it is found as %+v", found)
	}
	if found := find(t, f, info.ID+"99999", dir); found.Exists {
		t.Errorf("nothing is found as %+v", found)
	}
}

// TestLocateTellsTheName that a file has where its directory was moved to, also
// if there are more files than one answer lists, and none where it may not list.
func TestLocateTellsTheName(t *testing.T) {
	c := shared.Cluster(t)
	hc, f, dir := superuser(t, c), open(t, c.Authority(), user, usual), directory(t, c)
	info := upload(t, f, dir+"/b/.temp", content)
	for i := range 2*listLimit + 1 {
		must(t, c.MkdirAs(t.Context(), user, fmt.Sprintf("%s/b/%02d", dir, i)))
		must(t, c.MkdirAs(t.Context(), user, fmt.Sprintf("%s/b/+%02d", dir, i)))
	}
	must(t, hc.Rename(dir+"/b", dir+"/moved"))
	for _, name := range []string{".temp", "zz", "+10a"} {
		if name != ".temp" {
			must(t, hc.Rename(dir+"/moved/.temp", dir+"/moved/"+name))
		}
		found := find(t, f, info.ID, dir)
		if !found.Exists || found.Info.Path != name || !found.Info.Same(info) {
			t.Errorf("it is found as %+v, want the name %s", found, name)
		}
		if name != ".temp" {
			must(t, hc.Rename(dir+"/moved/"+name, dir+"/moved/.temp"))
		}
	}
	must(t, hc.Chmod(dir+"/moved", 0o300)) // it may be entered and not listed
	if found := find(t, f, info.ID, dir); !found.Exists || found.Info.Path != "" || !found.Info.Same(info) {
		t.Errorf("it is found as %+v, want no name", found)
	}
	must(t, hc.Chmod(dir+"/moved", 0o755))
}

func TestListInSeveralSteps(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	const n = 3*listLimit + 1
	for i := range n {
		must(t, c.MkdirAs(t.Context(), user, fmt.Sprintf("%s/%02d", dir, i)))
	}
	infos, err := f.List(t.Context(), dir)
	must(t, err)
	if len(infos) != n {
		t.Fatalf("%d entries, want %d", len(infos), n)
	}
	for i, info := range infos {
		if want := fmt.Sprintf("%s/%02d", dir, i); info.Path != want {
			t.Errorf("entry %d is %s", i, info.Path)
		}
	}
}

func TestReadingEndsWithItsCtxAndWithClose(t *testing.T) {
	c := shared.Cluster(t)
	f, dir := open(t, c.Authority(), user, usual), directory(t, c)
	upload(t, f, dir+"/a", strings.Repeat(content, 100_000))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := f.Open(ctx, dir+"/a")
	must(t, err)
	var b [100]byte
	if _, err := r.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(b[:]); !errors.Is(err, context.Canceled) {
		t.Errorf("Read answers %v", err)
	}
	_ = r.Close() // it was cut
	if _, err := r.Read(b[:]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read of a closed file answers %v", err)
	}
	must(t, r.Close())
	upload(t, f, dir+"/b", content)
}
