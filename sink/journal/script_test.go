package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

// run is a journal beside the model of what it should remember.
type run struct {
	j *Journal
	m *model
	// tries is how often a step is tried; 0 is once.
	tries int
	// maybe are the models with one more step: those that failed since the last
	// that succeeded. A crash may leave one of them.
	maybe  []*model
	seqs   map[string]uint64 // of accepted chunks by label
	kinds  map[Kind]bool     // of frames appended
	failed int
	// stopped is set by the first step that failed in all tries.
	stopped bool
}

func newRun(j *Journal) *run {
	return &run{j: j, m: newModel(), seqs: map[string]uint64{}, kinds: map[Kind]bool{KindChunk: true}}
}

// try does a step until it succeeds, and notes what may be left of it.
func (r *run) try(do func() error, effects ...func(*model)) bool {
	if r.stopped {
		return false
	}
	for range max(1, r.tries) {
		if do() == nil {
			for _, effect := range effects {
				effect(r.m)
			}
			r.maybe = nil
			return true
		}
		r.failed++
		after := r.m
		for _, effect := range effects {
			after = after.clone()
			effect(after)
			r.maybe = append(r.maybe, after)
		}
	}
	r.stopped = r.tries > 0
	return false
}

// chunk accepts a chunk of size bytes that begins with its label.
func (r *run) chunk(label string, size int, filed bool) {
	body := label
	if size > 0 {
		body += strings.Repeat(".", size)
	}
	if label == "empty" {
		body = ""
	}
	o := Origin{}
	if filed {
		o = file(label, body)
	}
	var a Accepted
	r.try(func() (err error) {
		a, err = r.j.AppendChunk(context.Background(), "tag", arrival, o, []byte(body), nil)
		return err
	}, func(m *model) {
		seq := a.Seq
		if seq == 0 { // it failed: nobody knows the sequence that it may have
			seq = uint64(1<<60 + r.failed)
		}
		m.accept(seq, o, body)
	})
	r.seqs[label] = a.Seq
}

// frame appends frames as one step.
func (r *run) frame(frames ...Frame) bool {
	var effects []func(*model)
	for _, f := range frames {
		r.kinds[f.kind()] = true
		effects = append(effects, func(m *model) { m.apply(f) })
	}
	return r.try(func() error { return r.j.Append(frames...) }, effects...)
}

// decode announces those of the chunks that were accepted.
func (r *run) decode(labels ...string) {
	var f Decoding
	for _, label := range labels {
		if seq := r.seqs[label]; seq != 0 {
			f.Seqs = append(f.Seqs, seq)
		}
	}
	r.frame(f)
}

// roll appends a part with shares of some chunks.
func (r *run) roll(shares map[string][3]uint32) (part uint64, ok bool) {
	f := Rolled{Part: Part{
		Number: r.j.NextPart(), Length: 100, Records: 10, CRC: 7, Target: "hdfs://ns", Base: "/base", Bucket: "b",
		Prefix: "part-w", Suffix: ".json", FileMode: 0o644, DirMode: 0o755, Replication: 3, BlockSize: 1 << 27,
		First: arrival, Rolled: arrival.Add(time.Minute),
	}}
	f.Part.Staged = fmt.Sprintf("staged/%d", f.Part.Number)
	for label, s := range shares {
		if r.seqs[label] == 0 {
			return 0, false
		}
		f.Shares = append(f.Shares, share(r.seqs[label], s[0], s[1], s[2]))
	}
	slices.SortFunc(f.Shares, func(a, b Share) int { return int(a.Seq) - int(b.Seq) })
	return f.Part.Number, r.frame(f)
}

// publish takes a part from its attempt to its end.
func (r *run) publish(part uint64) {
	temp := func(n int) string { return fmt.Sprintf("/base/b/.part-%d.inprogress.%d", part, n) }
	id := Attempt{Temp: temp(2), ID: "inode-7", Length: 100, ModTime: arrival.Add(time.Hour)}
	_ = r.frame(Attempted{part, temp(1)}) &&
		r.frame(Attempted{part, temp(2)}) &&
		r.frame(Uploaded{part, id}) &&
		r.frame(Renaming{part, fmt.Sprintf("/base/b/part-%d", part), part + 5}) &&
		r.frame(Finished{part, fmt.Sprintf("/base/b/part-%d", part), temp(2)}) &&
		r.frame(Abandoned{Target: "hdfs://ns", Temp: temp(1)})
}

