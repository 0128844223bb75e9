package sink_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/disk/crashdisk"
	"github.com/out-hdfs/out_hdfs/sink/faults"
	"github.com/out-hdfs/out_hdfs/sink/fs/faultfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// restart stops a sink and starts another.
func restart(w *sinktest.World, s *sink.Sink) *sink.Sink {
	w.T.Helper()
	w.Close(s)
	return w.Open()
}

// holdOne has one part held: its rename's answer is lost, and a consumer deletes
// the file.
func holdOne(t *testing.T, w *sinktest.World) (*sink.Sink, sink.PartStatus) {
	w.Change = eachRolls
	w.Inject = lost()
	w.Consume = func(p string) bool { return w.Store.Delete(p) == nil }
	s := w.Open()
	w.Must(s, sinktest.One("c0", "b0"))
	time.Sleep(time.Minute)
	w.SetConsumer(nil)
	w.Inject = nil
	st := w.Status(s)
	if len(st.Parts) != 1 || st.Parts[0].State != "held" || !strings.Contains(st.Parts[0].Why, "/logs/b0/part-w-1.json") {
		t.Fatalf("no part is held: %+v", st)
	}
	return s, st.Parts[0]
}

// TestHeldPart is held over restarts, is told once by each process, hinders no
// other part, and ends as the operator says.
func TestHeldPart(t *testing.T) {
	for _, row := range []struct {
		name    string
		how     journal.Resolution
		stopped bool // resolved while no sink runs
		files   int
	}{
		{"published again", journal.PublishAgain, false, 2},
		{"taken for published", journal.AcceptDone, false, 1},
		{"published again, while stopped", journal.PublishAgain, true, 2},
		{"taken for published, while stopped", journal.AcceptDone, true, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				s, held := holdOne(t, w)
				s = restart(w, s)
				if n := w.Log.Count("a part is held"); n != 2 {
					t.Errorf("%d lines in two processes", n)
				}
				for _, l := range w.Log.With("a part is held") {
					if !strings.Contains(l.Attrs["do"], fmt.Sprintf("out-hdfs resolve --state-dir /state part %d", held.Number)) {
						t.Errorf("the line doesn't name the command: %v", l)
					}
				}
				w.Must(s, sinktest.One("c1", "b0"))
				time.Sleep(time.Minute)
				if n := len(w.Finished()); n != 2 { // the deleted one is among them
					t.Errorf("%d files beside a held part", n)
				}
				r := journal.Resolved{Part: held.Number, How: row.how}
				if row.stopped {
					w.Close(s)
					j, _, err := journal.Open(journal.Options{Disk: w.Disk, Log: w.Config().Log, Tool: true, SegmentSize: 8 << 10})
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(sink.ResolveStopped(j, r), j.Close()); err != nil {
						t.Fatal(err)
					}
					s = w.Open()
				} else if err := s.Resolve(r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if err := s.Resolve(r); err == nil {
					t.Error("what is resolved can be resolved again")
				}
				st := w.Status(s)
				if len(st.Parts) != 0 || st.Finished.Parts != 2 || st.StagedBytes != 0 {
					t.Errorf("%+v", st)
				}
				w.Close(s)
				if n := strings.Count(fmt.Sprint(w.Published()), `"c0"`); n != row.files { // once deleted, and once more if it was published again
					t.Errorf("the record was published %d times", n)
				}
				if staged := slices.DeleteFunc(w.Disk.Names(), func(n string) bool { return !strings.HasPrefix(n, "staged/") }); len(staged) != 0 {
					t.Errorf("staged files are left: %v", staged)
				}
			})
		})
	}
}

// TestOnlyWhatIsHeldCanBeResolved: an operator can't end what goes on by
// itself, and of two at a time one is right.
func TestOnlyWhatIsHeldCanBeResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		s, held := holdOne(t, w)
		w.Store.SetDown(errors.New("connection refused"))
		w.Must(s, sinktest.One("c1", "b1"))
		time.Sleep(time.Second)
		pending := w.Status(s).Parts[1]
		for _, r := range []journal.Resolved{
			{Part: 99, How: journal.PublishAgain},
			{Part: 99, How: journal.AcceptDone},
			{Part: pending.Number, How: journal.PublishAgain},
			{Part: pending.Number, How: journal.AcceptDone},
			{Seq: 1, How: journal.DecodeAgain},
			{Seq: 99, How: journal.DeadLetter},
			{Part: held.Number},
			{Part: held.Number, How: 77},
		} {
			if err := s.Resolve(r); err == nil {
				t.Errorf("%+v was accepted", r)
			}
		}
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action { // so that each is asked before one is done
			if op.Kind == crashdisk.Sync {
				time.Sleep(time.Millisecond)
			}
			return faults.Pass()
		})
		var wait sync.WaitGroup
		answers := make([]error, 8)
		for i := range answers {
			how := journal.PublishAgain
			if i%2 == 0 {
				how = journal.AcceptDone
			}
			wait.Go(func() { answers[i] = s.Resolve(journal.Resolved{Part: held.Number, How: how}) })
		}
		wait.Wait()
		accepted := 0
		for _, err := range answers {
			if err == nil {
				accepted++
			}
		}
		if accepted != 1 {
			t.Errorf("%d of several at a time were accepted", accepted)
		}
		w.Store.SetDown(nil)
		w.Close(s)
		if err := s.Resolve(journal.Resolved{Part: 1, How: journal.AcceptDone}); err == nil {
			t.Error("a closed sink resolves")
		}
	})
}

