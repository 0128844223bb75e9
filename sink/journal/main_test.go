package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/journal/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// smallSegment makes a few appends begin a new segment.
const smallSegment = 8 << 10

func options(d disk.Disk) Options {
	return Options{Disk: d, Log: slog.New(slog.DiscardHandler), Owner: "test", SegmentSize: smallSegment}
}

// open opens a journal that ends with the test at the latest. The next segment
// is there, if it can be, so that the disk is quiet.
func open(t testing.TB, o Options) (*Journal, *Report) {
	t.Helper()
	j, r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	_ = j.log.AwaitSpare()
	return j, r
}

func closed(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

var arrival = time.Unix(1_700_000_000, 123_456_789)

// file is the origin of a chunk that Fluent Bit keeps as a file.
func file(name, data string) Origin {
	return Origin{Dir: "/storage/in", Name: name, Length: uint32(len(data)), CRC: CRC([]byte(data)), In: here}
}

func accept(t testing.TB, j *Journal, o Origin, data string) uint64 {
	t.Helper()
	a, err := j.AppendChunk(context.Background(), "tag", arrival, o, []byte(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Known {
		t.Fatalf("chunk %.20q is known", data)
	}
	return a.Seq
}

func appended(t testing.TB, j *Journal, frames ...Frame) {
	t.Helper()
	if err := j.Append(frames...); err != nil {
		t.Fatal(err)
	}
}

func data(t testing.TB, j *Journal, seq uint64) string {
	t.Helper()
	p, err := j.Read(seq, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Data)
}

// share is a share of the ordinals from up to but without to.
func share(seq uint64, records, from, to uint32) Share {
	var r Ranges
	for i := from; i < to; i++ {
		r.Add(i)
	}
	return Share{Seq: seq, Records: records, Count: r.Count(), Runs: r.Bytes()}
}

// whole is a rolled frame that ends a chunk.
func whole(j *Journal, seqs ...uint64) Rolled {
	f := Rolled{Part: Part{Number: j.NextPart()}}
	for _, seq := range seqs {
		f.Shares = append(f.Shares, share(seq, 1, 0, 1))
	}
	return f
}

// segmentsOf are the files of a disk's segments, by number.
func segmentsOf(d *crashdisk.Disk) (names []string) {
	for _, name := range d.Names() {
		if _, ok := log.ParseSegmentName(strings.TrimPrefix(name, Dir+"/")); ok {
			names = append(names, name)
		}
	}
	return names
}

func sparesOf(d *crashdisk.Disk) (names []string) {
	for _, name := range d.Names() {
		if strings.HasPrefix(name, Dir+"/"+log.SparePrefix) {
			names = append(names, name)
		}
	}
	return names
}

// on fails the operations that match, and counts them.
type on struct {
	match func(crashdisk.Op) bool
	fault faults.Action

	mu    sync.Mutex // guards what follows
	times int        // how often it still fails
	fired int
}

func (o *on) hook(op crashdisk.Op) faults.Action {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.times == 0 || !o.match(op) {
		return faults.Pass()
	}
	o.times--
	o.fired++
	return o.fault
}

// restart closes j, and opens what a crash of the kind leaves.
func restart(t testing.TB, j *Journal, d *crashdisk.Disk, keep crashdisk.Keep) (*Journal, *crashdisk.Disk) {
	t.Helper()
	crashed := d.Crash(keep, 1)
	_ = j.Close()
	next, r := open(t, options(crashed))
	if len(r.Damage) > 0 {
		t.Fatalf("damage: %v", r.Damage)
	}
	return next, crashed
}

// describe is everything that a journal remembers, chunks by their data.
func describe(j *Journal) string {
	var out []string
	for _, c := range j.Chunks() {
		p, err := j.Read(c.Seq, nil)
		covered := j.Covered(c.Seq)
		var has []uint32
		for i := range uint32(len(covered.words) * 64) {
			if covered.Has(i) {
				has = append(has, i)
			}
		}
		out = append(out, fmt.Sprintf("chunk %.12s… %x %s %d covered %v deaths %d letter %v %v",
			p.Data, CRC(p.Data), p.Tag, p.Arrival.UnixNano(), has, c.Deaths, c.DeadLetter, err))
	}
	for _, p := range j.Parts() {
		out = append(out, describePart(p))
	}
	for _, l := range j.Leftovers() {
		out = append(out, fmt.Sprint("leftover ", l.Target, " ", l.Temp))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for k, id := range j.st.identities {
		gone := ""
		if id.absent > 0 {
			gone = ", its file gone"
		}
		out = append(out, fmt.Sprintf("known %x%s", k, gone))
	}
	slices.Sort(out)
	return strings.Join(append(out, fmt.Sprint(j.st.totals)), "\n")
}

func describePart(p Part) string {
	for i := range p.Attempts {
		p.Attempts[i].ModTime = p.Attempts[i].ModTime.UTC()
	}
	return fmt.Sprintf("part %d %s %v finals %v held %q", p.Number, p.Staged, p.Attempts, p.Finals, p.Held)
}

var errStopped = errors.New("the process is dead")
