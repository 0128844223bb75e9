// Package disktest is the suite that every disk.Disk passes: the sentences of
// package disk, one by one.
package disktest

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// Harness makes disks for the suite.
type Harness struct {
	// New makes an empty disk that the test has for itself.
	New func(t *testing.T) disk.Disk
	// Reopen opens the same directory once more, as a second process would.
	Reopen func(t *testing.T, d disk.Disk) disk.Disk
}

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"names":    names,
		"content":  content,
		"vectors":  vectors,
		"length":   length,
		"many":     concurrent,
		"identity": identity,
		"lock":     locks,
	} {
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes a file with content.
func create(t *testing.T, d disk.Disk, name, content string) {
	t.Helper()
	f, err := d.Create(name)
	must(t, err)
	_, err = f.WriteAt([]byte(content), 0)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

// read is a file's whole content.
func read(t *testing.T, d disk.Disk, name string) string {
	t.Helper()
	f, err := d.Open(name)
	must(t, err)
	defer f.Close()
	return readFile(t, f)
}

func readFile(t *testing.T, f disk.File) string {
	t.Helper()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	_, err = f.ReadAt(b, 0)
	must(t, err)
	return string(b)
}
