package hdfs_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

// starter makes the test binary a process that starts a cluster, says what runs
// and waits to be killed.
const starter = "OUT_HDFS_TEST_STARTER"

func TestDaemonsDieWithTheProcessThatStartedThem(t *testing.T) {
	if os.Getenv(starter) != "" {
		startAndWait(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDaemonsDieWithTheProcessThatStartedThem$", "-test.v")
	cmd.Env = append(os.Environ(), starter+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	pids := readPids(t, bufio.NewScanner(out))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if len(pids) != 2 {
		t.Fatalf("daemons are %v", pids)
	}
	ctx := bounded(t)
	for _, pid := range pids {
		// A process that is gone can't be signalled, and has no parent here to
		// leave a zombie to.
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			select {
			case <-ctx.Done():
				t.Fatalf("process %d still runs", pid)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

func startAndWait(t *testing.T) {
	c, err := hdfs.Start(t.Context(), hdfs.Options{DataNodes: 1})
	must(t, err)
	fmt.Printf("pids %d %d\n", c.NameNode().Pid(), c.DataNode(0).Pid())
	select {}
}

func readPids(t *testing.T, lines *bufio.Scanner) (pids []int) {
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "pids ")
		if !ok {
			continue
		}
		for _, f := range strings.Fields(rest) {
			pid, err := strconv.Atoi(f)
			must(t, err)
			pids = append(pids, pid)
		}
		break
	}
	return pids
}

// zombie says whether a process has ended and only waits to be reaped.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestStopLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	c, err := hdfs.Start(bounded(t), hdfs.Options{DataNodes: 1})
	must(t, err)
	pids := []int{c.NameNode().Pid(), c.DataNode(0).Pid()}
	must(t, c.DataNode(0).Stop()) // one that hangs must end too
	must(t, c.Stop())
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d still runs", pid)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}
