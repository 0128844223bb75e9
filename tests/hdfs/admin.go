package hdfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// admin calls the active NameNode as the superuser: all of them in turn until
// one doesn't say that it is a standby.
func (c *Cluster) admin(ctx context.Context, method string, request message) (answer []field, err error) {
	for _, n := range c.nameNodes {
		answer, err = call(ctx, n.addr, Superuser, clientProtocol, method, request)
		var remote *RemoteError
		if err == nil || errors.As(err, &remote) && remote.Exception != standbyException {
			return answer, err
		}
	}
	return answer, err
}

const standbyException = "org.apache.hadoop.ipc.StandbyException"

// HDFS's constants: SafeModeActionProto, and quotas that mean something else.
const (
	safeModeLeave  = 1
	safeModeEnter  = 2
	safeModeGet    = 3
	quotaKeep      = 1<<63 - 1
	quotaNone      = 1<<64 - 1
	datanodesLive  = 2
	fieldDatanode  = 1 // DatanodeInfoProto.id
	fieldCapacity  = 2 // DatanodeInfoProto.capacity
	fieldXferPort  = 4 // DatanodeIDProto.xferPort
	fieldResult    = 1
	openFilesAll   = 1
	fieldOpenPath  = 2
	permissionBits = 0o1777
)

// writable says whether the NameNode at addr takes writes: it is active and not in
// safe mode.
func (c *Cluster) writable(ctx context.Context, addr string) (bool, error) {
	fs, err := call(ctx, addr, Superuser, clientProtocol, "setSafeMode", message(nil).number(1, safeModeGet).number(2, 1))
	if err != nil {
		return false, err
	}
	return len(fs) == 1 && fs[0].n == fieldResult && fs[0].number == 0, nil
}

// isLive says whether the NameNode counts the DataNode at addr as live, with
// room for blocks.
func (c *Cluster) isLive(ctx context.Context, addr string) (bool, error) {
	report, err := c.admin(ctx, "getDatanodeReport", message(nil).number(1, datanodesLive))
	if err != nil {
		return false, err
	}
	for _, node := range report {
		if port := nested(node.bytes, fieldDatanode, fieldXferPort); !strings.HasSuffix(addr, fmt.Sprint(":", port)) {
			continue
		}
		// One that has registered is given blocks once it has told its room.
		fs, err := fields(node.bytes)
		for _, f := range fs {
			if f.n == fieldCapacity && f.number > 0 {
				return true, err
			}
		}
	}
	return false, nil
}

// nested is the number of a message's message's field, 0 if there is none.
func nested(m []byte, outer, inner protowire.Number) uint64 {
	fs, _ := fields(m)
	for _, f := range fs {
		if f.n != outer {
			continue
		}
		in, _ := fields(f.bytes)
		for _, g := range in {
			if g.n == inner {
				return g.number
			}
		}
	}
	return 0
}

// SafeMode switches the NameNode's safe mode, in which it refuses writes.
func (c *Cluster) SafeMode(ctx context.Context, on bool) error {
	action := uint64(safeModeLeave)
	if on {
		action = safeModeEnter
	}
	_, err := c.admin(ctx, "setSafeMode", message(nil).number(1, action).number(2, 0))
	return err
}

// SetQuota limits the names below a directory, itself included.
func (c *Cluster) SetQuota(ctx context.Context, path string, names uint64) error {
	return c.setQuota(ctx, path, names, quotaKeep)
}

// SetSpaceQuota limits the bytes below a directory, replicas counted.
func (c *Cluster) SetSpaceQuota(ctx context.Context, path string, bytes uint64) error {
	return c.setQuota(ctx, path, quotaKeep, bytes)
}

// ClrQuota takes both limits off.
func (c *Cluster) ClrQuota(ctx context.Context, path string) error {
	return c.setQuota(ctx, path, quotaNone, quotaNone)
}

func (c *Cluster) setQuota(ctx context.Context, path string, names, bytes uint64) error {
	_, err := c.admin(ctx, "setQuota", message(nil).text(1, path).number(2, names).number(3, bytes))
	return err
}

