package disktest

import (
	"errors"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// identity is the promise that a directory is known again.
func identity(t *testing.T, h Harness) {
	d := h.New(t)
	before, err := d.Identity()
	must(t, err)
	create(t, d, "a", "x")
	must(t, d.Mkdir("dir"))
	must(t, d.SyncDir("."))
	after, err := h.Reopen(t, d).Identity()
	must(t, err)
	if before.Inode == 0 {
		t.Error("the identity is empty")
	}
	if before.Inode != after.Inode || !before.Birth.Equal(after.Birth) {
		t.Errorf("identity %v became %v", before, after)
	}
}

// locks are the promises of Lock.
func locks(t *testing.T, h Harness) {
	d := h.New(t)
	held, err := d.Lock("a long name of the first owner")
	must(t, err)
	for name, other := range map[string]disk.Disk{"the same": d, "another opening": h.Reopen(t, d)} {
		_, err := other.Lock("the second")
		var locked *disk.LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("%s: error %v", name, err)
		}
		if locked.Owner != "a long name of the first owner" || locked.By != "the second" || locked.Dir == "" {
			t.Errorf("%s: %+v", name, locked)
		}
	}
	must(t, held.Close())
	again, err := d.Lock("third")
	must(t, err)
	_, err = h.Reopen(t, d).Lock("fourth")
	var locked *disk.LockedError
	if !errors.As(err, &locked) || locked.Owner != "third" {
		t.Errorf("a shorter owner's text: %v", err)
	}
	_ = held.Close() // once more, of no consequence
	if _, err := d.Lock("fifth"); !errors.As(err, &locked) {
		t.Errorf("closing an old lock again released a new one: %v", err)
	}
	must(t, again.Close())
}
