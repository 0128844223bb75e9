package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

// fullDisk leaves no more room than is used.
func fullDisk(d *crashdisk.Disk) {
	used := int64(0)
	for _, name := range d.Names() {
		used += int64(len(d.Content(name)))
	}
	d.SetCapacity(used)
}

// TestAFullDiskRefusesChunksOnly: the frames that finish the accepted work have
// a whole segment, and once it is finished chunks are accepted again.
func TestAFullDiskRefusesChunksOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		synctest.Wait() // the spare is made
		fullDisk(d)
		var seqs []uint64
		for {
			a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 900), nil)
			if err != nil {
				if !errors.Is(err, ErrNoSpare) || !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("error %v", err)
				}
				break
			}
			if seqs = append(seqs, a.Seq); len(seqs) > 100 {
				t.Fatal("the disk is never full")
			}
		}
		if len(seqs) < 4 {
			t.Errorf("only %d chunks were accepted", len(seqs))
		}
		// The whole next segment is for other frames, beside its snapshot.
		frames := int64(0)
		for {
			f := Decoding{seqs}
			if err := j.Append(f); err != nil {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("error %v", err)
				}
				break
			}
			frames += log.FrameSize(len(f.encode(nil)))
		}
		if frames < smallSegment*3/4 {
			t.Errorf("other frames had only %d bytes", frames)
		}
		if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, nil, nil); !errors.Is(err, ErrNoSpare) {
			t.Errorf("a chunk was taken on a full disk: %v", err)
		}
		// Room comes back.
		d.SetCapacity(0)
		accept(t, j, Origin{}, "x")
		fullDisk(d)
		for _, seq := range seqs {
			appended(t, j, Void{seq})
		}
		appended(t, j, Void{accept(t, j, Origin{}, "y")})
		closed(t, j)
	})
}

// TestFinishingWorkMakesRoom: on a disk that stays full the dead segments are
// used again, for as long as it goes.
func TestFinishingWorkMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		for range 4 {
			accept(t, j, Origin{}, strings.Repeat("x", 7000))
		}
		synctest.Wait()
		fullDisk(d)
		accepted := 0
		for range 300 {
			for _, c := range j.Chunks() {
				appended(t, j, Decoding{[]uint64{c.Seq}})
				appended(t, j, Void{c.Seq})
			}
			for range 3 {
				if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 2000), nil); err == nil {
					accepted++
				} else if !errors.Is(err, ErrNoSpare) {
					t.Fatal(err)
				}
			}
		}
		if accepted < 300 {
			t.Errorf("only %d chunks were accepted", accepted)
		}
		closed(t, j)
	})
}

// TestALargeChunkOnAFullDiskTakesNothingFromOthers.
func TestALargeChunkOnAFullDiskTakesNothingFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		synctest.Wait()
		fullDisk(d)
		for range 3 {
			if _, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 3*smallSegment), nil); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("error %v", err)
			}
			appended(t, j, Void{accept(t, j, Origin{}, "small")})
		}
		if n := len(sparesOf(d)); n != 1 {
			t.Errorf("%d spares are left", n)
		}
		closed(t, j)
	})
}

// TestCopyingDoesntUseTheLastRoom: what can't be copied whole frees nothing,
// and other frames need the room.
func TestCopyingDoesntUseTheLastRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		var large []uint64
		for range 3 { // a segment each
			accept(t, j, Origin{}, strings.Repeat("s", 500))
			accept(t, j, Origin{}, strings.Repeat("s", 500))
			large = append(large, accept(t, j, Origin{}, strings.Repeat("l", 6500)))
		}
		synctest.Wait()
		fullDisk(d)
		room := func() int64 { return j.log.Room() + int64(len(sparesOf(d)))*smallSegment }
		for f := (Held{Why: strings.Repeat("x", 100)}); room() > 800; { // about no part: it changes nothing
			appended(t, j, f)
		}
		before := j.log.Room()
		for _, seq := range large[:2] {
			appended(t, j, Void{seq})
			before -= log.FrameSize(len(Void{seq}.encode(nil)))
		}
		synctest.Wait()
		if got := j.log.Room(); got != before {
			t.Errorf("%d bytes are left, not %d", got, before)
		}
		closed(t, j)
	})
}

