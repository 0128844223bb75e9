package ha

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
)

// TestADeposedNameNodeProvesNothing: one that was stopped, and goes on when another
// is active, still takes itself for the active one and knows nothing of a file
// that was made since. That the file is missing isn't believed it: not to forget a
// temp, and not to make it again under another name.
func TestADeposedNameNodeProvesNothing(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	dir := directory(t, c)
	old, other, err := active(ctx, c)
	must(t, err)
	open := func(address string) fs.Driver {
		d, err := hdfsfs.Opener{}.Open(ctx, address, fs.Options{User: user, Settings: map[string]string{"dfs.replication": "1", "ipc.client.rpc-timeout.ms": patience}})
		must(t, err)
		t.Cleanup(func() { d.Close() })
		return d
	}
	deposed := open(old.Addr())
	must(t, old.Stop())
	continued := false
	defer func() {
		if !continued {
			must(t, old.Continue())
		}
	}()
	wait(ctx, time.Second)
	must(t, c.Failover(ctx, other))
	temp := dir + "/.temp"
	current := open(other.Addr())
	info, err := current.Upload(ctx, strings.NewReader("content\n"), temp, fs.UploadOptions{FileMode: 0o644, DirMode: 0o755})
	must(t, err)
	must(t, old.Continue())
	continued = true
	short, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := deposed.Discard(short, temp); err == nil || fs.ClassOf(err) == fs.Missing {
		t.Errorf("of a file that is there the deposed one is believed that it is gone: %v", err)
	} else {
		t.Log(err)
	}
	if place, err := deposed.Locate(short, info.ID, temp); err == nil {
		t.Errorf("the deposed one is believed that the file is at %+v", place)
	}
	if got, err := current.Stat(ctx, temp); err != nil || !got.Same(info) {
		t.Errorf("the file is %+v, %v", got, err)
	}
	must(t, current.Discard(ctx, temp))
	must(t, old.Restart()) // it has ended at its first edit
}
