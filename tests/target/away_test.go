package target

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/tests/hdfs"
)

const (
	away     = time.Minute
	pace     = 50 * time.Millisecond // between chunks
	ofChunk  = 100
	filling  = 200
	slowdown = 10 // how much slower a flush may be, at the 99th percentile
)

// load flushes chunks at a pace for as long as it is told to.
type load struct {
	a     *agent
	first uint64 // the next chunk's first id
	retry int
}

// send flushes chunks until stop answers true, and returns how long each took.
func (l *load) send(stop func() bool) (took []time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for !stop() {
		chunk := records(l.first, ofChunk, filling, "x", "y", "z")
		began := time.Now()
		if l.a.Flush("test", chunk, chunkfile.File{}, sink.FlushOptions{}) != sink.OK {
			l.retry++
		}
		took = append(took, time.Since(began))
		l.first += ofChunk
		<-tick.C
	}
	return took
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*99/100]
}

// forAtLeast answers true once d has passed and done is closed, nil meaning that
// it is.
func forAtLeast(d time.Duration, done <-chan struct{}) func() bool {
	end := time.Now().Add(d)
	return func() bool {
		if time.Now().Before(end) {
			return false
		}
		if done == nil {
			return true
		}
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

// TestHDFSIsAway starts without a NameNode, has one, loses it for a minute under
// load, and has it again. Every chunk is answered OK all the time, in a time
// that doesn't depend on HDFS, and everything arrives.
func TestHDFSIsAway(t *testing.T) {
	t.Parallel()
	c, err := hdfs.Start(t.Context(), hdfs.Options{DataNodes: 1}) // of its own, to be killed
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	dir := directory(t, c)
	name := c.NameNode()
	must(t, name.Kill())
	a := start(t, map[string]string{
		"path": c.URI() + dir, "hadoop_conf_dir": client(t, c.URI(), patient, nil), "exit_timeout": "2m",
		"rolling_policy": "default", "roll_size": "1M", "roll_interval": "2s", "bucket_check_interval": "200ms",
		"state_limit": "1G",
	})
	l := &load{a: a, first: 1}
	absent := l.send(forAtLeast(5*time.Second, nil))
	if a.status(t).Finished.Parts > 0 {
		t.Error("something was published where there is no HDFS")
	}
	must(t, name.Restart())
	wait(t, name)
	published := make(chan struct{})
	go func() {
		defer close(published)
		within(t, "the backlog of the start is published", func() bool {
			s := a.status(t)
			return len(s.Troubles) == 0 && s.Finished.Parts > 0
		})
	}()
	l.send(forAtLeast(0, published))
	present := l.send(forAtLeast(15*time.Second, nil))
	must(t, name.Kill())
	absent = append(absent, l.send(forAtLeast(away, nil))...)
	must(t, name.Restart())
	back := make(chan struct{})
	go func() {
		defer close(back)
		wait(t, name)
	}()
	l.send(forAtLeast(0, back))
	if held := a.published(t); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
	with, without := p99(present), p99(absent)
	t.Logf("%d flushes with HDFS, p99 %v; %d without, p99 %v; %.1f times", len(present), with, len(absent), without, float64(without)/float64(with))
	if without > slowdown*with {
		t.Errorf("the 99th percentile of a flush is %v with HDFS and %v without", with, without)
	}
	if l.retry > 0 {
		t.Errorf("%d chunks were answered RETRY", l.retry)
	}
	if err := exactlyOnce(look(t, c).files(t, dir), span(1, l.first-1)); err != nil {
		t.Error(err)
	}
	lost, found := a.log.of("the target is in trouble"), a.log.of("the target works again")
	if len(lost) != 2 || len(found) != 2 {
		t.Errorf("HDFS was away twice and the log says %v", append(lost, found...))
	}
}

// wait waits until a NameNode takes writes.
func wait(t *testing.T, name *hdfs.Daemon) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := name.WaitReady(ctx); err != nil {
		t.Error(err)
	}
}
