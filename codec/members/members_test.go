package members_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/members"
)

// rows writes the body of each event, which is text, as a line and rejects
// events without one.
type rows struct{}

func (rows) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	var rejects []codec.Reject
	for _, e := range b.Events {
		if len(e.Body) == 0 {
			rejects = append(rejects, codec.Reject{Event: e, Reason: "no body"})
			continue
		}
		dst = append(dst, e.Body...)
		dst = append(dst, '\n')
	}
	return dst, rejects
}

// brackets packs whole lines, at most three, as <lines>.
type brackets struct{}

func (brackets) Pack(dst, rows []byte) ([]byte, int) {
	used := 0
	for range 3 {
		if used < len(rows) {
			used += bytes.IndexByte(rows[used:], '\n') + 1
		}
	}
	dst = append(dst, '<')
	for _, c := range rows[:used] {
		if c == '\n' {
			c = ';'
		}
		dst = append(dst, c)
	}
	return append(dst, '>'), used
}

func format(least int, f members.File) codec.BlockFormat {
	return members.New(members.Options{
		Extension:  ".rows",
		NewEncoder: func() codec.BlockEncoder { return rows{} },
		NewPacker:  func() members.Packer { return brackets{} },
		MinBatch:   least,
		Begin:      func(codec.Meta, *event.Batch) members.File { return f },
	})
}

// share is a batch of events with the bodies that text has, separated by
// commas.
func share(text string) *event.Batch {
	b := &event.Batch{}
	if text == "" {
		return b
	}
	for body := range strings.SplitSeq(text, ",") {
		b.Events = append(b.Events, &event.Event{Body: []byte(body)})
	}
	return b
}

