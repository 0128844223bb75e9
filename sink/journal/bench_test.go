package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

// chunkSize is Fluent Bit's usual largest chunk.
const chunkSize = 2_000_000

func osDisk(b *testing.B) disk.Disk {
	b.Helper()
	d, err := disk.NewOS(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkAppendChunk accepts chunks of 2 MB on the real disk, from one and
// from many goroutines. Each chunk is ended once 16 others were accepted.
func BenchmarkAppendChunk(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(callers, " callers"), func(b *testing.B) {
			o := options(osDisk(b))
			o.SegmentSize = DefaultSegmentSize
			j, _ := open(b, o)
			defer closed(b, j)
			body := make([]byte, chunkSize)
			b.SetBytes(chunkSize)
			b.ReportAllocs()
			work := make(chan struct{})
			var mu sync.Mutex
			var live []Frame
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range work {
						a, err := j.AppendChunk(context.Background(), "tag", arrival, Origin{}, body, nil)
						mu.Lock()
						live = append(live, Void{a.Seq})
						var dead []Frame
						if len(live) >= 32 {
							dead, live = live[:16], slices.Clone(live[16:])
						}
						mu.Unlock()
						if len(dead) > 0 {
							err = errors.Join(err, j.Append(dead...))
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			all.Wait()
		})
	}
}

// BenchmarkBareDisk writes and syncs the same bytes without a journal: what
// the disk can do, into a file that was allocated and into one that was
// written before.
func BenchmarkBareDisk(b *testing.B) {
	for _, used := range []bool{false, true} {
		name := "allocated"
		if used {
			name = "written before"
		}
		b.Run(name, func(b *testing.B) {
			f, err := osDisk(b).Create("a")
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			body := make([]byte, chunkSize)
			const n = DefaultSegmentSize / chunkSize
			write := func(i int) {
				if _, err := f.WriteAt(body, int64(i%n)*chunkSize); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			if err := f.Allocate(DefaultSegmentSize); err != nil {
				b.Fatal(err)
			}
			for i := range n {
				if used {
					write(i)
				}
			}
			b.SetBytes(chunkSize)
			for i := 0; b.Loop(); i++ {
				if !used && i%n == 0 {
					b.StopTimer()
					if err := f.Truncate(0); err != nil {
						b.Fatal(err)
					}
					if err := f.Allocate(DefaultSegmentSize); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				write(i)
			}
		})
	}
}

// BenchmarkSnapshot encodes and decodes a state of 100 000 live chunks.
func BenchmarkSnapshot(b *testing.B) {
	s := newState()
	bigState(s, 100_000)
	encoded := s.encodeSnapshot(nil)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(encoded)))
		b.ReportAllocs()
		for b.Loop() {
			s.encodeSnapshot(make([]byte, 0, len(encoded)))
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(encoded)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeSnapshot(encoded); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAppendChunkAllocates pins what accepting a chunk allocates: nothing that
// grows with the chunk.
func TestAppendChunkAllocates(t *testing.T) {
	d := crashdisk.New()
	o := options(discarding{d})
	o.SegmentSize = 64 << 20
	j, _ := open(t, o)
	body := make([]byte, 16<<10)
	origin := file("n", "data")
	got := testing.AllocsPerRun(200, func() {
		origin.CRC++
		if _, err := j.AppendChunk(context.Background(), "tag", arrival, origin, body, nil); err != nil {
			t.Fatal(err)
		}
	})
	if got > 30 {
		t.Errorf("%v allocations for a chunk", got)
	}
	t.Logf("%v allocations for a chunk", got)
}

// discarding is a disk whose writes of chunks go nowhere, so that only the
// journal's own allocations count.
type discarding struct{ *crashdisk.Disk }

func (d discarding) Open(name string) (disk.File, error) {
	f, err := d.Disk.Open(name)
	return discardingFile{f}, err
}

type discardingFile struct{ disk.File }

func (f discardingFile) WriteVec([][]byte, int64) error { return nil }
func (f discardingFile) Sync() error                    { return nil }
