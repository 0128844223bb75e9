package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What the host itself must get right for the tests that rely on it.
func TestHost(t *testing.T) {
	on := border(t)
	t.Run("a chunk is deleted when every output is done with it", func(t *testing.T) { retryLimit(on(t)) })
	t.Run("a killed run's chunks are delivered by the next", func(t *testing.T) { killed(on(t)) })
	t.Run("an answer that wasn't heard is a redelivery", func(t *testing.T) { lost(on(t)) })
	t.Run("a stopped run is in the middle of things", func(t *testing.T) { stopped(on(t)) })
	t.Run("SIGTERM ends it within its grace", func(t *testing.T) { terminated(on(t)) })
	t.Run("new chunks come before the backlog, or after", func(t *testing.T) { order(t, on) })
	t.Run("JSON lines are sent", func(t *testing.T) { lines(on(t)) })
	t.Run("chunks are sent as they are, in their order", func(t *testing.T) { raw(on(t)) })
	t.Run("the rate is kept", func(t *testing.T) { rate(on(t)) })
}

func retryLimit(b *bench) {
	stubborn := b.output("stubborn", "retry", 1)
	stubborn.RetryLimit = 2
	r := b.run(Options{Outputs: []Output{b.output("good", "", 1), stubborn}, Chunks: 3, Retry: time.Millisecond})
	if r.Summary.Dropped != 3 || r.Summary.Retry != 9 || r.Summary.Deleted != 3 || b.left() != 0 {
		b.t.Errorf("%+v, want 3 chunks dropped after 3 deliveries each, and deleted", r.Summary.Summary)
	}
	var l Ledger
	l.Add(r.Events)
	if len(l.Dropped("stubborn")) != 300 || len(l.Promised("stubborn")) != 0 || len(l.Promised("good")) != 300 {
		b.t.Error("the ledger must have 300 records dropped for the one and promised by the other")
	}
}

func killed(b *bench) {
	o := Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Chunks: 10, OnOK: "kill@3"}
	first := b.run(o)
	if first.Signal != syscall.SIGKILL {
		b.t.Fatalf("exit %d, signal %v, want SIGKILL", first.Code, first.Signal)
	}
	var l Ledger
	l.Add(first.Events)
	left := b.left()
	if promised := len(l.Promised("hdfs.0")); promised != 300 || left < 1 {
		b.t.Fatalf("%d records promised, %d chunks left, want 300, and at least the one that was just answered", promised, left)
	}
	o.OnOK, o.Chunks = "", 0
	second := b.run(o)
	l.Add(second.Events)
	if int(second.Summary.OK) != left || b.left() != 0 {
		b.t.Errorf("the next run was answered OK %d times, want once for each of %d chunks", second.Summary.OK, left)
	}
	if !slices.Equal(l.Sent(), l.Promised("hdfs.0")) {
		b.t.Error("in the end all that was sent must be promised")
	}
}

func lost(b *bench) {
	o := Options{Outputs: []Output{b.output("hdfs.0", "", 2)}, Chunks: 6, OnOK: "lose@2"}
	first := b.run(o)
	if first.Code != 0 || first.Summary.OK < 2 || first.Summary.Deleted != 1 || b.left() == 0 {
		b.t.Fatalf("exit %d, %+v, want one chunk deleted and one more answered", first.Code, first.Summary.Summary)
	}
	o.OnOK, o.Chunks = "", 0
	b.run(o)
	// The chunk whose answer was lost has been delivered twice under one name.
	files := regexp.MustCompile(`file="([^"]+)"`).FindAllStringSubmatch(b.seen("hdfs.0"), -1)
	count := map[string]int{}
	for _, f := range files {
		count[f[1]]++
	}
	again := 0
	for _, n := range count {
		if n > 1 {
			again++
		}
	}
	if again == 0 {
		b.t.Errorf("no chunk was delivered again: %v", count)
	}
}

