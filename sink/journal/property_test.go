package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
)

// machine drives a journal beside the model, through failures and crashes. It
// goes on from whatever a crash may have left.
type machine struct {
	t     *rapid.T
	d     *crashdisk.Disk
	run   *run
	label int

	mu   sync.Mutex // guards next, which the journal's goroutines ask
	next *on        // the operation that fails next
}

// fail makes next the operation that fails next.
func (m *machine) fail(next *on) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = next
}

func (m *machine) hook(op crashdisk.Op) faults.Action {
	m.mu.Lock()
	next := m.next
	m.mu.Unlock()
	return next.hook(op)
}

func (m *machine) open() {
	j, r, err := Open(options(m.d))
	if err != nil {
		m.t.Fatal(err)
	}
	if len(r.Damage) > 0 {
		m.t.Fatalf("damage: %v", r.Damage)
	}
	if m.run == nil {
		m.run = newRun(j)
	}
	m.run.j = j
	m.fail(&on{})
	m.d.SetHook(m.hook)
}

// chunk draws a live chunk.
func (m *machine) chunk() (uint64, *modelChunk) {
	seqs := slices.Sorted(maps.Keys(m.run.m.chunks))
	if len(seqs) == 0 {
		m.t.Skip("no live chunk")
	}
	seq := rapid.SampledFrom(seqs).Draw(m.t, "chunk")
	return seq, m.run.m.chunks[seq]
}

// part draws a pending part.
func (m *machine) part(fit func(p Part) bool) Part {
	var fitting []uint64
	for _, n := range slices.Sorted(maps.Keys(m.run.m.parts)) {
		if fit(m.run.m.part(n)) {
			fitting = append(fitting, n)
		}
	}
	if len(fitting) == 0 {
		m.t.Skip("no such part")
	}
	return m.run.m.part(rapid.SampledFrom(fitting).Draw(m.t, "part"))
}

func (m *machine) Accept(*rapid.T) {
	m.label++
	size := rapid.SampledFrom([]int{0, 10, 300, 2000, 9000}).Draw(m.t, "size")
	m.run.chunk(fmt.Sprint("c", m.label), size, rapid.Bool().Draw(m.t, "file"))
}

// Redeliver delivers a chunk again that was accepted.
func (m *machine) Redeliver(*rapid.T) {
	_, c := m.chunk()
	if c.origin.Name == "" {
		m.t.Skip("no file")
	}
	a, err := m.run.j.AppendChunk(context.Background(), "tag", arrival, c.origin, []byte(c.data), nil)
	if err != nil || !a.Known {
		m.t.Fatalf("%+v: %v", a, err)
	}
}

func (m *machine) Roll(*rapid.T) {
	f := Rolled{Part: Part{Number: m.run.j.NextPart(), Target: "t", Records: 3, Length: 30}}
	used := map[uint64]bool{}
	for range rapid.IntRange(1, 3).Draw(m.t, "shares") {
		seq, _ := m.chunk()
		if used[seq] {
			continue
		}
		used[seq] = true
		const records = 6
		from := rapid.Uint32Range(0, records-1).Draw(m.t, "from")
		to := rapid.Uint32Range(from+1, records).Draw(m.t, "to")
		f.Shares = append(f.Shares, share(seq, records, from, to))
	}
	m.run.frame(f)
}

func (m *machine) End(*rapid.T) {
	seq, _ := m.chunk()
	if rapid.Bool().Draw(m.t, "lost") {
		m.run.frame(Lost{seq})
	} else {
		m.run.frame(Void{seq})
	}
}

func (m *machine) Decode(*rapid.T) {
	a, _ := m.chunk()
	b, _ := m.chunk()
	m.run.frame(Decoding{slices.Compact([]uint64{a, b})})
}

func (m *machine) Attempt(*rapid.T) {
	p := m.part(func(p Part) bool { return len(p.Finals) == 0 })
	m.label++
	temp := fmt.Sprint("/t", m.label)
	if m.run.frame(Attempted{p.Number, temp}) && rapid.Bool().Draw(m.t, "upload") {
		m.run.frame(Uploaded{p.Number, Attempt{Temp: temp, ID: "i", Length: 3, ModTime: arrival}})
	}
}

func (m *machine) Rename(*rapid.T) {
	p := m.part(func(p Part) bool { return len(p.Attempts) > 0 })
	m.label++
	m.run.frame(Renaming{p.Number, fmt.Sprint("/f", m.label), p.Number})
}

func (m *machine) Finish(*rapid.T) {
	p := m.part(func(p Part) bool { return len(p.Finals) > 0 })
	m.run.frame(Finished{p.Number, p.Finals[0], p.Attempts[0].Temp})
}

func (m *machine) HoldAndResolve(*rapid.T) {
	p := m.part(func(Part) bool { return true })
	if m.run.frame(Held{p.Number, "why"}) {
		m.run.frame(Resolved{Part: p.Number, How: rapid.SampledFrom([]Resolution{PublishAgain, AcceptDone}).Draw(m.t, "how")})
	}
}

func (m *machine) Forget(*rapid.T) {
	if len(m.run.m.leftovers) == 0 {
		m.t.Skip("no leftover")
	}
	l := m.run.m.leftovers[0]
	m.run.frame(Abandoned{Target: l.Target, Temp: l.Temp})
}

