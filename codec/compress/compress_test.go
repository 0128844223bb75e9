package compress_test

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	stdflate "compress/flate"
	stdgzip "compress/gzip"
	stdzlib "compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"pgregory.net/rapid"

	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/compress"
	"github.com/out-hdfs/out_hdfs/codec/event"
	. "github.com/out-hdfs/out_hdfs/codec/event/eventtest"
	"github.com/out-hdfs/out_hdfs/codec/json"
)

// fast are all compressions but bzip2, which under the race detector takes
// minutes for what others do in a second. It shares all but its packer with
// gzip.
func fast() []string { return compress.Names()[:5] }

// decompress reads a whole file, with the standard library where it can.
func decompress(name string, file []byte) ([]byte, error) {
	switch name {
	case compress.None:
		return file, nil
	case compress.Gzip:
		r, err := stdgzip.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case compress.Deflate:
		r, err := stdzlib.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case compress.RawDeflate:
		return io.ReadAll(stdflate.NewReader(bytes.NewReader(file)))
	case compress.SnappyChecked:
		content, sum := file[:len(file)-4], binary.BigEndian.Uint32(file[len(file)-4:])
		out, err := snappy.Decode(nil, content)
		if err == nil && crc32.ChecksumIEEE(out) != sum {
			err = errors.New("another checksum")
		}
		return out, err
	case compress.Bzip2:
		return io.ReadAll(stdbzip2.NewReader(bytes.NewReader(file)))
	case compress.Zstd:
		r, err := zstd.NewReader(bytes.NewReader(file), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	case compress.Snappy:
		return unblock(file, func(dst, src []byte) (int, error) {
			out, err := snappy.Decode(nil, src)
			return copy(dst, out), err
		})
	case compress.LZ4:
		return unblock(file, func(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) })
	}
	return nil, fmt.Errorf("no reader of %s", name)
}

var errFraming = errors.New("not what Hadoop's BlockDecompressorStream reads")

// unblock reads Hadoop's framing as its BlockDecompressorStream does, whose
// buffers hold 256 KiB.
func unblock(file []byte, decode func(dst, src []byte) (int, error)) (out []byte, err error) {
	const buffer = 256 << 10
	for len(file) > 0 {
		if len(file) < 8 {
			return nil, errFraming
		}
		raw, size := binary.BigEndian.Uint32(file), binary.BigEndian.Uint32(file[4:])
		if file = file[8:]; raw == 0 || raw > buffer || size > buffer || int(size) > len(file) {
			return nil, errFraming
		}
		block := make([]byte, raw)
		if n, err := decode(block, file[:size]); err != nil || n != int(raw) {
			return nil, errors.Join(errFraming, err)
		}
		out, file = append(out, block...), file[size:]
	}
	return out, nil
}

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
					got, err := decompress(name, packed[6:])
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

func TestFilesHoldTheirRowsInOrder(t *testing.T) {
	batches := []*event.Batch{{}, events(1, 1), events(2, 70), events(40, 20), events(300, 150), events(900, 200)}
	for _, name := range fast() {
		t.Run(name, func(t *testing.T) {
			f := wrap(t, name)
			rapid.Check(t, func(t *rapid.T) {
				shares := rapid.SliceOfN(rapid.SampledFrom(batches), 0, 6).Draw(t, "shares")
				file, rows := write(t, f, shares)
				if len(rows) == 0 {
					if len(file) != 0 {
						t.Fatalf("a file without rows has %d bytes", len(file))
					}
					return
				}
				got, err := decompress(name, file)
				if err != nil || !bytes.Equal(got, rows) {
					t.Fatalf("%d bytes of rows came back as %d, error %v", len(rows), len(got), err)
				}
				if again, _ := write(t, f, shares); !bytes.Equal(file, again) {
					t.Fatal("the same shares became another file")
				}
			})
		})
	}
}

func TestWriteAndBlocksMakeOneFile(t *testing.T) {
	for _, name := range compress.Names() {
		t.Run(name, func(t *testing.T) {
			f := wrap(t, name)
			small, large := events(3, 20), events(3200, 70)
			var out bytes.Buffer
			w, _ := f.NewWriter(&out, codec.Meta{})
			enc := f.NewBlockEncoder()
			var want []byte
			for i, b := range []*event.Batch{small, large, small, small, large} {
				want, _ = json.NewEncoder(json.Options{}).Encode(want, b)
				var err error
				if i%2 == 0 {
					_, err = w.Write(b)
				} else {
					block, _ := enc.Encode(nil, b)
					err = w.(codec.BlockWriter).WriteBlock(block, len(b.Events))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := decompress(name, out.Bytes()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of rows came back as %d, error %v", len(want), len(got), err)
			}
		})
	}
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
					got, err := decompress(name, file)
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
	if got, err := decompress(compress.Zstd, file); err != nil || !bytes.Equal(got, rows) {
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

func TestSizeIsCloseBeforeTheEnd(t *testing.T) {
	for _, name := range fast() {
		t.Run(name, func(t *testing.T) {
			f := wrap(t, name)
			var out bytes.Buffer
			w, _ := f.NewWriter(&out, codec.Meta{})
			list, _ := Read(Kubernetes(2000))
			for i := 0; i < len(list); i += 100 {
				if _, err := w.Write(&event.Batch{Events: list[i : i+100]}); err != nil {
					t.Fatal(err)
				}
			}
			before := w.Size()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if after := w.Size(); before < after*8/10 || before > after*12/10 {
				t.Errorf("size %d became %d at the end", before, after)
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
			before := heap()
			for i := range writers {
				writers[i], _ = wrapped.NewWriter(io.Discard, codec.Meta{})
				if err := writers[i].(codec.BlockWriter).WriteBlock(block, 1); err != nil {
					t.Fatal(err)
				}
			}
			held := int64(heap()-before) / files
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

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

var errDisk = errors.New("no disk")

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

func TestTheFirstErrorIsFinal(t *testing.T) {
	for _, name := range fast() {
		t.Run(name, func(t *testing.T) {
			f := wrap(t, name)
			block, _ := f.NewBlockEncoder().Encode(nil, &event.Batch{Events: noisy(200)})
			w, _ := f.NewWriter(&failing{left: 50 << 10}, codec.Meta{})
			var err error
			for range 4 {
				if err = w.(codec.BlockWriter).WriteBlock(block, 200); err != nil {
					break
				}
			}
			if closing := w.Close(); !errors.Is(closing, errDisk) {
				t.Errorf("writing gave %v, closing %v", err, closing)
			}
			if err := w.(codec.BlockWriter).WriteBlock(block, 200); !errors.Is(err, errDisk) {
				t.Errorf("writing afterwards gave %v", err)
			}
			// The encoder that failed is used again for the next file.
			file, rows := write(t, f, []*event.Batch{{Events: noisy(200)}})
			if got, err := decompress(name, file); err != nil || !bytes.Equal(got, rows) {
				t.Errorf("the next file is spoilt, error %v", err)
			}
		})
	}
}

// noisy are n events of about 1,200 bytes that don't compress.
func noisy(n int) []*event.Event {
	var chunk []byte
	for i := range n {
		chunk = Append(chunk, Event(At(1, 0), Map{}, Map{"id", i, "raw", noise(750 + i)}))
	}
	list, _ := Read(chunk)
	return list
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
			if got, err := decompress(name, file); err != nil || !bytes.Equal(got, rows) {
				t.Fatalf("%s: %d bytes of rows came back as %d, error %v", name, len(rows), len(got), err)
			}
		}
	})
}
