package hdfs

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"
)

func TestPortsAreReservedOnce(t *testing.T) {
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, busy, _ := net.SplitHostPort(taken.Addr().String())
	busyPort, err := strconv.Atoi(busy)
	if err != nil {
		t.Fatal(err)
	}
	var a, b reservation
	try := func(r *reservation, port, want int) {
		t.Helper()
		if err := r.try(dir, port); err != nil || len(r.ports) != want {
			t.Errorf("port %d: %d reserved, want %d, %v", port, len(r.ports), want, err)
		}
	}
	try(&a, busyPort, 0) // somebody listens
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	try(&a, busyPort, 1)
	try(&a, busyPort, 1) // it has it
	try(&b, busyPort, 0) // another has it
	if err := a.release(); err != nil {
		t.Fatal(err)
	}
	try(&b, busyPort, 1)
	if err := b.release(); err != nil {
		t.Fatal(err)
	}
	if err := b.try(filepath.Join(dir, "none"), busyPort); err == nil {
		t.Error("no error without a place for locks")
	}
}