func (m *machine) Seen(*rapid.T) {
	_, c := m.chunk()
	m.run.seen(c.origin.Name)
}

// Fail has one of the next operations fail. Steps that fail aren't tried again.
func (m *machine) Fail(*rapid.T) {
	skip := rapid.IntRange(0, 6).Draw(m.t, "operations before")
	m.fail(&on{times: 1, fault: rapid.SampledFrom([]faults.Action{
		faults.Before(syscall.EIO), faults.After(syscall.EIO), faults.Half(0, syscall.EIO),
	}).Draw(m.t, "how"), match: func(op crashdisk.Op) bool {
		if op.Kind != crashdisk.Read && op.Kind != crashdisk.Open {
			skip--
		}
		return skip < 0
	}})
}

// Crash ends the process, and perhaps the power, and starts again.
func (m *machine) Crash(*rapid.T) {
	keep := rapid.SampledFrom([]crashdisk.Keep{crashdisk.None, crashdisk.All, crashdisk.Some, crashdisk.Killed}).Draw(m.t, "keep")
	seed := rapid.Uint64().Draw(m.t, "seed")
	if rapid.Bool().Draw(m.t, "cleanly") {
		m.fail(&on{})
		if err := m.run.j.Close(); err != nil {
			m.t.Fatal(err)
		}
	}
	crashed := m.d.Crash(keep, seed)
	_ = m.run.j.Close()
	m.d = crashed
	m.open()
	m.adopt()
}

// adopt makes what was recovered the model, if it is what may be.
func (m *machine) adopt() {
	got := describe(m.run.j)
	for _, after := range append([]*model{m.run.m}, m.run.maybe...) {
		after = after.clone()
		after.die()
		if after.describe() != got {
			continue
		}
		// A chunk that was recovered though its append failed has a sequence now.
		chunks := map[uint64]*modelChunk{}
		for _, c := range after.chunks {
			for _, live := range m.run.j.Chunks() {
				if p, err := m.run.j.Read(live.Seq, nil); err == nil && string(p.Data) == c.data {
					chunks[live.Seq] = c
				}
			}
		}
		after.chunks = chunks
		m.run.m, m.run.maybe = after, nil
		return
	}
	m.t.Fatalf("recovered\n%s\nand not\n%s\nor one of %d others", got, m.run.m.describe(), len(m.run.maybe))
}

// Check compares state and model while the journal runs, where every answer is
// known.
func (m *machine) Check(*rapid.T) {
	if got, want := describe(m.run.j), m.run.m.describe(); got != want {
		m.t.Fatalf("it remembers\n%s\nand not\n%s", got, want)
	}
	m.run.j.mu.Lock()
	defer m.run.j.mu.Unlock()
	if a := m.run.j.st.account(); a.Records != a.Rolled+a.Owed+a.Lost {
		m.t.Fatalf("records aren't accounted for: %+v", a)
	}
}

// TestJournalAgainstAModel does anything in any order.
func TestJournalAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{t: t, d: crashdisk.New()}
		m.open()
		defer func() { _ = m.run.j.Close() }()
		wrap := func(do func(*rapid.T)) func(*rapid.T) {
			return func(step *rapid.T) { m.t = step; do(step) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"accept": wrap(m.Accept), "accept another": wrap(m.Accept), "redeliver": wrap(m.Redeliver),
			"roll": wrap(m.Roll), "end": wrap(m.End), "decode": wrap(m.Decode), "attempt": wrap(m.Attempt),
			"rename": wrap(m.Rename), "finish": wrap(m.Finish), "hold": wrap(m.HoldAndResolve),
			"forget": wrap(m.Forget), "seen": wrap(m.Seen), "fail": wrap(m.Fail), "crash": wrap(m.Crash),
			"": wrap(m.Check),
		})
	})
}

// TestTheStateIsWhatItsSnapshotSays: encoding and decoding a state that
// something happened to changes nothing.
func TestTheStateIsWhatItsSnapshotSays(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	newRun(j).script()
	j.mu.Lock()
	defer j.mu.Unlock()
	first := j.st.encodeSnapshot(nil)
	decoded, err := decodeSnapshot(first)
	if err != nil {
		t.Fatal(err)
	}
	if again := decoded.encodeSnapshot(nil); string(again) != string(first) {
		t.Error("it is another snapshot")
	}
	if !maps.Equal(decoded.live, j.st.live) {
		t.Errorf("live bytes %v became %v", j.st.live, decoded.live)
	}
	whole := 0 // without its last sections it is a snapshot too
	for n := range first {
		if _, err := decodeSnapshot(first[:n]); err == nil {
			whole++
		} else if !errors.Is(err, errPayload) {
			t.Fatalf("cut at %d it is decoded with %v", n, err)
		}
	}
	if whole != 3 {
		t.Errorf("it is decoded when cut at %d places", whole)
	}
	if _, err := decodeSnapshot(append(slices.Clone(first), 0)); err == nil {
		t.Error("a rest is no error")
	}
	if len(first) > 4<<10 {
		t.Errorf("it has %d bytes: %s", len(first), strings.ToValidUTF8(string(first[:200]), "."))
	}
}
