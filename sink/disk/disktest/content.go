package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk"
)

// with runs rows on a new file each.
func with(t *testing.T, h Harness, rows map[string]func(t *testing.T, f disk.File)) {
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			f, err := h.New(t).Create("a")
			must(t, err)
			defer f.Close()
			row(t, f)
		})
	}
}

func wantContent(t *testing.T, f disk.File, want string) {
	t.Helper()
	if got := readFile(t, f); got != want {
		t.Errorf("content %q, not %q", got, want)
	}
}

func write(t *testing.T, f disk.File, at int64, s string) {
	t.Helper()
	n, err := f.WriteAt([]byte(s), at)
	if n != len(s) || err != nil {
		t.Fatalf("%d bytes written: %v", n, err)
	}
}

// content are the promises about reading and writing.
func content(t *testing.T, h Harness) {
	with(t, h, map[string]func(*testing.T, disk.File){
		"what is written is read": func(t *testing.T, f disk.File) {
			write(t, f, 0, "hello")
			write(t, f, 3, "p!")
			wantContent(t, f, "help!")
		},
		"a gap reads as zeros": func(t *testing.T, f disk.File) {
			write(t, f, 3, "x")
			wantContent(t, f, "\x00\x00\x00x")
		},
		"a read behind the end is EOF": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abc")
			b := make([]byte, 5)
			n, err := f.ReadAt(b, 1)
			if n != 2 || !errors.Is(err, io.EOF) || string(b[:2]) != "bc" {
				t.Errorf("%d bytes %q: %v", n, b[:n], err)
			}
			if n, err = f.ReadAt(b, 9); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("%d bytes: %v", n, err)
			}
		},
		"a direct read is a read": func(t *testing.T, f disk.File) {
			content := strings.Repeat("0123456789", 2000)
			write(t, f, 0, content)
			for _, sync := range []bool{false, true} {
				if sync {
					must(t, f.Sync())
				}
				for _, r := range [][2]int{{0, 1}, {0, 4096}, {1, 4096}, {4095, 2}, {4096, 8192}, {5, 12000}, {19990, 10}, {0, 20000}} {
					b := make([]byte, r[1])
					if n, err := f.ReadDirect(b, int64(r[0])); n != len(b) || string(b) != content[r[0]:r[0]+r[1]] {
						t.Errorf("%d bytes at %d, synced %v: %d, %v", r[1], r[0], sync, n, err)
					}
				}
				b := make([]byte, 5)
				for at, want := range map[int64]string{19998: "89", 20000: "", 30000: ""} {
					if n, err := f.ReadDirect(b, at); string(b[:n]) != want || !errors.Is(err, io.EOF) {
						t.Errorf("at %d: %q, %v", at, b[:n], err)
					}
				}
			}
		},
		"a read up to the end is whole": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abc")
			b := make([]byte, 2)
			if n, err := f.ReadAt(b, 1); n != 2 || err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%d bytes: %v", n, err)
			}
		},
		"negative offsets are refused": func(t *testing.T, f disk.File) {
			if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
				t.Error("read")
			}
			if _, err := f.ReadDirect(make([]byte, 1), -1); err == nil {
				t.Error("read directly")
			}
			if _, err := f.WriteAt(make([]byte, 1), -1); err == nil {
				t.Error("written")
			}
			if err := f.WriteVec([][]byte{{1}}, -1); err == nil {
				t.Error("written as a vector")
			}
		},
		"Sync and Writeback change nothing": func(t *testing.T, f disk.File) {
			must(t, f.Sync())
			write(t, f, 0, strings.Repeat("x", 10000))
			must(t, f.Writeback(0, 10000))
			must(t, f.Writeback(5000, 1<<30))
			must(t, f.Sync())
			wantContent(t, f, strings.Repeat("x", 10000))
		},
	})
	t.Run("a closed file is of no use", func(t *testing.T) {
		f, err := h.New(t).Create("a")
		must(t, err)
		must(t, f.Close())
		_, readErr := f.ReadAt(make([]byte, 1), 0)
		_, writeErr := f.WriteAt([]byte("x"), 0)
		_, sizeErr := f.Size()
		for what, err := range map[string]error{
			"ReadAt": readErr, "WriteAt": writeErr, "WriteVec": f.WriteVec([][]byte{{1}}, 0),
			"Allocate": f.Allocate(1), "Truncate": f.Truncate(0), "Sync": f.Sync(), "Size": sizeErr, "Close": f.Close(),
		} {
			if err == nil {
				t.Errorf("%s answers no error", what)
			}
		}
	})
}