// Chmod sets permission bits, the sticky one included.
func (c *Cluster) Chmod(ctx context.Context, path string, mode uint32) error {
	_, err := c.admin(ctx, "setPermission", message(nil).text(1, path).message(2, message(nil).number(1, uint64(mode&permissionBits))))
	return err
}

// Chown gives a path to another user. The group stays.
func (c *Cluster) Chown(ctx context.Context, path, user string) error {
	_, err := c.admin(ctx, "setOwner", message(nil).text(1, path).text(2, user))
	return err
}

// MkdirAs makes a directory, and what is missing above it, for a user.
func (c *Cluster) MkdirAs(ctx context.Context, user, path string) error {
	if c.kdc != nil {
		return c.secureMkdirAs(ctx, user, path)
	}
	_, err := c.admin(ctx, "mkdirs", message(nil).text(1, path).message(2, message(nil).number(1, 0o755)).number(3, 1))
	if err != nil {
		return err
	}
	return c.Chown(ctx, path, user)
}

// Remove deletes a path and all below it.
func (c *Cluster) Remove(ctx context.Context, path string) error {
	_, err := c.admin(ctx, "delete", message(nil).text(1, path).number(2, 1))
	return err
}

// SetErasureCoding makes what is created below a directory erasure coded. The
// policy is enabled if it isn't.
func (c *Cluster) SetErasureCoding(ctx context.Context, path, policy string) error {
	if _, err := c.admin(ctx, "enableErasureCodingPolicy", message(nil).text(1, policy)); err != nil {
		return err
	}
	_, err := c.admin(ctx, "setErasureCodingPolicy", message(nil).text(1, path).text(2, policy))
	return err
}

// CreateEncryptionZone makes an empty directory an encryption zone, if the
// cluster was started with Options.Encryption.
func (c *Cluster) CreateEncryptionZone(ctx context.Context, path string) error {
	_, err := c.admin(ctx, "createEncryptionZone", message(nil).text(1, path).text(2, zoneKey))
	return err
}

// ListOpenFiles lists the files that somebody holds for writing, at and below
// a path.
func (c *Cluster) ListOpenFiles(ctx context.Context, path string) ([]string, error) {
	if c.kdc != nil {
		return c.secureOpenFiles(ctx, path)
	}
	fs, err := c.admin(ctx, "listOpenFiles", message(nil).number(1, 0).number(2, openFilesAll).text(3, path))
	if err != nil {
		return nil, err
	}
	paths := []string{}
	for _, f := range fs {
		in, _ := fields(f.bytes)
		for _, g := range in {
			if f.n == 1 && g.n == fieldOpenPath {
				paths = append(paths, string(g.bytes))
			}
		}
	}
	return paths, nil
}

// Fsck is HDFS's own report on a path: "… is HEALTHY" if all is well.
func (c *Cluster) Fsck(ctx context.Context, path string) (string, error) {
	q := url.Values{"ugi": {Superuser}, "path": {path}, "files": {"1"}, "blocks": {"1"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.httpAddr+"/fsck?"+q.Encode(), nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("fsck %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fsck %s: %s: %w", path, resp.Status, err)
	}
	return string(body), nil
}

// FsShell runs `hdfs dfs` as the superuser and returns its standard output.
func (c *Cluster) FsShell(ctx context.Context, args ...string) (string, error) {
	return c.run(ctx, classFsShell, args...)
}

// DFSAdmin runs `hdfs dfsadmin`.
func (c *Cluster) DFSAdmin(ctx context.Context, args ...string) (string, error) {
	return c.run(ctx, classDFSAdmin, args...)
}

func (c *Cluster) run(ctx context.Context, class string, args ...string) (string, error) {
	cmd := c.command(ctx, class, args...)
	if c.kdc != nil {
		if err := c.login(ctx); err != nil {
			return "", err
		}
	}
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnosis
	cmd.WaitDelay = 5 * time.Second
	if err := c.spawner.start(cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return "", err
		}
		return out.String(), fmt.Errorf("%s %s: %w: %s", class[strings.LastIndexByte(class, '.')+1:], strings.Join(args, " "), err, tail(diagnosis.Bytes()))
	}
	return out.String(), nil
}