func stopped(b *bench) {
	p := b.start(Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Chunks: 5, OnOK: "stop@2"})
	oks := func(events []Event) (n int) {
		for _, e := range events {
			if e.Event == "answer" && e.Answer == OK {
				n++
			}
		}
		return n
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	if err := p.WaitFor(ctx, func(e []Event) bool { return oks(e) == 2 }); err != nil {
		b.t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		b.t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Signal != syscall.SIGKILL || oks(r.Events) != 2 {
		b.t.Errorf("signal %v, %d OK, %v, want a kill after the second", r.Signal, oks(r.Events), err)
	}
}

func terminated(b *bench) {
	p := b.start(Options{Outputs: []Output{b.output("hdfs.0", "retry", 1)}, Chunks: 3, Grace: 300 * time.Millisecond})
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	if err := p.WaitFor(ctx, func(events []Event) bool {
		count := map[string]int{}
		for _, e := range events {
			count[e.Event]++
		}
		return count["chunk"] == 3 && count["answer"] > 0
	}); err != nil {
		b.t.Fatal(err)
	}
	if err := p.Terminate(); err != nil {
		b.t.Fatal(err)
	}
	r, err := p.Wait()
	if err != nil || r.Code != 0 || b.left() != 3 {
		b.t.Errorf("exit %d, %v, %d chunks left, want 0 and 3\n%s", r.Code, err, b.left(), r.Log)
	}
	if !strings.HasSuffix(b.seen("hdfs.0"), "close\n") {
		b.t.Error("the output wasn't closed")
	}
}

func order(t *testing.T, on func(*testing.T) *bench) {
	for _, first := range []bool{false, true} {
		t.Run(fmt.Sprintf("backlog first %v", first), func(t *testing.T) {
			b := on(t)
			b.run(Options{Outputs: []Output{b.output("old", "", 0)}, Chunks: 2, Tags: []string{"old"}, OnOK: "lose@1"})
			b.run(Options{Outputs: []Output{b.output("new", "", 0)}, Chunks: 2, Tags: []string{"new"}, BacklogFirst: first, InFlight: 1})
			tags := regexp.MustCompile(`tag=(\w+)`).FindAllStringSubmatch(b.seen("new"), -1)
			if len(tags) < 3 || (tags[0][1] == "old") != first {
				t.Errorf("flushes came as %v", tags)
			}
		})
	}
}

func lines(b *bench) {
	input := b.path("in.ndjson")
	text := strings.Repeat(`{"date":"2026-11-29T10:11:12.500Z","n":[1,-2,2.5e3,null,true,false],"s":"\u4e2d\ud83d\ude00\n\"","m":{}}`+"\n", 25)
	if err := os.WriteFile(input, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Input: input, Records: 10})
	if r.Code != 0 || r.Summary.Chunks != 3 || r.Summary.Records != 25 || r.Summary.OK != 3 {
		b.t.Errorf("exit %d, %d chunks, %d records, want 3 and 25\n%s", r.Code, r.Summary.Chunks, r.Summary.Records, r.Log)
	}
	if err := os.WriteFile(input, []byte("{\"a\":}\n"), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Input: input}); r.Code != 70 {
		b.t.Errorf("exit %d for a line that is no JSON, want 70", r.Code)
	}
}

func raw(b *bench) {
	var chunks []Chunk
	for i := range 20 {
		chunks = append(chunks, Chunk{Tag: fmt.Sprint("t", i), Data: bytes.Repeat([]byte{0xc0, '\n'}, i+1), First: uint64(i * i), Records: uint64(2 * i)})
	}
	file := b.path("chunks")
	if err := WriteRaw(file, chunks); err != nil {
		b.t.Fatal(err)
	}
	r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 2)}, Raw: file, InFlight: 1})
	if r.Code != 0 || r.Summary.Chunks != 20 || r.Summary.Records != 380 || r.Summary.OK != 20 {
		b.t.Errorf("exit %d, %+v, want 20 chunks with 380 records\n%s", r.Code, r.Summary.Summary, r.Log)
	}
	tags := regexp.MustCompile(`tag=(\w+) size=(\d+)`).FindAllStringSubmatch(b.seen("hdfs.0"), -1)
	for i, c := range chunks {
		if len(tags) != 20 || tags[i][1] != c.Tag || tags[i][2] != fmt.Sprint(len(c.Data)) {
			b.t.Fatalf("flushes came as %v", tags)
		}
	}
	var l Ledger
	l.Add(r.Events)
	if sent := l.Sent(); len(sent) == 0 || sent[len(sent)-1] != 19*19+37 {
		b.t.Errorf("the ids sent are %v", sent)
	}
}

func rate(b *bench) {
	r := b.run(Options{Outputs: []Output{b.output("hdfs.0", "", 1)}, Chunks: 10, Rate: 1 << 20})
	least := float64(r.Summary.Bytes) * 0.9 / (1 << 20)
	if r.Summary.Seconds < least*0.9 {
		b.t.Errorf("%d bytes at 1 MiB/s took %.3fs, want at least %.3fs", r.Summary.Bytes, r.Summary.Seconds, least)
	}
}

func TestExactlyOnce(t *testing.T) {
	rows := []struct {
		name                    string
		sent, promised, written []uint64
		ok                      bool
	}{
		{"all", []uint64{1, 2}, []uint64{1, 2}, []uint64{2, 1}, true},
		{"more than promised", []uint64{1, 2}, []uint64{1}, []uint64{1, 2}, true},
		{"nothing", nil, nil, nil, true},
		{"one is missing", []uint64{1, 2}, []uint64{1, 2}, []uint64{1}, false},
		{"one is there twice", []uint64{1}, []uint64{1}, []uint64{1, 1}, false},
		{"one that wasn't promised is there twice", []uint64{1}, nil, []uint64{1, 1}, false},
		{"one was never sent", []uint64{1}, []uint64{1}, []uint64{1, 7}, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := ExactlyOnce(row.sent, row.promised, row.written); (err == nil) != row.ok {
				t.Errorf("ExactlyOnce = %v, want ok %v", err, row.ok)
			}
		})
	}
}
