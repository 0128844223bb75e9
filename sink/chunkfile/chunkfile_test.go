package chunkfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// chunk maps a file of two pages as Fluent Bit does and returns the mapping.
func chunk(t testing.TB, path string) []byte {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, 2*os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := unix.Mmap(int(file.Fd()), 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(data); err != nil {
			t.Error(err)
		}
	})
	return data
}

// ways gives a Finder for each way of asking that this kernel has.
func ways(t testing.TB) map[string]*Finder {
	t.Helper()
	open := func() *Finder {
		f, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return f
	}
	scanning := open()
	scanning.query = false
	found := map[string]*Finder{"the textual map": scanning}
	if asking := open(); asking.query {
		found["the kernel's query"] = asking
	}
	return found
}

func TestFindNamesTheMappedChunkFile(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]File{
		"a plain name":                      {base, "tail.0", "1-1764453411.123456789.flb"},
		"nanoseconds padded with spaces":    {base, "forward.1", "4242-1764453411.   7.flb"},
		"a folder with spaces":              {base + "/fluent bit", "http in.0", "1-2.3.flb"},
		"a folder with a newline":           {base + "/fluent\nbit", "tail.0", "1-2.3.flb"},
		"a folder that spells a newline":    {base + `/fluent\012bit`, "tail.0", "1-2.3.flb"},
		"a folder called deleted":           {base + "/x (deleted)", "tail.0", "1-2.3.flb"},
		"a folder in another script":        {base + "/日志", "输入.0", "1-2.3.flb"},
		"a path of nearly the longest size": {base + strings.Repeat("/"+strings.Repeat("d", 200), 15), "tail.0", "1-2.3.flb"},
	}
	for way, finder := range ways(t) {
		for name, want := range names {
			t.Run(way+"/"+name, func(t *testing.T) {
				data := chunk(t, want.Path())
				for at, part := range map[string][]byte{
					"the whole mapping": data,
					"an odd offset":     data[53:777],
					"over a page's end": data[os.Getpagesize()-1 : os.Getpagesize()+1],
					"the last byte":     data[len(data)-1:],
				} {
					got, err := finder.Find(part)
					if err != nil || got != want {
						t.Errorf("%s: Find = %+v, %v, want %+v", at, got, err, want)
					}
				}
			})
		}
	}
}

