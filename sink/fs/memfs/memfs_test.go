package memfs_test

import (
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/fstest"
	"github.com/out-hdfs/out_hdfs/sink/fs/memfs"
)

// harness is a store and what the suite may do to it.
func harness(o memfs.Options) fstest.Harness {
	store := memfs.New(o)
	return fstest.Harness{
		Open:   func(testing.TB) fs.Driver { return store.Driver() },
		Reader: func(testing.TB) fs.Reader { return store.Driver() },
		Dir: func(t testing.TB) string {
			dir := "/" + t.Name()
			if err := store.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		Search: !o.NoSearch,
		Tick:   2 * time.Millisecond, // times are in milliseconds
		Rewrite: func(t testing.TB, p string, content []byte) {
			if err := store.Write(p, content); err != nil {
				t.Fatal(err)
			}
		},
		Mode: func(t testing.TB, p string) uint32 {
			mode, err := store.Mode(p)
			if err != nil {
				t.Fatal(err)
			}
			return mode
		},
		Refused: func(t testing.TB, dir string, f func(fs.Driver)) {
			store.Refuse(dir, nil)
			defer store.Allow(dir)
			f(store.Driver())
		},
	}
}

func TestConformance(t *testing.T) { fstest.Run(t, harness(memfs.Options{})) }
func TestConformanceWithoutSearch(t *testing.T) {
	fstest.Run(t, harness(memfs.Options{NoSearch: true}))
}
func BenchmarkConformance(b *testing.B) { fstest.Bench(b, harness(memfs.Options{})) }