// TestTheDiskIsntFilledForNothing: usage stays within bounds in a long run
// with chunks that live shortly and some that live long, and never is more
// than a few times what is live.
func TestTheDiskIsntFilledForNothing(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			d := crashdisk.New()
			o := options(d)
			o.SegmentSize = 16 << 10
			synctest.Test(t, func(t *testing.T) {
				j, _ := open(t, o)
				live := map[uint64]int64{}
				bytes, slow := int64(0), 0
				for i := range 3000 {
					size := rng.IntN(3000)
					seq := accept(t, j, Origin{}, strings.Repeat("x", size))
					live[seq] = log.FrameSize(size)
					bytes += live[seq]
					for seq := range live {
						if rng.IntN(100) == 0 && slow < 20 { // lives long
							slow++
						} else if rng.IntN(3) > 0 {
							appended(t, j, Void{seq})
							bytes -= live[seq]
							delete(live, seq)
						}
						if rng.IntN(50) == 0 {
							slow = 0
						}
						break
					}
					if len(live) > 60 {
						for seq := range live {
							appended(t, j, Void{seq})
							bytes -= live[seq]
							delete(live, seq)
							if len(live) < 10 {
								break
							}
						}
					}
					if i%37 != 0 {
						continue
					}
					synctest.Wait() // it has tidied up
					// The current segment, the spares, the slack, and four times what
					// is live; a segment counts whole.
					limit := liveShare*bytes + (1+log.MaxSpares+slackSegments+1)*o.SegmentSize
					if got := j.Usage(); got > limit {
						t.Fatalf("step %d: %d bytes are used for %d live ones", i, got, bytes)
					}
					if n := len(sparesOf(d)); n > log.MaxSpares {
						t.Fatalf("step %d: %d spares", i, n)
					}
					onDisk := int64(0)
					for _, name := range d.Names() {
						onDisk += int64(len(d.Content(name)))
					}
					if onDisk != j.Usage() {
						t.Fatalf("step %d: %d bytes are on the disk, %d are told of", i, onDisk, j.Usage())
					}
				}
				if d.Handles() != 1 {
					t.Errorf("%d files are open", d.Handles())
				}
				closed(t, j)
			})
		})
	}
}

// TestOneSlowChunkPinsLittle: everything else dies around it.
func TestOneSlowChunkPinsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		slow := accept(t, j, Origin{}, "slow")
		for range 100 {
			appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 2000))})
		}
		synctest.Wait()
		if n := len(segmentsOf(d)); n > 2+slackSegments {
			t.Errorf("%d segments", n)
		}
		if got := data(t, j, slow); got != "slow" {
			t.Errorf("read %q", got)
		}
		j, _ = restart(t, j, d, crashdisk.None)
		if got := data(t, j, slow); got != "slow" {
			t.Errorf("read %q after a crash", got)
		}
		closed(t, j)
	})
}

// TestNothingIsCopiedThatDiesAnyway: chunks that end in their order, however
// many are live.
func TestNothingIsCopiedThatDiesAnyway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		j, _ := open(t, options(d))
		written := int64(0)
		d.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Write {
				written += op.Length
			}
			return faults.Pass()
		})
		var live []uint64
		const chunks, size = 400, 1000
		for i := range chunks {
			live = append(live, accept(t, j, Origin{}, strings.Repeat("x", size)))
			if i >= 50 {
				appended(t, j, Void{live[0]})
				live = live[1:]
			}
			synctest.Wait()
		}
		d.SetHook(nil)
		if written > chunks*(size+100)*3/2 { // the snapshots are the rest
			t.Errorf("%d bytes were written", written)
		}
		closed(t, j)
	})
}

// TestReadDuringCopyForward: a chunk is found wherever it is at the time.
func TestReadDuringCopyForward(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	slow := accept(t, j, Origin{}, "slow")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, make([]byte, 2000), nil)
			if err == nil {
				err = j.Append(Void{a.Seq})
			}
			if err != nil {
				t.Error(err)
			}
		}
	}()
	for buf := make([]byte, 0, 100); ; {
		p, err := j.Read(slow, buf)
		if err != nil || string(p.Data) != "slow" {
			t.Errorf("read %q: %v", p.Data, err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// TestALiveFrameThatCantBeReadStays: copying goes on with the others, and it is
// told of once.
func TestALiveFrameThatCantBeReadStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := crashdisk.New()
		o := options(d)
		j, _ := open(t, o)
		bad := accept(t, j, Origin{}, "bad")
		good := accept(t, j, Origin{}, "good")
		loc := j.st.chunks[bad].loc
		if err := d.Damage(log.SegmentName(loc.Segment), func(b []byte) []byte {
			b[loc.Offset+30] ^= 1
			return b
		}); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			appended(t, j, Void{accept(t, j, Origin{}, strings.Repeat("x", 2000))})
			if i%10 == 0 {
				accept(t, j, Origin{}, "another one that pins its segment")
			}
		}
		synctest.Wait()
		if j.st.chunks[good].loc.Segment == loc.Segment {
			t.Error("the good one wasn't copied")
		}
		if j.st.chunks[bad].loc != loc {
			t.Error("the bad one was")
		}
		if err := j.GiveUp(bad); err != nil {
			t.Fatal(err)
		}
		appended(t, j, Decoding{})
		synctest.Wait()
		for _, name := range segmentsOf(d) {
			if name == log.SegmentName(loc.Segment) {
				t.Error("its segment stays, given up as it is")
			}
		}
		closed(t, j)
	})
}