// TestDamagedStagedFile is set aside and its part held, whatever is wrong with
// it, and what isn't damaged goes on. Put back as it was it can be published.
func TestDamagedStagedFile(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"one bit":   func(b []byte) []byte { b[bytes.IndexByte(b, '\n')] ^= 1; return b },
		"too short": func(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')] },
		"a byte more before its end": func(b []byte) []byte {
			end := bytes.IndexByte(b, '\n')
			return append(append(b[:end:end], 'x'), b[end:]...)
		},
		"empty": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
				w.Store.SetDown(errors.New("connection refused"))
				s := w.Open()
				w.Must(s, sinktest.One("c0", "b0"))
				w.Must(s, sinktest.One("c1", "b1"))
				time.Sleep(time.Second)
				w.Close(s)
				whole := w.Disk.Content("staged/1")
				if err := w.Disk.Damage("staged/1", damage); err != nil {
					t.Fatal(err)
				}
				w.Store.SetDown(nil)
				s = w.Open()
				time.Sleep(time.Minute)
				st := w.Status(s)
				if len(st.Parts) != 1 || st.Parts[0].State != "held" || !strings.Contains(st.Parts[0].Why, "/state/aside/1") {
					t.Fatalf("%+v", st.Parts)
				}
				for _, fault := range w.Unchanged() { // such as a temp of it
					t.Error(fault)
				}
				if n := len(w.Finished()); n != 1 {
					t.Errorf("%d files", n)
				}
				if n := len(w.Disk.Content("aside/1")); n == len(whole) && name != "one bit" {
					t.Errorf("%d bytes were set aside", n)
				}
				s = restart(w, s)
				f, err := w.Disk.Create("staged/1")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.WriteAt(whole, 0); err != nil {
					t.Fatal(err)
				}
				if err := s.Resolve(journal.Resolved{Part: 1, How: journal.PublishAgain}); err != nil {
					t.Error(err)
				}
				w.Close(s)
				w.MustBeRight()
			})
		})
	}
}

// TestStagedFileThatIsGone is held, too, and can be given up.
func TestStagedFileThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
		w.Store.SetDown(errors.New("connection refused"))
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Close(s)
		if err := w.Disk.Remove("staged/1"); err != nil {
			t.Fatal(err)
		}
		w.Store.SetDown(nil)
		s = w.Open()
		time.Sleep(time.Minute)
		if st := w.Status(s); len(st.Parts) != 1 || st.Parts[0].State != "held" {
			t.Fatalf("%+v", st.Parts)
		}
		if err := s.Resolve(journal.Resolved{Part: 1, How: journal.AcceptDone}); err != nil {
			t.Error(err)
		}
		s = restart(w, s)
		if st := w.Status(s); len(st.Parts) != 0 || st.StagedBytes != 0 {
			t.Errorf("%+v", st)
		}
		w.Close(s)
	})
}

// dieOver runs one process that dies while the assigner looks at a record of
// the bucket, or that ends by itself if it never does.
func dieOver(w *sinktest.World, bucket string, flush func(s *sink.Sink)) (died bool) {
	var after atomic.Pointer[crashdisk.Disk]
	var once sync.Once
	// A process that died does nothing any more. Its goroutines are let go only
	// when its disk and target don't take anything.
	flushed, dead := make(chan struct{}), make(chan struct{})
	w.See = func(b string) {
		if b == bucket {
			<-flushed // what is accepted after the death would be no promise
			once.Do(func() { after.Store(w.Disk.Crash(crashdisk.All, 0)) })
			<-dead
		}
	}
	w.Inject = faultfs.StopWhen(func() bool { return after.Load() != nil })
	s := w.Open()
	flush(s)
	close(flushed)
	time.Sleep(2 * time.Minute)
	if after.Load() == nil {
		w.Close(s)
		w.See, w.Inject = nil, nil
		return false
	}
	w.Disk.SetHook(func(crashdisk.Op) faults.Action { return faults.Before(faultfs.ErrStopped) })
	close(dead)
	_ = s.Close()
	w.Disk, w.See, w.Inject = after.Load(), nil, nil
	return true
}