// script is a run with frames of every kind, several segments, a chunk larger
// than a segment, and a slow chunk that is copied forward.
func (r *run) script() {
	r.chunk("slow", 300, true)
	r.chunk("empty", 0, false)
	for i := range 6 {
		r.chunk(fmt.Sprint("a", i), 900, i%2 == 0)
	}
	r.decode("a1", "a2")
	if part, ok := r.roll(map[string][3]uint32{"a0": {10, 0, 10}, "a1": {10, 3, 7}, "slow": {100, 50, 60}}); ok {
		r.publish(part)
	}
	r.chunk("large", 9000, true)
	r.decode("a2", "large")
	r.seen("a0")
	r.chunk("kept", 300, true)
	r.frame(&directoryFrame{originDir{"/storage/in", disk.Identity{Inode: 5, Birth: arrival}}})
	r.roll(map[string][3]uint32{"a1": {10, 0, 3}})
	if part, ok := r.roll(map[string][3]uint32{"a1": {10, 7, 10}, "a2": {1, 0, 1}, "large": {3, 0, 3}}); ok {
		_ = r.frame(Held{part, "nobody knows"}) && r.frame(Resolved{Part: part, How: PublishAgain})
		_ = r.frame(Attempted{part, "t"}) && r.frame(Uploaded{part, Attempt{Temp: "t", ID: "i"}}) &&
			r.frame(Held{part, "again"}) && r.frame(Resolved{Part: part, How: AcceptDone})
	}
	for i := range 8 {
		r.chunk(fmt.Sprint("b", i), 1500, i%2 == 1)
		if r.seqs[fmt.Sprint("b", i)] != 0 && i < 6 {
			r.frame(Void{r.seqs[fmt.Sprint("b", i)]})
		}
	}
	for _, label := range []string{"a3", "a4", "a5", "b6", "b7"} {
		if r.seqs[label] != 0 {
			r.frame(Resolved{Seq: r.seqs[label], How: DeadLetter})
		}
	}
	if r.seqs["a4"] != 0 && r.seqs["a5"] != 0 {
		r.frame(Lost{r.seqs["a4"]}, Void{r.seqs["a5"]})
	}
	for i := range 6 {
		r.chunk(fmt.Sprint("c", i), 700, true)
		r.roll(map[string][3]uint32{fmt.Sprint("c", i): {1, 0, 1}})
	}
	r.decode("slow", "b7")
}

// seen has a frame of log.Version 1 say that a file is gone.
func (r *run) seen(label string) {
	var key originKey
	r.j.mu.Lock()
	for k, id := range r.j.st.identities {
		if id.name == label {
			key = k
		}
	}
	seq := r.j.st.nextSeq
	r.j.st.nextSeq++
	r.j.mu.Unlock()
	if key != (originKey{}) {
		r.frame(&seenFrame{seq: seq, keys: []originKey{key}})
	}
}

// recovered compares what a crash left with what it may have left, and says
// what differs.
func (r *run) recovered(j *Journal) error {
	got := describe(j)
	var allowed []string
	for _, m := range append([]*model{r.m}, r.maybe...) {
		m = m.clone()
		m.die()
		if want := m.describe(); want == got {
			return nil
		} else {
			allowed = append(allowed, want)
		}
	}
	return fmt.Errorf("recovered\n%s\nand not one of\n%s", got, strings.Join(allowed, "\n— or —\n"))
}

// TestScript says that the script does what its comment says.
func TestScript(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	r := newRun(j)
	r.script()
	if r.failed > 0 || r.stopped {
		t.Fatalf("%d steps failed", r.failed)
	}
	for k := range names {
		if !r.kinds[k] && k != KindSnapshot {
			t.Errorf("no %v frame", k)
		}
	}
	closed(t, j)
	if j.log.Current() < 5 {
		t.Errorf("only %d segments", j.log.Current())
	}
	if loc := j.st.chunks[r.seqs["slow"]].loc; loc.Segment == 1 {
		t.Error("the slow chunk wasn't copied forward")
	}
	next, _ := open(t, options(d))
	if err := r.recovered(next); err != nil {
		t.Error(err)
	}
}
