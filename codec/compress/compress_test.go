package compress_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/codectest"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// fast are all compressions but bzip2, which under the race detector takes
// minutes for what others do in a second. It shares all but its packer with
// gzip.
func fast() []string { return compress.Names()[:5] }

// noise doesn't compress, and has every byte.
func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

func TestPackersMakeWhatTheirReadersRead(t *testing.T) {
	contents := map[string][]byte{
		"one byte":      {'a'},
		"a line":        []byte(`{"log":"订单已支付"}` + "\n"),
		"noise":         noise(20000),
		"nothing but a": bytes.Repeat([]byte("a"), 20000),
		"a log":         bytes.Repeat([]byte("2026-03-01 GET /index.html 200 \"curl/8\"\n"), 500),
	}
	blocks := map[string][]byte{
		"Snappy's block":   noise(218421),
		"one byte more":    noise(218422),
		"LZ4's block":      noise(261100),
		"LZ4's and more":   noise(261101),
		"many blocks of a": bytes.Repeat([]byte("a"), 1<<20),
	}
	for _, name := range append(compress.Names()[1:], compress.Deflate, compress.RawDeflate, compress.SnappyChecked) {
		for level := range 10 {
			if errors.Is(compress.Check(name, level), compress.ErrLevel) {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", name, level), func(t *testing.T) {
				p, err := compress.New(name, level)
				if err != nil {
					t.Fatal(err)
				}
				contents := maps.Clone(contents)
				if name == compress.Snappy || name == compress.LZ4 {
					maps.Copy(contents, blocks)
				}
				for what, content := range contents {
					packed := p.Append([]byte("before"), content)
					if !bytes.HasPrefix(packed, []byte("before")) {
						t.Fatalf("%s: it begins with %q", what, packed[:6])
					}
					got, err := codectest.Decompress(name, packed[6:])
					if err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: %d bytes came back as %d, error %v", what, len(content), len(got), err)
					}
					if again := p.Append([]byte("before"), content); !bytes.Equal(packed, again) {
						t.Errorf("%s: the second time it became other bytes", what)
					}
				}
			})
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name  string
		level int
		want  error
	}{
		{compress.None, 0, nil},
		{compress.None, 1, compress.ErrLevel},
		{compress.Gzip, 0, nil},
		{compress.Gzip, 9, nil},
		{compress.Gzip, 10, compress.ErrLevel},
		{compress.Gzip, -1, compress.ErrLevel},
		{compress.Zstd, 22, nil},
		{compress.Zstd, 23, compress.ErrLevel},
		{compress.Snappy, 3, nil},
		{compress.Snappy, 4, compress.ErrLevel},
		{compress.LZ4, 9, nil},
		{compress.Bzip2, 9, nil},
		{compress.Deflate, 9, nil},
		{compress.RawDeflate, 9, nil},
		{compress.RawDeflate, 10, compress.ErrLevel},
		{compress.SnappyChecked, 3, nil},
		{"rar", 0, compress.ErrUnknown},
		{"", 0, compress.ErrUnknown},
	} {
		t.Run(fmt.Sprintf("%s %d", tc.name, tc.level), func(t *testing.T) {
			if err := compress.Check(tc.name, tc.level); !errors.Is(err, tc.want) {
				t.Errorf("got %v", err)
			}
			f := json.New(json.Options{}).(codec.BlockFormat)
			_, err := compress.Wrap(f, tc.name, tc.level)
			if want := tc.want; want == nil && !slices.Contains(compress.Names(), tc.name) {
				if !errors.Is(err, compress.ErrUnknown) {
					t.Errorf("files of rows have no %s, but got %v", tc.name, err)
				}
			} else if !errors.Is(err, want) {
				t.Errorf("Wrap: %v", err)
			}
		})
	}
}