func TestWhatAFileLooksLike(t *testing.T) {
	head := members.File{Head: []byte("HEAD"), Rows: []byte("names\n")}
	sync := members.File{Head: []byte("H"), Before: []byte("!")}
	rare := members.File{Before: []byte("!"), Spacing: 12}
	for _, tc := range []struct {
		name   string
		least  int
		file   members.File
		shares []string
		want   string
	}{
		{"a large share is a member of its own", 6, members.File{}, []string{"aaa,bbb"}, "<aaa;bbb;>"},
		{"more than a member holds", 6, members.File{}, []string{"aa,bb,cc,dd"}, "<aa;bb;cc;><dd;>"},
		{"small shares gather", 6, members.File{}, []string{"a", "b", "c", "d"}, "<a;b;c;><d;>"},
		{"a large share ends the gathering", 6, members.File{}, []string{"a", "bbb,ccc", "d"}, "<a;><bbb;ccc;><d;>"},
		{"what is pending at the end", 100, members.File{}, []string{"a", "b"}, "<a;b;>"},
		{"a share without rows", 1, members.File{}, []string{"a", "", "b"}, "<a;><b;>"},
		{"no share with rows", 1, head, []string{"", ""}, ""},
		{"head and first rows", 100, head, []string{"a"}, "HEAD<names;a;>"},
		{"head and a large first share", 1, head, []string{"a"}, "HEAD<names;><a;>"},
		{"something before each member", 1, sync, []string{"a", "b", "c"}, "H!<a;>!<b;>!<c;>"},
		{"something before members now and then", 1, rare, []string{"aaaa", "bbbb", "cccc", "dddd"}, "<aaaa;><bbbb;>!<cccc;><dddd;>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := format(tc.least, tc.file)
			enc := f.NewBlockEncoder()
			var out bytes.Buffer
			w, err := f.NewWriter(&out, codec.Meta{})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range tc.shares {
				b := share(text)
				block, _ := enc.Encode([]byte("before"), b)
				if !bytes.HasPrefix(block, []byte("before")) {
					t.Fatalf("the block begins with %q", block)
				}
				if err := w.(codec.BlockWriter).WriteBlock(block[len("before"):], len(b.Events)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want || w.Size() != int64(len(tc.want)) {
				t.Errorf("got %q, size %d; want %q", out.String(), w.Size(), tc.want)
			}
		})
	}
}

// TestAFileCountsWhatItsMembersSay, whatever it was given: here they say twice
// as many.
func TestAFileCountsWhatItsMembersSay(t *testing.T) {
	f := members.New(members.Options{
		NewEncoder: func() codec.BlockEncoder { return rows{} },
		NewPacker:  func() members.Packer { return brackets{} },
		MinBatch:   6,
		Count:      func(member []byte) int64 { return 2 * int64(bytes.Count(member, []byte(";"))) },
	})
	enc := f.NewBlockEncoder()
	w, err := f.NewWriter(io.Discard, codec.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	count := w.(codec.Counter)
	for i, step := range []struct {
		rows string
		want int64 // in the file's members by then
	}{{"aa,bb,cc,dd", 8}, {"e", 8}, {"f", 8}, {"g", 14}, {"h", 14}} {
		b := share(step.rows)
		block, _ := enc.Encode(nil, b)
		if err := w.(codec.BlockWriter).WriteBlock(block, len(b.Events)); err != nil {
			t.Fatal(err)
		}
		if got := count.Records(); got != step.want {
			t.Errorf("step %d: %d records", i, got)
		}
	}
	if err := w.Close(); err != nil || count.Records() != 16 {
		t.Errorf("%d records, error %v", count.Records(), err)
	}
	w, err = format(6, members.File{}).NewWriter(io.Discard, codec.Meta{})
	if _, counts := w.(codec.Counter); counts || err != nil {
		t.Errorf("members that don't say count, error %v", err)
	}
}

func TestWriteBeginsAFileWithItsFirstRow(t *testing.T) {
	f := format(100, members.File{Head: []byte("HEAD"), Rows: []byte("names\n")})
	var out bytes.Buffer
	w, _ := f.NewWriter(&out, codec.Meta{})
	write := func(text string) {
		if _, err := w.Write(share(text)); err != nil {
			t.Fatal(err)
		}
	}
	if write(""); out.Len() > 0 || w.Size() > 0 {
		t.Errorf("no row became %q", out.String())
	}
	write("a")
	write("b")
	if err := w.Close(); err != nil || out.String() != "HEAD<names;a;b;>" {
		t.Errorf("got %q, error %v", out.String(), err)
	}
}

func TestRejectsLeaveNoTrace(t *testing.T) {
	for _, least := range []int{1, 1000} {
		t.Run(fmt.Sprintf("least %d", least), func(t *testing.T) {
			f := format(least, members.File{})
			bad := &event.Event{}
			good := &event.Event{Body: []byte("a")}
			block, rejects := f.NewBlockEncoder().Encode(nil, &event.Batch{Events: []*event.Event{bad}})
			if len(block) != 0 || len(rejects) != 1 || rejects[0].Event != bad {
				t.Errorf("block %q, rejects %v", block, rejects)
			}
			var out bytes.Buffer
			w, _ := f.NewWriter(&out, codec.Meta{})
			rejects, err := w.Write(&event.Batch{Events: []*event.Event{good, bad, good}})
			if err != nil || len(rejects) != 1 || rejects[0].Event != bad {
				t.Errorf("rejects %v, error %v", rejects, err)
			}
			if err := w.Close(); err != nil || out.String() != "<a;a;>" {
				t.Errorf("wrote %q, error %v", out.String(), err)
			}
		})
	}
}

// The rows of a file are those of its shares in their order, whichever way
// they came, and the file follows from them alone.
func TestRowsAreWrittenOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := format(rapid.IntRange(0, 40).Draw(t, "least"), members.File{})
		text := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,20}`), 0, 8)
		enc := f.NewBlockEncoder()
		var want, block []byte
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *event.Batch {
			return share(strings.Join(text.Draw(t, "rows"), ","))
		}), 1, 20).Draw(t, "shares")
		how := rapid.SliceOfN(rapid.SampledFrom([]string{"Write", "a block", "joins the next block"}), len(steps), len(steps)).Draw(t, "how")
		files := make([]bytes.Buffer, 2)
		for i := range files {
			w, _ := f.NewWriter(&files[i], codec.Meta{})
			records := 0
			write := func() {
				if err := w.(codec.BlockWriter).WriteBlock(block, records); err != nil {
					t.Fatal(err)
				}
				block, records = nil, 0
			}
			for k, b := range steps {
				if i == 0 {
					want, _ = rows{}.Encode(want, b)
				}
				if how[k] == "Write" {
					write() // what came before it
					if _, err := w.Write(b); err != nil {
						t.Fatal(err)
					}
					continue
				}
				block, _ = enc.Encode(block, b)
				records += len(b.Events)
				if how[k] == "a block" {
					write()
				}
			}
			write()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if w.Size() != int64(files[i].Len()) {
				t.Fatalf("size %d of %d bytes", w.Size(), files[i].Len())
			}
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Fatalf("%q and %q", files[0].Bytes(), files[1].Bytes())
		}
		got := strings.NewReplacer("<", "", ">", "", ";", "\n").Replace(files[0].String())
		if got != string(want) {
			t.Fatalf("wrote %q, want %q", got, want)
		}
	})
}

func TestSizeAndMemoryOfPendingRows(t *testing.T) {
	f := format(1000, members.File{})
	w, _ := f.NewWriter(io.Discard, codec.Meta{})
	if w.Size() != 0 || w.Buffered() != 0 {
		t.Errorf("a new file has size %d and holds %d", w.Size(), w.Buffered())
	}
	if _, err := w.Write(share(strings.Repeat("x", 399))); err != nil {
		t.Fatal(err)
	}
	if w.Size() != 100 || w.Buffered() < 400 {
		t.Errorf("with 400 bytes pending size %d, %d held", w.Size(), w.Buffered())
	}
	if _, err := w.Write(share(strings.Repeat("x", 599))); err != nil {
		t.Fatal(err)
	}
	written := w.Size()
	if _, err := w.Write(share(strings.Repeat("x", 499))); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Size(), written+501; got < want-2 || got > want+2 {
		t.Errorf("rows that don't shrink count %d, want about %d", got, want)
	}
}

var errDisk = errors.New("no disk")

// limited fails once its bytes are used up, and writes short before it does.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		n := l.left
		l.left = 0
		return n, l.err
	}
	l.left -= len(b)
	return len(b), nil
}

func TestTheFirstErrorIsFinal(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want error
	}{
		{"an error", errDisk, errDisk},
		{"a short write without one", nil, io.ErrShortWrite},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := format(1, members.File{Head: []byte("HEAD")})
			for room := range 9 {
				to := &limited{left: room, err: tc.err}
				w, _ := f.NewWriter(to, codec.Meta{})
				_, err := w.Write(share("abc"))
				if !errors.Is(err, tc.want) {
					t.Errorf("%d bytes of room: error %v", room, err)
				}
				to.left = 1000
				if _, again := w.Write(share("abc")); !errors.Is(again, tc.want) {
					t.Errorf("Write afterwards: %v", again)
				}
				if again := w.(codec.BlockWriter).WriteBlock([]byte("x"), 1); !errors.Is(again, tc.want) {
					t.Errorf("WriteBlock afterwards: %v", again)
				}
				if again := w.Close(); !errors.Is(again, tc.want) {
					t.Errorf("Close afterwards: %v", again)
				}
				if to.left != 1000 {
					t.Error("something was written afterwards")
				}
			}
		})
	}
}

func TestAForeignBlockIsRefused(t *testing.T) {
	f := format(10, members.File{})
	rows, _ := f.NewBlockEncoder().Encode(nil, share("a"))
	packed, _ := f.NewBlockEncoder().Encode(nil, share("aaa,bbb,ccc,ddd"))
	changed := func(block []byte, at int) []byte {
		block = bytes.Clone(block)
		block[at]++
		return block
	}
	for _, tc := range []struct {
		name    string
		block   []byte
		records int
	}{
		{"cut", rows[:len(rows)-1], 1},
		{"cut in the head", rows[:5], 1},
		{"text", []byte(`{"a":"this is the line of another format"}`), 1},
		{"an unknown kind", append(append(bytes.Clone(rows[:32]), 9), rows[33:]...), 1},
		{"rows that aren't what the content is", changed(rows, 23), 1},
		{"another number of records", rows, 2},
		{"two blocks, the second cut", append(bytes.Clone(rows), rows[:len(rows)-1]...), 2},
		{"cut in a member", packed[:len(packed)-1], 4},
		{"a member longer than the rest", changed(packed, 48), 4},
		{"members of other rows", changed(packed, 40), 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			w, _ := f.NewWriter(&out, codec.Meta{})
			if err := w.(codec.BlockWriter).WriteBlock(tc.block, tc.records); err == nil || errors.Is(err, codec.ErrOtherSchema) {
				t.Errorf("got %v", err)
			}
			if err := w.Close(); err == nil || out.Len() > 0 {
				t.Errorf("wrote %q, error %v", out.String(), err)
			}
		})
	}
}

// versioned are rows of the schema that now says.
type versioned struct {
	rows
	now *uint64
	of  uint64 // the schema of the last rows, fixed if the encoder is a file's
}

func (v *versioned) Encode(dst []byte, b *event.Batch) ([]byte, []codec.Reject) {
	if v.now != nil {
		v.of = *v.now
	}
	start := len(dst)
	dst, rejects := v.rows.Encode(dst, b)
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i-1] = byte('0' + v.of) // in place of each row's last letter
		}
	}
	return dst, rejects
}

func (v *versioned) Schema() uint64  { return v.of }
func (v *versioned) Buffered() int64 { return 1000 }

// A file has one schema. Rows of another are refused, without a trace, and come
// again as events.
func TestAFileHasOneSchema(t *testing.T) {
	var now uint64
	f := members.New(members.Options{
		NewEncoder: func() codec.BlockEncoder { return &versioned{now: &now} },
		NewPacker:  func() members.Packer { return brackets{} },
		MinBatch:   6, MinGathered: 100,
		Begin: func(_ codec.Meta, b *event.Batch) members.File {
			if b != nil { // which widens the schema
				now++
			}
			return members.File{
				Head: fmt.Appendf(nil, "%d:", now), After: []byte("!"),
				Schema: now, Encoder: &versioned{of: now},
			}
		},
		HeadOnly: true,
	})
	enc := f.NewBlockEncoder()
	encode := func(text string) []byte {
		block, _ := enc.Encode(nil, share(text))
		return block
	}
	small, large := encode("ax"), encode("bx,cx,dx,ex")
	for _, tc := range []struct {
		name  string
		steps func(w codec.BlockWriter) error
		want  string
	}{
		{"no rows", func(codec.BlockWriter) error { return nil }, "0:"},
		{"blocks", func(w codec.BlockWriter) error { return errors.Join(w.WriteBlock(small, 1), w.WriteBlock(large, 4)) }, "0:<a0;>!<b0;c0;d0;>!<e0;>!"},
		{"a block behind Write", func(w codec.BlockWriter) error {
			_, err := w.Write(share("fx"))
			return errors.Join(w.WriteBlock(small, 1), err)
		}, "1:<f1;>!"},
		{"a batch without rows decides nothing", func(w codec.BlockWriter) error {
			_, before := w.Write(share(""))
			now = 2
			block := w.WriteBlock(encode("gx"), 1)
			_, behind := w.Write(share("hx"))
			return errors.Join(before, block, behind, w.WriteBlock(small, 1))
		}, "2:<g2;h2;>!"},
		{"two schemas in one block", func(w codec.BlockWriter) error {
			now = 1
			return w.WriteBlock(append(bytes.Clone(small), encode("gx")...), 2)
		}, "1:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now = 0
			var out bytes.Buffer
			to, _ := f.NewWriter(&out, codec.Meta{})
			w := to.(codec.BlockWriter)
			err := tc.steps(w)
			if refused := now > 0; errors.Is(err, codec.ErrOtherSchema) != refused {
				t.Errorf("under schema %d: %v", now, err)
			}
			if err := w.Close(); err != nil || out.String() != tc.want || w.Size() != int64(out.Len()) {
				t.Errorf("got %q, size %d, error %v; want %q", out.String(), w.Size(), err, tc.want)
			}
			if w.Buffered() < 1000 {
				t.Errorf("without its encoder the writer holds %d bytes", w.Buffered())
			}
		})
	}
}

func TestAPoolKeepsAFew(t *testing.T) {
	p := members.Pool[int]{Max: 2}
	for i := range 3 {
		p.Put(i)
	}
	kept := 0
	for {
		if _, ok := p.Get(); !ok {
			break
		}
		kept++
	}
	if kept != 2 {
		t.Errorf("it kept %d", kept)
	}
}

func TestSharesAllocateNothing(t *testing.T) {
	for name, least := range map[string]int{"packed ahead": 1, "gathered": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			f := format(least, members.File{})
			enc := f.NewBlockEncoder()
			w, _ := f.NewWriter(io.Discard, codec.Meta{})
			b := share(strings.Repeat("abc,", 100))
			b.Events = b.Events[:100]
			block := make([]byte, 0, 1<<16)
			if n := testing.AllocsPerRun(20, func() {
				block, _ = enc.Encode(block[:0], b)
				if err := w.(codec.BlockWriter).WriteBlock(block, 100); err != nil {
					t.Error(err)
				}
			}); n > 1 { // the buffer of pending rows grows now and then
				t.Errorf("%v allocations a share", n)
			}
		})
	}
}
