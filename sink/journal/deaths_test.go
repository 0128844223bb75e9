package journal

import (
	"testing"

	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
)

// TestDeaths tells a story of processes each, and what is counted of them. A
// process announces what it says in order, and dies.
func TestDeaths(t *testing.T) {
	type process []Decoding
	d := func(seqs ...uint64) Decoding { return Decoding{seqs} }
	for name, row := range map[string]struct {
		lives []process
		want  map[uint64]int // of chunks 1 to 3
	}{
		"nothing was announced":        {[]process{{}, {}}, map[uint64]int{}},
		"one death":                    {[]process{{d(1)}}, map[uint64]int{1: 1}},
		"three in a row":               {[]process{{d(1)}, {d(1)}, {d(1)}}, map[uint64]int{1: 3}},
		"beside others":                {[]process{{d(1, 2)}, {d(2, 1)}}, map[uint64]int{1: 2, 2: 2}},
		"survived":                     {[]process{{d(1), d(2)}}, map[uint64]int{2: 1}},
		"survived after all":           {[]process{{d(1)}, {d(1), d()}}, map[uint64]int{}},
		"survived beside the deadly":   {[]process{{d(1, 2)}, {d(1), d(2)}, {d(2)}}, map[uint64]int{2: 3}},
		"not tried in between":         {[]process{{d(1)}, {}, {d(2)}, {d(1)}}, map[uint64]int{1: 2, 2: 1}},
		"held, and others go on":       {[]process{{d(1)}, {d(1)}, {d(1)}, {d(2), d(3), d()}, {}}, map[uint64]int{1: 3}},
		"ended while it was announced": {[]process{{d(1, 77)}}, map[uint64]int{1: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			disk := crashdisk.New()
			j, _ := open(t, options(disk))
			for range 3 {
				accept(t, j, Origin{}, "x")
			}
			for _, life := range row.lives {
				for _, f := range life {
					appended(t, j, f)
				}
				j, disk = restart(t, j, disk, crashdisk.None)
			}
			for seq := uint64(1); seq <= 3; seq++ {
				if c, _ := j.Chunk(seq); c.Deaths != row.want[seq] {
					t.Errorf("chunk %d counts %d deaths, not %d", seq, c.Deaths, row.want[seq])
				}
			}
			// Looking and tools count none.
			for range 2 {
				o := options(disk)
				look, _, err := Inspect(o)
				if err != nil {
					t.Fatal(err)
				}
				_ = look.Close()
			}
			for seq := uint64(1); seq <= 3; seq++ {
				if c, _ := j.Chunk(seq); c.Deaths != row.want[seq] {
					t.Errorf("a look counted a death of chunk %d", seq)
				}
			}
		})
	}
}

func TestAToolCountsNoDeath(t *testing.T) {
	d := crashdisk.New()
	j, _ := open(t, options(d))
	seq := accept(t, j, Origin{}, "x")
	appended(t, j, Decoding{[]uint64{seq}})
	d = d.Crash(crashdisk.None, 0)
	closed(t, j)
	deaths := func(tool bool) int {
		o := options(d)
		o.Tool = tool
		j, _ := open(t, o)
		defer closed(t, j)
		c, _ := j.Chunk(seq)
		return c.Deaths
	}
	for i, row := range []struct {
		tool bool
		want int
	}{{true, 0}, {true, 0}, {false, 1}, {true, 1}, {false, 1}} {
		if got := deaths(row.tool); got != row.want {
			t.Errorf("start %d, of a tool: %v, counts %d deaths", i, row.tool, got)
		}
	}
}

func TestResolvedChunks(t *testing.T) {
	for name, row := range map[string]struct {
		how    Resolution
		letter bool
	}{"decode again": {DecodeAgain, false}, "dead letter": {DeadLetter, true}} {
		t.Run(name, func(t *testing.T) {
			d := crashdisk.New()
			j, _ := open(t, options(d))
			seq := accept(t, j, Origin{}, "x")
			for range 3 {
				appended(t, j, Decoding{[]uint64{seq}})
				j, d = restart(t, j, d, crashdisk.None)
			}
			appended(t, j, Resolved{Seq: seq, How: row.how})
			j, _ = restart(t, j, d, crashdisk.None)
			if c, _ := j.Chunk(seq); c.Deaths != 0 || c.DeadLetter != row.letter {
				t.Errorf("%+v", c)
			}
		})
	}
}