// vectors are the promises of WriteVec.
func vectors(t *testing.T, h Harness) {
	many := func(n int) (bufs [][]byte, all string) {
		var b bytes.Buffer
		for i := range n {
			s := fmt.Sprint(i, ",")
			if i%7 == 0 {
				s = ""
			}
			bufs = append(bufs, []byte(s))
			b.WriteString(s)
		}
		return bufs, b.String()
	}
	rows := map[string][][]byte{
		"no buffer":               nil,
		"one":                     {[]byte("abc")},
		"empty ones among others": {{}, []byte("a"), nil, []byte("bc"), {}},
		"only empty ones":         {{}, nil, {}},
		"thousands of empty ones": append(make([][]byte, 3000), []byte("end")),
		"a large one":             {bytes.Repeat([]byte("x"), 3<<20), []byte("end")},
	}
	for _, n := range []int{1023, 1024, 1025, 2048, 5000} {
		rows[fmt.Sprint(n, " buffers")], _ = many(n)
	}
	for name, bufs := range rows {
		t.Run(name, func(t *testing.T) {
			f, err := h.New(t).Create("a")
			must(t, err)
			defer f.Close()
			write(t, f, 0, "before")
			lengths := make([]int, len(bufs))
			for i, b := range bufs {
				lengths[i] = len(b)
			}
			want := string(bytes.Join(bufs, nil))
			must(t, f.WriteVec(bufs, 3))
			if len(want) < 3 {
				want += "before"[3+len(want):]
			}
			wantContent(t, f, "bef"+want)
			for i, b := range bufs {
				if len(b) != lengths[i] {
					t.Fatalf("buffer %d of the caller's was changed", i)
				}
			}
		})
	}
}

// length are the promises of Allocate, Truncate and Size.
func length(t *testing.T, h Harness) {
	const big = 1<<20 + 100
	with(t, h, map[string]func(*testing.T, disk.File){
		"Allocate extends with zeros": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abc")
			must(t, f.Allocate(big))
			wantContent(t, f, "abc"+strings.Repeat("\x00", big-3))
		},
		"Allocate never shortens": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abcdef")
			must(t, f.Allocate(3))
			wantContent(t, f, "abcdef")
		},
		"Allocate may be repeated": func(t *testing.T, f disk.File) {
			must(t, f.Allocate(100))
			must(t, f.Allocate(200))
			must(t, f.Allocate(200))
			wantContent(t, f, strings.Repeat("\x00", 200))
		},
		"Truncate shortens": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abcdef")
			must(t, f.Truncate(2))
			wantContent(t, f, "ab")
		},
		"Truncate extends with zeros, also over what was cut": func(t *testing.T, f disk.File) {
			write(t, f, 0, "abcdef")
			must(t, f.Sync())
			must(t, f.Truncate(2))
			must(t, f.Truncate(4))
			must(t, f.Sync())
			wantContent(t, f, "ab\x00\x00")
		},
		"a written and synced file has its length": func(t *testing.T, f disk.File) {
			write(t, f, 10, "x")
			must(t, f.Sync())
			if n, err := f.Size(); n != 11 || err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		},
	})
}

// concurrent is the promise that distinct ranges and distinct names may be
// used at the same time.
func concurrent(t *testing.T, h Harness) {
	d := h.New(t)
	f, err := d.Create("a")
	must(t, err)
	defer f.Close()
	const writers, each = 8, 1000
	must(t, f.Allocate(writers*each))
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			b := bytes.Repeat([]byte{byte('a' + i)}, each)
			for at := 0; at < each; at += 100 {
				if _, err := f.WriteAt(b[at:at+100], int64(i*each+at)); err != nil {
					t.Error(err)
				}
			}
			name := fmt.Sprint("own-", i)
			own, err := d.Create(name)
			if err == nil {
				err = errors.Join(own.Close(), d.Rename(name, name+"-renamed"), d.SyncDir("."))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := readFile(t, f)
	for i := range writers {
		if want := strings.Repeat(string(rune('a'+i)), each); got[i*each:(i+1)*each] != want {
			t.Errorf("range %d holds %.20q…", i, got[i*each:])
		}
	}
	if names, err := d.List("."); len(names) != writers+1 || err != nil {
		t.Errorf("%v: %v", names, err)
	}
}