func TestExtensions(t *testing.T) {
	want := []string{".json", ".json.gz", ".json.zst", ".json.snappy", ".json.lz4", ".json.bz2"}
	for i, name := range compress.Names() {
		if got := wrap(t, name).Extension(); got != want[i] {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// headed are lines with a first line of their own.
type headed struct{ codec.BlockFormat }

func (headed) Header() []byte { return []byte("HEADER\n") }

func wrap(t testing.TB, name string) codec.BlockFormat {
	t.Helper()
	f, err := compress.Wrap(json.New(json.Options{}).(codec.BlockFormat), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f.(codec.BlockFormat)
}

// events are n events of about size bytes each, told apart by their ids.
func events(n, size int) *event.Batch {
	var chunk []byte
	text := strings.Repeat("GET /index.html 200 ", size/20+1)[:size]
	for i := range n {
		chunk = Append(chunk, Event(At(1, 0), Map{}, Map{"id", i, "log", text}))
	}
	list, _ := Read(chunk)
	return &event.Batch{Tag: "t", Events: list}
}

// write makes a file of the shares as blocks, and returns it and its rows.
func write(t interface{ Fatal(...any) }, f codec.BlockFormat, shares []*event.Batch) (file, rows []byte) {
	plain := json.NewEncoder(json.Options{})
	enc := f.NewBlockEncoder()
	var out bytes.Buffer
	w, err := f.NewWriter(&out, codec.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range shares {
		rows, _ = plain.Encode(rows, b)
		block, rejects := enc.Encode(nil, b)
		if err := w.(codec.BlockWriter).WriteBlock(block, len(b.Events)-len(rejects)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Size() != int64(out.Len()) {
		t.Fatal("size ", w.Size(), " of ", out.Len(), " bytes")
	}
	return out.Bytes(), rows
}

func TestAHeaderComesOnceAndFirst(t *testing.T) {
	for _, name := range compress.Names()[1:] {
		for _, large := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s large %v", name, large), func(t *testing.T) {
				wrapped, err := compress.Wrap(headed{json.New(json.Options{}).(codec.BlockFormat)}, name, 0)
				if err != nil {
					t.Fatal(err)
				}
				f := wrapped.(codec.BlockFormat)
				if file, _ := write(t, f, []*event.Batch{{}}); len(file) > 0 {
					t.Errorf("no row became %d bytes", len(file))
				}
				b := events(3, 20)
				if large {
					b = events(3200, 70) // of which bzip2 makes one member too
				}
				for range 2 { // a header isn't used up by the first file
					file, rows := write(t, f, []*event.Batch{b, b})
					got, err := codectest.Decompress(name, file)
					if err != nil || string(got) != "HEADER\n"+string(rows) {
						t.Fatalf("%d bytes that begin with %.20q, error %v", len(got), got, err)
					}
				}
			})
		}
	}
}

// Hadoop before 3.3 reads the first frame of a file only.
func TestAZstdFileIsOneFrame(t *testing.T) {
	file, rows := write(t, wrap(t, compress.Zstd), []*event.Batch{events(1, 10), events(3000, 200), events(1, 10), events(3000, 200)})
	var h zstd.Header
	if err := h.Decode(file); err != nil {
		t.Fatal(err)
	}
	// Block headers are three bytes, little-endian: last, type, size.
	at, last := h.HeaderSize, false
	for !last && at+3 <= len(file) {
		head := uint32(file[at]) | uint32(file[at+1])<<8 | uint32(file[at+2])<<16
		size := int(head >> 3)
		if head>>1&3 == 1 { // one byte, repeated
			size = 1
		}
		last, at = head&1 == 1, at+3+size
	}
	if h.HasCheckSum {
		at += 4
	}
	if !last || at != len(file) {
		t.Errorf("the first frame ends at byte %d of %d", at, len(file))
	}
	if h.WindowSize > 8<<20 {
		t.Errorf("readers need a window of %d bytes", h.WindowSize)
	}
	if got, err := codectest.Decompress(compress.Zstd, file); err != nil || !bytes.Equal(got, rows) {
		t.Errorf("%d bytes of rows came back as %d, error %v", len(rows), len(got), err)
	}
}

// Many small shares compress nearly as well as few large ones.
func TestSmallSharesCostLittle(t *testing.T) {
	chunk := Kubernetes(2000)
	list, _ := Read(chunk)
	for _, name := range fast()[1:] {
		t.Run(name, func(t *testing.T) {
			f := wrap(t, name)
			var small []*event.Batch
			for i := 0; i < len(list); i += 10 {
				small = append(small, &event.Batch{Events: list[i : i+10]})
			}
			gathered, _ := write(t, f, small)
			whole, _ := write(t, f, []*event.Batch{{Events: list}})
			if limit := len(whole) * 3 / 2; len(gathered) > limit {
				t.Errorf("200 shares make %d bytes, one makes %d", len(gathered), len(whole))
			}
		})
	}
}

// What a zstd writer says it holds is what it holds; a small file has no
// encoder.
func TestMemoryOfAnOpenZstdFile(t *testing.T) {
	for _, level := range []int{1, 3, 6, 10} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			wrapped, err := compress.Wrap(json.New(json.Options{}).(codec.BlockFormat), compress.Zstd, level)
			if err != nil {
				t.Fatal(err)
			}
			const files = 4
			b := events(8000, 200)
			block, _ := wrapped.(codec.BlockFormat).NewBlockEncoder().Encode(nil, b)
			writers := make([]codec.Writer, files)
			before := Heap()
			for i := range writers {
				writers[i], _ = wrapped.NewWriter(io.Discard, codec.Meta{})
				if err := writers[i].(codec.BlockWriter).WriteBlock(block, 1); err != nil {
					t.Fatal(err)
				}
			}
			held := (Heap() - before) / files
			said := writers[0].Buffered()
			if said < held*9/10 || said > held*13/10 {
				t.Errorf("a writer says %d bytes, and holds %d", said, held)
			}
			runtime.KeepAlive(writers)
			runtime.KeepAlive(b)
			runtime.KeepAlive(block)
		})
	}
	w, _ := wrap(t, compress.Zstd).NewWriter(io.Discard, codec.Meta{})
	if _, err := w.Write(events(10, 100)); err != nil || w.Buffered() > 10<<10 {
		t.Errorf("a file of ten records holds %d bytes, error %v", w.Buffered(), err)
	}
}

func TestSharesAllocateNothing(t *testing.T) {
	// The encoder of bzip2 allocates for each of its blocks.
	for _, name := range fast() {
		for _, n := range []int{20, 2000} {
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) {
				f := wrap(t, name)
				enc := f.NewBlockEncoder()
				w, _ := f.NewWriter(io.Discard, codec.Meta{})
				b := events(n, 300)
				block := make([]byte, 0, 4<<20)
				share := func() {
					block, _ = enc.Encode(block[:0], b)
					if err := w.(codec.BlockWriter).WriteBlock(block, n); err != nil {
						t.Error(err)
					}
				}
				for range 4000 / n {
					share() // the buffers grow
				}
				// The tables of snappy's encoder come from a pool, which may be empty.
				limit := 0.0
				if name == compress.Snappy {
					limit = 8
				}
				if got := testing.AllocsPerRun(3, share); got > limit {
					t.Errorf("%v allocations a share", got)
				}
			})
		}
	}
}

func FuzzGzipOfAnyChunk(f *testing.F) {
	for _, h := range HostileChunks() {
		if len(h.Chunk) < 5000 {
			f.Add(h.Chunk, uint8(1))
		}
	}
	f.Add(Plain(30), uint8(7))
	f.Add(Kubernetes(5), uint8(255))
	f.Fuzz(func(t *testing.T, chunk []byte, repeat uint8) {
		list, _ := Read(chunk)
		b := &event.Batch{Tag: "t", Events: list}
		shares := make([]*event.Batch, 1+int(repeat)%8)
		for i := range shares {
			shares[i] = b
		}
		for _, name := range []string{compress.Gzip, compress.Snappy, compress.Zstd} {
			var file, rows []byte
			Bounded(t, len(shares)*len(chunk), func() { file, rows = write(t, wrap(t, name), shares) })
			if len(rows) == 0 && len(file) == 0 {
				continue
			}
			if got, err := codectest.Decompress(name, file); err != nil || !bytes.Equal(got, rows) {
				t.Fatalf("%s: %d bytes of rows came back as %d, error %v", name, len(rows), len(got), err)
			}
		}
	})
}
