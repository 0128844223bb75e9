package sink_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// states counts parts by state.
func states(st sink.Status) map[string]int {
	m := map[string]int{}
	for _, p := range st.Parts {
		m[p.State]++
	}
	return m
}

// TestStatusInEachState follows one part from its first record to its end.
func TestStatusInEachState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		hold := map[faultfs.Op]chan struct{}{faultfs.UploadCreate: make(chan struct{}), faultfs.Stat: make(chan struct{}), faultfs.Publish: make(chan struct{})}
		w.Inject = &decide{f: func(c faultfs.Call) faultfs.Action {
			if release := hold[c.Op]; release != nil {
				return faultfs.Hang(release)
			}
			return faultfs.Pass()
		}}
		slow := make(chan struct{})
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Sync && op.Name == "staged/1" {
				<-slow
			}
			return faults.Pass()
		})
		s := w.Open()
		is := func(state string, unfinished int, staged bool) {
			t.Helper()
			synctest.Wait()
			st := w.Status(s)
			if got, want := fmt.Sprint(states(st)), fmt.Sprint(map[string]int{state: 1}); got != want || st.UnfinishedChunks != unfinished ||
				(st.StagedBytes > 0) != staged || st.Oldest == nil || !st.Running {
				t.Errorf("in state %s: %s, %+v", state, got, st)
			}
			for _, p := range st.Parts {
				if p.Number != 1 || p.Bucket != "b0" || p.Records != 2 || p.Bytes == 0 || p.Target != "mem:///logs" || p.Since.IsZero() {
					t.Errorf("in state %s: %+v", state, p)
				}
			}
		}
		var c sinktest.Chunk
		c.Add("c0", "b0")
		c.Add("c1", "b0")
		w.Must(s, c)
		is("in-progress", 1, true)
		time.Sleep(2 * time.Minute)
		is("rolling", 1, true)
		close(slow)
		is("pending", 0, true)
		close(hold[faultfs.UploadCreate])
		is("pending", 0, true) // whether the upload is whole isn't known yet
		hold[faultfs.Stat] <- struct{}{}
		is("uploaded", 0, true)
		close(hold[faultfs.Stat])
		is("renaming", 0, true)
		close(hold[faultfs.Publish])
		synctest.Wait()
		st := w.Status(s)
		if len(st.Parts) != 0 || st.StagedBytes != 0 || st.Oldest != nil || st.UnfinishedChunks != 0 {
			t.Errorf("in the end: %+v", st)
		}
		if st.Finished != (sink.FinishedStatus{Parts: 1, Records: 2, Bytes: uint64(len(w.Published()[0].Content))}) {
			t.Errorf("finished: %+v", st.Finished)
		}
		w.Close(s)
		w.MustBeRight()
		if st := w.Status(s); st.StateDir != "/state" || st.Finished.Parts != 1 {
			t.Errorf("after the stop: %+v", st)
		}
	})
}

// TestStatusWithoutAnAnswer: a pipeline that doesn't answer in time costs the
// parts in progress and nothing else.
func TestStatusWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		synctest.Wait()
		var fired atomic.Bool
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Create {
				fired.Store(true)
				return faults.Before(errors.New("input/output error"))
			}
			return faults.Pass()
		})
		w.Must(s, sinktest.One("c1", "b1"))
		synctest.Wait()
		began := time.Now()
		st := w.Status(s)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if st.UnfinishedChunks != 2 {
			t.Errorf("%+v", st)
		}
		if !fired.Load() {
			t.Error("the disk wasn't asked")
		}
		w.Disk.SetHook(nil)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestStatusCountsTroubles of targets, buckets and parts.
func TestStatusCountsTroubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		w.Inject = &decide{f: func(c faultfs.Call) faultfs.Action {
			if c.Op == faultfs.UploadClose && partOf(c.Path) == 2 {
				return faultfs.FailBefore(fs.Unclear, nil)
			}
			return faultfs.Pass()
		}}
		w.Store.Refuse("/logs/b0", nil)
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Must(s, sinktest.One("c1", "b1"))
		for i := range 20 {
			w.Must(s, sinktest.One(fmt.Sprintf("c2%d", i), "b2"))
			time.Sleep(time.Second)
		}
		st := w.Status(s)
		var what []string
		for _, x := range st.Troubles {
			what = append(what, fmt.Sprintf("%s %s %d", x.Target, x.Bucket, x.Part))
			if x.Since.IsZero() || x.Until.IsZero() || x.Why == "" || x.Until.Before(x.Since) {
				t.Errorf("%+v", x)
			}
		}
		if want := []string{"mem:// /logs/b0 0", "mem:// /logs/b1 2"}; !slices.Equal(what, want) {
			t.Errorf("troubles: %q", what)
		}
		w.Inject = nil
		w.Store.Allow("/logs/b0")
		s = restart(w, s)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestStatusJSON is what programs rely on: the names stay.
func TestStatusJSON(t *testing.T) {
	at := time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)
	b, err := json.Marshal(sink.Status{
		WriterID: "w", StateDir: "/state", Target: "hdfs://ns/logs", Running: true, At: at, JournalBytes: 1, StagedBytes: 2, StateLimit: 3,
		UnfinishedChunks: 4, Oldest: &at, HeldChunks: []uint64{5},
		Parts:         []sink.PartStatus{{Number: 6, State: "held", Target: "hdfs://ns/logs", Bucket: "b", Bytes: 7, Records: 8, Since: at, Why: "x"}},
		Troubles:      []sink.TroubleStatus{{Target: "hdfs://ns", Bucket: "/logs/b", Part: 9, Since: at, Until: at, Why: "y"}},
		LeftoverTemps: 10, Finished: sink.FinishedStatus{Parts: 11, Records: 12, Bytes: 13},
		Ledger: sink.LedgerStatus{
			Chunks: 14, EmptyChunks: 15, LostChunks: 16, Records: 17, Published: 18, Pending: 19, Owed: 20, Lost: 21, DeadLetters: 22, Unbalanced: 23,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const golden = `{"writer_id":"w","state_dir":"/state","target":"hdfs://ns/logs","running":true,"at":"2026-11-29T22:00:00Z",` +
		`"journal_bytes":1,"staged_bytes":2,"state_limit":3,"unfinished_chunks":4,"oldest_unfinished":"2026-11-29T22:00:00Z","held_chunks":[5],` +
		`"parts":[{"number":6,"state":"held","target":"hdfs://ns/logs","bucket":"b","bytes":7,"records":8,"since":"2026-11-29T22:00:00Z","why":"x"}],` +
		`"troubles":[{"target":"hdfs://ns","bucket":"/logs/b","part":9,"since":"2026-11-29T22:00:00Z","until":"2026-11-29T22:00:00Z","why":"y"}],` +
		`"leftover_temps":10,"finished":{"parts":11,"records":12,"bytes":13},` +
		`"ledger":{"chunks":14,"empty_chunks":15,"lost_chunks":16,"records":17,"published":18,"pending":19,"owed":20,"lost":21,"dead_letters":22,"unbalanced":23}}`
	if string(b) != golden {
		t.Errorf("the JSON is\n%s\nand not\n%s", b, golden)
	}
	var empty map[string]any
	b, err = json.Marshal(sink.Status{Parts: []sink.PartStatus{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &empty); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(empty)); !slices.Contains(got, "parts") || slices.Contains(got, "troubles") {
		t.Errorf("an empty status has %v", got)
	}
}

// TestPublishedCountsFromOpen: what the last process left is published at once
// after Open, and counted; what that process published isn't.
func TestPublishedCountsFromOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = eachRolls
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		synctest.Wait()
		if got := s.Published(); got.Parts != 1 || got.Records != 1 || got.Bytes == 0 {
			t.Fatalf("the first process published %+v", got)
		}
		w.Store.SetDown(errors.New("connection refused"))
		w.Must(s, sinktest.One("c1", "b0"))
		w.Must(s, sinktest.One("c2", "b1"))
		w.Close(s)
		w.Store.SetDown(nil)
		s = w.Open()
		synctest.Wait()
		if got, ever := s.Published(), w.Status(s).Finished; got.Parts != 2 || got.Records != 2 || ever.Parts != 3 {
			t.Errorf("the next one published %+v of %+v", got, ever)
		}
		w.Close(s)
		w.MustBeRight()
	})
}
