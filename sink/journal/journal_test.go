package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, d disk.Disk) (*Journal, *Report) {
	t.Helper()
	j, r, err := Open(Options{Disk: d, Log: slog.New(slog.DiscardHandler), Owner: "test", SegmentSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return j, r
}

func accept(t *testing.T, j *Journal, o Origin, data string) uint64 {
	t.Helper()
	a, err := j.AppendChunk("tag", time.Unix(100, 5), o, []byte(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a.Seq
}

func TestAcceptedChunksSurvive(t *testing.T) {
	d := crashdisk.New()
	j, r := open(t, d)
	if !r.New {
		t.Error("not reported as new")
	}
	var seqs []uint64
	for i := range 50 {
		seqs = append(seqs, accept(t, j, Origin{}, fmt.Sprintf("chunk %d %1000d", i, i)))
	}
	crashed := d.Crash(crashdisk.None, 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*crashdisk.Disk{"closed": d, "crashed": crashed} {
		t.Run(name, func(t *testing.T) {
			j, r := open(t, d)
			defer j.Close()
			if len(r.Damage) > 0 || r.Chunks != 50 {
				t.Fatalf("%+v", r)
			}
			for i, seq := range seqs {
				p, err := j.Read(seq, nil)
				if err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprintf("chunk %d %1000d", i, i); string(p.Data) != want || p.Tag != "tag" || !p.Arrival.Equal(time.Unix(100, 5)) {
					t.Errorf("chunk %d: %+v", i, p)
				}
			}
		})
	}
}

func TestFailedSyncVoids(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, d)
	a := accept(t, j, Origin{}, "a")
	fail := true
	d.SetHook(func(op crashdisk.Op) crashdisk.Fault {
		if op.Kind == crashdisk.Sync && fail {
			fail = false
			return crashdisk.Fault{Err: syscall.EIO, After: true}
		}
		return crashdisk.Fault{}
	})
	o := Origin{Dir: "/d", Name: "n"}
	if _, err := j.AppendChunk("tag", time.Now(), o, []byte("b"), nil); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	c := accept(t, j, o, "b")
	if c == 0 {
		t.Fatal("a void chunk was remembered")
	}
	again, err := j.AppendChunk("tag", time.Now(), o, []byte("b"), nil)
	if err != nil || !again.Known {
		t.Fatal(again, err)
	}
	crashed := d.Crash(crashdisk.All, 1)
	j.Close()
	j, r := open(t, crashed)
	defer j.Close()
	if len(r.Damage) > 0 || r.Chunks != 2 {
		t.Fatalf("%+v", r)
	}
	for _, seq := range []uint64{a, c} {
		if _, err := j.Read(seq, nil); err != nil {
			t.Error(err)
		}
	}
}
