package target

import (
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// consumer takes every finished file of a bucket as soon as it is there, until
// stop. What it has read it keeps.
type consumer struct {
	taken map[string]string
	err   error
	end   chan struct{}
	done  chan struct{}
}

// consume starts a consumer. take moves or removes a file that was read.
func consume(s *store, t testing.TB, dir string, take func(p string) error) *consumer {
	c := &consumer{taken: map[string]string{}, end: make(chan struct{}), done: make(chan struct{})}
	tick := time.NewTicker(5 * time.Millisecond)
	go func() {
		defer close(c.done)
		defer tick.Stop()
		for {
			select {
			case <-c.end:
				return
			case <-tick.C:
			}
			for _, name := range s.list(t, dir) {
				if p := path.Join(dir, name); !hidden(p) {
					content, err := s.read(p)
					if err == nil {
						c.taken[fmt.Sprintf("%s the %d.", p, len(c.taken)+1)] = content
						err = take(p)
					}
					c.err = errors.Join(c.err, err)
				}
			}
		}
	}()
	return c
}

func (c *consumer) stop(t testing.TB) map[string]string {
	t.Helper()
	close(c.end)
	<-c.done
	must(t, c.err)
	return c.taken
}

// renameIsLost are faults after which the sink doesn't know for a while what
// became of a rename that happened, and a consumer has the file before it
// looks. made are the calls of an undisturbed commit.
func renameIsLost(made map[string]int) []proxy.Rule {
	return []proxy.Rule{
		{Message: "rename2", Side: proxy.Answer, Nth: 1, Do: proxy.Cut},
		{Message: "getFileInfo", Side: proxy.Request, Nth: made["getFileInfo"] + 1, Do: proxy.Delay, For: 2 * time.Second},
	}
}

// TestConsumersTakeFilesAtOnce lets a consumer move or delete each finished file
// at once. Only one that is deleted while nobody knows that it was published
// is held, and an operator ends that with a word.
func TestConsumersTakeFilesAtOnce(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	st := look(t, c)
	base := directory(t, c)
	made := ways[0].count(t, base+"/count")[proxy.Request]
	move := func(p string) error { return st.move(p, base+"/taken-"+strings.ReplaceAll(p, "/", "-")) }
	for _, row := range []struct {
		name   string
		faults []proxy.Rule
		take   func(p string) error
		held   int
		how    journal.Resolution
		again  int // how often the records are published after that
	}{
		{name: "moved", take: move},
		{name: "deleted", take: st.remove},
		{name: "moved, and the rename's answer is lost", faults: renameIsLost(made), take: move},
		{name: "deleted, and the rename's answer is lost", faults: renameIsLost(made), take: st.remove, held: 1, how: journal.AcceptDone},
		{name: "deleted, and an operator has it published again", faults: renameIsLost(made), take: st.remove, held: 1, how: journal.PublishAgain, again: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := base + "/" + strings.ReplaceAll(strings.ReplaceAll(row.name, " ", "-"), ",", "")
			f := &faultCase{way: way{first: row.faults}, dir: dir}
			f.begin(t)
			taker := consume(st, t, dir+"/b=x", row.take)
			f.agent.flush(t, records(1, recordsOfCase, 10, "x"))
			held := f.agent.published(t)
			for i, n := range f.counts {
				if n.Fired() != 1 {
					t.Errorf("%v fired %d times", row.faults[i], n.Fired())
				}
			}
			within(t, "the consumer has taken all", func() bool {
				return len(st.list(t, dir+"/b=x")) == 0
			})
			if err := exactlyOnce(taker.stop(t), span(1, recordsOfCase)); err != nil {
				t.Error(err)
			}
			if len(held) != row.held {
				t.Errorf("held are %v", held)
			}
			if lines := f.agent.log.of("a part is held"); len(lines) != row.held {
				t.Errorf("the log says %v", lines)
			}
			for _, p := range held {
				must(t, f.agent.Resolve(journal.Resolved{Part: p.Number, How: row.how}))
			}
			if held = f.agent.published(t); len(held) > 0 {
				t.Errorf("still held are %v", held)
			}
			if err := exactlyOnce(st.files(t, dir), span(1, uint64(row.again*recordsOfCase))); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNamesThatAreTaken has files of somebody else under the names that the
// sink is going to use: some long before, one just before the rename.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	const (
		others = "somebody else's\n"
		parts  = 12
		taken  = 9
	)
	c := shared.Cluster(t)
	st := look(t, c)
	base := directory(t, c)
	p, err := proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	late := p.Add(proxy.Rule{Message: "rename2", Side: proxy.Request, Nth: 1, Do: proxy.Delay, For: 2 * time.Second})
	a := start(t, map[string]string{
		"path": "hdfs://" + p.Addr() + base, "writer_id": "w", "uploads": "1",
		"hadoop_conf_dir": client(t, "hdfs://"+p.Addr(), patient, nil),
	})
	must(t, c.MkdirAs(t.Context(), user, base+"/b=x"))
	want := map[string]bool{}
	take := func(n int) {
		name := fmt.Sprintf("%s/b=x/part-w-%d.json", base, n)
		st.write(t, name, others)
		want[name] = true
	}
	for n := 2; n <= taken; n++ {
		take(n)
	}
	a.flush(t, records(1, recordsOfCase, 10, "x"))
	within(t, "the first part is being renamed", func() bool { return late.Fired() > 0 })
	for _, name := range st.list(t, base+"/b=x") {
		if n := 0; strings.HasPrefix(name, ".part-w-") {
			_, err := fmt.Sscanf(name, ".part-w-%d.json", &n)
			must(t, err)
			take(n)
		}
	}
	if len(want) != taken {
		t.Fatalf("taken are %v", want)
	}
	for i := uint64(1); i < parts; i++ {
		a.flush(t, records(1+i*recordsOfCase, recordsOfCase, 10, "x"))
	}
	if held := a.published(t); len(held) > 0 {
		t.Errorf("held are %v", held)
	}
	files := st.files(t, base)
	for name := range want {
		if files[name] != others {
			t.Errorf("%s was overwritten: %.100q", name, files[name])
		}
		delete(files, name)
	}
	if err := exactlyOnce(files, span(1, parts*recordsOfCase)); err != nil {
		t.Error(err)
	}
	said := map[string]int{}
	for _, line := range a.log.of("a final name is taken") {
		if line.Level != slog.LevelWarn || line.Attrs["do"] == "" {
			t.Errorf("the log says %v", line)
		}
		said[line.Attrs["file"]]++
	}
	for name, n := range said {
		if n != 1 {
			t.Errorf("%s is said to be taken %d times", name, n)
		}
	}
	if len(said) == 0 {
		t.Error("nobody was told that names are taken")
	}
}

// TestTwoAgentsWithOneWriterID run beside each other below one path, as copies
// of one configuration do.
func TestTwoAgentsWithOneWriterID(t *testing.T) {
	t.Parallel()
	const chunks = 30
	c := shared.Cluster(t)
	base := directory(t, c)
	conf := client(t, c.URI(), patient, nil)
	var agents sync.WaitGroup
	for i := range uint64(2) {
		a := start(t, map[string]string{"path": c.URI() + base, "writer_id": "same", "hadoop_conf_dir": conf})
		agents.Go(func() {
			for n := range uint64(chunks) {
				a.flush(t, records(1+(i*chunks+n)*recordsOfCase, recordsOfCase, 10, "x", "y"))
			}
			if held := a.published(t); len(held) > 0 {
				t.Errorf("held are %v", held)
			}
		})
	}
	agents.Wait()
	files := look(t, c).files(t, base)
	if err := exactlyOnce(files, span(1, 2*chunks*recordsOfCase)); err != nil {
		t.Error(err)
	}
	if n := len(files); n != 2*2*chunks {
		t.Errorf("there are %d files", n)
	}
}