// TestChunkThatKillsTheProcess is held after three deaths in a row, and only
// that chunk: those decoded beside it are published. An operator ends it.
func TestChunkThatKillsTheProcess(t *testing.T) {
	for _, row := range []struct {
		name string
		how  journal.Resolution
	}{{"sent to the dead letters", journal.DeadLetter}, {"decoded once more", journal.DecodeAgain}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				w.Change = func(c *sink.Config) { c.ExitTimeout = time.Second }
				killer := 0
				for death := range 5 {
					died := dieOver(w, "killer", func(s *sink.Sink) {
						if death > 0 { // some more come each time
							w.Must(s, sinktest.One(fmt.Sprintf("c%d", 100+death), "b1"))
							return
						}
						for i := range 10 {
							bucket := "b0"
							if i == 4 {
								bucket = "killer"
							}
							c := sinktest.One(fmt.Sprintf("c%d", i), bucket)
							w.Must(s, c)
						}
					})
					if died {
						killer++
					}
				}
				if killer != 3 {
					t.Errorf("the process died %d times", killer)
				}
				s := w.Open()
				time.Sleep(2 * time.Minute)
				st := w.Status(s)
				if len(st.HeldChunks) != 1 || st.UnfinishedChunks != 1 {
					t.Fatalf("%+v", st)
				}
				if n := w.Log.Count("a chunk is held"); n == 0 {
					t.Error("nothing says that it is held")
				}
				if err := s.Resolve(journal.Resolved{Seq: st.HeldChunks[0], How: row.how}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Minute)
				w.Close(s)
				w.MustBeRight()
				if n := len(w.DeadLetters()); (n == 1) != (row.how == journal.DeadLetter) {
					t.Errorf("%d dead letters", n)
				}
			})
		})
	}
}

// TestResolveBeforeItsTurn: a held chunk that is resolved while others are still
// decoded is decoded once.
func TestResolveBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { c.ExitTimeout = time.Second }
		for range 3 {
			dieOver(w, "killer", func(s *sink.Sink) {
				if w.Owes() == 0 {
					w.Must(s, sinktest.One("c0", "killer"))
					w.Must(s, sinktest.One("c1", "b0"))
				}
			})
		}
		s := w.Open()
		if err := s.Resolve(journal.Resolved{Seq: 1, How: journal.DecodeAgain}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		w.Close(s)
		w.MustBeRight()
	})
}

// TestSuspectsWait: a chunk that a process died over is decoded only when the
// next one has lived for a while, so that an agent which is killed soon after
// each start doesn't die over the same chunk each time; or when it stops.
func TestSuspectsWait(t *testing.T) {
	for _, stops := range []bool{false, true} {
		t.Run(fmt.Sprintf("it stops %v", stops), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := sinktest.NewWorld(t)
				if !dieOver(w, "killer", func(s *sink.Sink) { w.Must(s, sinktest.One("c0", "killer")) }) {
					t.Fatal("it didn't die")
				}
				var seen atomic.Bool
				w.See = func(b string) { seen.Store(seen.Load() || b == "killer") }
				s := w.Open()
				w.Must(s, sinktest.One("c1", "b0"))
				time.Sleep(9 * time.Second)
				if seen.Load() {
					t.Error("it was decoded at once")
				}
				if stops {
					before := time.Now()
					w.Close(s)
					if took := time.Since(before); took > time.Second {
						t.Errorf("the stop took %v", took)
					}
				} else {
					time.Sleep(2 * time.Minute)
					if st := w.Status(s); st.UnfinishedChunks > 0 {
						t.Errorf("%+v", st)
					}
					w.Close(s)
				}
				if !seen.Load() {
					t.Error("it wasn't decoded")
				}
				w.MustBeRight()
			})
		})
	}
}

// TestAHeldPartHasItsFile: a process dies between the rename and the journal's
// word that the part is finished, and a consumer has taken the file meanwhile.
// The part is held, and what an operator needs to publish it again is there.
func TestAHeldPartHasItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		w.Change = func(c *sink.Config) { eachRolls(c); c.ExitTimeout = time.Second }
		w.SetConsumer(func(p string) bool { return w.Store.Delete(p) == nil })
		w.Disk.SetHook(func(op crashdisk.Op) faults.Action {
			if op.Kind == crashdisk.Write && strings.HasPrefix(op.Name, "journal/") && len(w.Published()) > 0 {
				return faults.Before(errors.New("input/output error"))
			}
			return faults.Pass()
		})
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		time.Sleep(time.Minute)
		killed := w.Disk.Crash(crashdisk.Killed, 1)
		_ = s.Close()
		w.Disk = killed
		s = w.Open()
		time.Sleep(time.Minute)
		st := w.Status(s)
		if len(st.Parts) != 1 || st.Parts[0].State != "held" {
			t.Fatalf("%+v", st.Parts)
		}
		if err := s.Resolve(journal.Resolved{Part: st.Parts[0].Number, How: journal.PublishAgain}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.Close(s)
		if n := strings.Count(fmt.Sprint(w.Published()), `"c0"`); n != 2 { // once taken, and once more
			t.Errorf("the record was published %d times", n)
		}
	})
}