func TestFindStillNamesAFileThatWasUnlinked(t *testing.T) {
	for way, finder := range ways(t) {
		t.Run(way, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			want := File{base, "tail.0", "1-2.3.flb"}
			data := chunk(t, want.Path())
			if err := os.Remove(want.Path()); err != nil {
				t.Fatal(err)
			}
			if got, err := finder.Find(data[9:]); err != nil || got != want {
				t.Errorf("Find = %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestFindSaysNothingOfWhatIsNoChunkFile(t *testing.T) {
	page := os.Getpagesize()
	anonymous, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(anonymous) })
	rows := map[string][]byte{
		"nothing":                      nil,
		"a Go slice":                   make([]byte, 4096),
		"anonymous memory":             anonymous,
		"a file with another suffix":   chunk(t, filepath.Join(t.TempDir(), "tail.0", "1-2.3.db")),
		"a file that is only a suffix": chunk(t, filepath.Join(t.TempDir(), "tail.0", ".flb")),
	}
	for way, finder := range ways(t) {
		for name, data := range rows {
			t.Run(way+"/"+name, func(t *testing.T) {
				if got, err := finder.Find(data); err != nil || got.Known() || got.Path() != "" {
					t.Errorf("Find = %+v, %v, want no file", got, err)
				}
			})
		}
	}
}

// Fluent Bit keeps many chunks mapped at once, side by side.
func TestFindTellsManyMappingsApart(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	chunks := map[File][]byte{}
	for _, stream := range []string{"tail.0", "tail.1"} {
		for i := range 200 {
			f := File{base, stream, string(rune('a'+i%26)) + strings.Repeat("x", i) + suffix}
			chunks[f] = chunk(t, f.Path())
		}
	}
	for way, finder := range ways(t) {
		t.Run(way, func(t *testing.T) {
			for want, data := range chunks {
				if got, err := finder.Find(data[11:17]); err != nil || got != want {
					t.Fatalf("Find = %+v, %v, want %+v", got, err, want)
				}
			}
		})
	}
}

func TestFindAllocatesOnlyThePath(t *testing.T) {
	data := chunk(t, filepath.Join(t.TempDir(), "tail.0", "1-2.3.flb"))
	for way, finder := range ways(t) {
		t.Run(way, func(t *testing.T) {
			got := testing.AllocsPerRun(100, func() {
				if f, err := finder.Find(data); err != nil || !f.Known() {
					t.Fatal(f, err)
				}
			})
			if got > 2 {
				t.Errorf("a look-up allocates %v times, want at most 2", got)
			}
		})
	}
}

func TestFindReportsThatItCouldNotLook(t *testing.T) {
	for way, finder := range ways(t) {
		t.Run(way, func(t *testing.T) {
			blind := &Finder{fd: -1, query: finder.query}
			got, err := blind.Find(make([]byte, 10))
			if got.Known() || !errors.Is(err, unix.EBADF) {
				t.Errorf("Find = %+v, %v, want no file and EBADF", got, err)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	rows := []struct {
		name, path string
		want       File
	}{
		{"usual", "/var/flb/tail.0/1-2.3.flb", File{"/var/flb", "tail.0", "1-2.3.flb"}},
		{"storage at the root", "/tail.0/1-2.3.flb", File{"/", "tail.0", "1-2.3.flb"}},
		{"no stream", "/1-2.3.flb", File{}},
		{"relative", "tail.0/1-2.3.flb", File{}},
		{"no suffix", "/var/flb/tail.0/1-2.3", File{}},
		{"empty", "", File{}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got := split(row.path)
			if got != row.want {
				t.Errorf("split(%q) = %+v, want %+v", row.path, got, row.want)
			}
			if got.Known() && got.Path() != row.path {
				t.Errorf("Path() = %q, want what was split, %q", got.Path(), row.path)
			}
		})
	}
}

const sampleMap = `00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/fluent-bit
7f10a0000000-7f10a0021000 rw-p 00000000 00:00 0 
7f10a8000000-7f10a8200000 rw-s 00000000 fe:01 918273                     /var/flb/tail.0/1-2.   7.flb
7f10a8200000-7f10a8400000 rw-s 00000000 fe:01 918274                     /var/flb/tail.0/1-2.   8.flb (deleted)
7ffc5e5a7000-7ffc5e5c8000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestScan(t *testing.T) {
	rows := []struct {
		name   string
		text   string
		lo, hi uint64
		want   string
		inode  uint64
	}{
		{"first line", sampleMap, 0x400000, 0x400001, "/usr/bin/fluent-bit", 173521},
		{"a path with spaces", sampleMap, 0x7f10a8000035, 0x7f10a8100000, "/var/flb/tail.0/1-2.   7.flb", 918273},
		{"up to the mapping's end", sampleMap, 0x7f10a8000000, 0x7f10a8200000, "/var/flb/tail.0/1-2.   7.flb", 918273},
		{"over the mapping's end", sampleMap, 0x7f10a8000000, 0x7f10a8200001, "", 0},
		{"deleted", sampleMap, 0x7f10a8200000, 0x7f10a8200001, "/var/flb/tail.0/1-2.   8.flb (deleted)", 918274},
		{"anonymous", sampleMap, 0x7f10a0000000, 0x7f10a0000001, "", 0},
		{"a kernel's name", sampleMap, 0x7ffc5e5a7000, 0x7ffc5e5a7001, "", 0},
		{"between two mappings", sampleMap, 0x500000, 0x500001, "", 0},
		{"the highest address", sampleMap, 0xffffffffff600fff, 0xffffffffff601000, "", 0},
		{"behind the last", sampleMap, 0xffffffffff601000, 0xffffffffff601001, "", 0},
		{"nothing", "", 1, 2, "", 0},
		{"no map at all", "what is this?\n", 1, 2, "", 0},
		{"cut within a line", sampleMap[:150], 0x7f10a8000035, 0x7f10a8100000, "", 0},
		{"an address too long", "10000000000000000-20000000000000000 r 0 0:0 1 /x\n", 1, 2, "", 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, step := range []int{1, 7, 100, 4096} {
				r := strings.NewReader(row.text)
				m, err := scan(make([]byte, scanBuffer), row.lo, row.hi, func(p []byte) (int, error) {
					n, err := r.Read(p[:min(step, len(p))])
					if errors.Is(err, io.EOF) {
						err = nil
					}
					return n, err
				})
				if err != nil || string(m.path) != row.want || m.inode != row.inode {
					t.Fatalf("read %d bytes at a time: scan = %q inode %d, %v, want %q inode %d", step, m.path, m.inode, err, row.want, row.inode)
				}
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(sampleMap), uint64(0x7f10a8000035), uint64(8))
	f.Add([]byte("0-ffffffffffffffff r 0 0:0 1 /"), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, text []byte, lo, length uint64) {
		hi := lo + length%(1<<32)
		r := bytes.NewReader(text)
		m, err := scan(make([]byte, 256), lo, hi, func(p []byte) (int, error) {
			n, err := r.Read(p)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.path) > 0 && (m.path[0] != '/' || !bytes.Contains(text, m.path)) {
			t.Fatalf("scan found %q, which is not in the text", m.path)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	base := b.TempDir()
	var data []byte
	for i := range 128 { // storage.max_chunks_up
		m := chunk(b, filepath.Join(base, "tail.0", "1-1764453411."+strings.Repeat("1", 1+i%9)+string(rune('a'+i/9))+suffix))
		if i == 64 {
			data = m
		}
	}
	for way, finder := range ways(b) {
		b.Run(strings.ReplaceAll(way, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f, err := finder.Find(data); err != nil || !f.Known() {
					b.Fatal(f, err)
				}
			}
		})
	}
}
