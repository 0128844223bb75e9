package target

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// calls are those that a commit may make of a NameNode. Renewals of leases come
// when they like.
var calls = []string{
	"mkdirs", "create", "getFileInfo", "isFileClosed", "getServerDefaults", "setPermission",
	"addBlock", "updateBlockForPipeline", "complete", "rename2", "delete",
}

// changing are those of them that change something, and can do so late.
var changing = []string{"mkdirs", "create", "setPermission", "addBlock", "complete", "rename2", "delete"}

// way is one that a commit can take.
type way struct {
	name string
	// first are faults that lead there, all of them cuts.
	first []proxy.Rule
	// puts is how often the part is uploaded.
	puts int
	// needs are calls that it must make, or it isn't this way.
	needs []string
}

var ways = []way{
	{"undisturbed", nil, 1, []string{"mkdirs", "create", "addBlock", "complete", "isFileClosed", "rename2"}},
	{"uploaded again", []proxy.Rule{{Message: "complete", Side: proxy.Answer, Nth: 1, Do: proxy.Cut}}, 2,
		[]string{"delete", "rename2"}},
	{"renamed, and the answer is lost", []proxy.Rule{{Message: "rename2", Side: proxy.Answer, Nth: 1, Do: proxy.Cut}}, 1,
		[]string{"delete", "getServerDefaults"}},
	{"not renamed, and nobody says so", []proxy.Rule{{Message: "rename2", Side: proxy.Request, Nth: 1, Do: proxy.Cut}}, 1,
		[]string{"delete", "rename2"}},
}

const (
	recordsOfCase = 20
	// tooLate is how long a message is delayed that is to arrive late.
	tooLate = 2 * impatient
)

// faultCase is a commit with one fault more.
type faultCase struct {
	way
	fault  proxy.Rule
	dir    string
	proxy  *proxy.Proxy
	counts []*proxy.Count // of first, and of fault
	agent  *agent
	listed bool // when it was published, a temp could still appear
}

func (f *faultCase) String() string { return fmt.Sprintf("%s: %v", f.way.name, f.fault) }

// late reports whether a message arrives after its sender gave it up: a temp
// may appear then that was missing before.
func (f *faultCase) late() bool { return f.fault.Do == proxy.Delay }

// marker is the file by which a sink locates a file after a rename. It is
// empty and there is one of it in a directory.
const marker = ".out_hdfs.settle." + user

// lateMarker says that the marker's creation arrives after its sender gave it
// up. The next one that locates a file in that directory removes it.
func (f *faultCase) lateMarker() bool {
	return f.late() && f.fault.Message == "create" && f.fault.Nth > f.puts
}

// TestEveryMessageOfACommitIsLostOnce cuts, swallows and delays each request
// and each answer of everything that a commit asks of the NameNode: on the
// straight way, and on those that it takes after an upload or a rename of
// unknown outcome. Every record is published once, nothing else is left and
// nothing is held.
func TestEveryMessageOfACommitIsLostOnce(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	base := directory(t, c)
	st := look(t, c)
	st.write(t, base+"/bystander", "not ours\n")
	var cases []*faultCase
	for _, w := range ways {
		cases = append(cases, w.cases(t, base)...)
	}
	slices.SortStableFunc(cases, func(a, b *faultCase) int { // those that take longest to be sure of
		return cmp.Compare(b.fault.Do, a.fault.Do)
	})
	t.Logf("%d cases", len(cases))
	var all sync.WaitGroup
	places := make(chan struct{}, 32) // they mostly wait
	for _, f := range cases {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			f.run(t)
		})
	}
	all.Wait()
	grace(t, cases)
	files := map[string]map[string]string{}
	for p, content := range st.files(t, base) {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, base+"/"), "/")
		if files[name] == nil {
			files[name] = map[string]string{}
		}
		files[name][p] = content
	}
	for _, f := range cases {
		found := files[path.Base(f.dir)]
		if f.lateMarker() {
			maps.DeleteFunc(found, func(p, content string) bool { return path.Base(p) == marker && content == "" })
		}
		if err := exactlyOnce(found, span(1, recordsOfCase)); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
	if got := files["bystander"]; len(got) != 1 || got[base+"/bystander"] != "not ours\n" {
		t.Errorf("somebody else's file is %q now", got)
	}
}

// cases are the way with every fault.
func (w way) cases(t *testing.T, base string) (cases []*faultCase) {
	t.Helper()
	made := w.count(t, fmt.Sprintf("%s/%s", base, strings.ReplaceAll(w.name, " ", "-")))
	for _, needed := range w.needs {
		if made[proxy.Request][needed] == 0 {
			t.Errorf("%s: it makes no call %s: %v", w.name, needed, made[proxy.Request])
		}
	}
	add := func(r proxy.Rule) {
		for _, first := range w.first {
			if first.Message == r.Message && first.Side == r.Side && first.Nth == r.Nth {
				return
			}
		}
		dir := fmt.Sprintf("%s/%s-%d", base, strings.ReplaceAll(w.name, " ", "-"), len(cases))
		cases = append(cases, &faultCase{way: w, fault: r, dir: dir})
	}
	for _, method := range calls {
		for _, side := range []proxy.Side{proxy.Request, proxy.Answer} {
			for n := 1; n <= made[side][method]; n++ {
				add(proxy.Rule{Message: method, Side: side, Nth: n, Do: proxy.Cut})
				add(proxy.Rule{Message: method, Side: side, Nth: n, Do: proxy.Swallow})
				if side == proxy.Request && slices.Contains(changing, method) {
					add(proxy.Rule{Message: method, Side: side, Nth: n, Do: proxy.Delay, For: tooLate})
				}
			}
		}
	}
	return cases
}

// count goes the way without a further fault and counts its requests and its
// answers.
func (w way) count(t *testing.T, dir string) (made [2]map[string]int) {
	t.Helper()
	f := &faultCase{way: w, dir: dir}
	f.begin(t)
	var counts [2]map[string]*proxy.Count
	for side := range counts {
		counts[side] = map[string]*proxy.Count{}
		for _, m := range calls {
			counts[side][m] = f.proxy.Add(proxy.Rule{Message: m, Side: proxy.Side(side)})
		}
	}
	f.commit(t)
	for side := range made {
		made[side] = map[string]int{}
		for m, n := range counts[side] {
			made[side][m] = n.Seen()
		}
		// How often a file's end is asked for depends on its DataNodes.
		made[side]["complete"] = min(made[side]["complete"], w.puts)
	}
	t.Logf("%s: %v", w.name, made[proxy.Request])
	return made
}

func (f *faultCase) run(t *testing.T) {
	f.begin(t)
	f.commit(t)
	if f.counts[len(f.counts)-1].Fired() == 0 {
		t.Errorf("%v: it didn't fire", f)
	}
	for _, n := range f.counts {
		// Who waits too long for an answer may know by other means before the
		// message that leads this way has passed.
		if n.Fired() == 0 && f.fault.Do == proxy.Cut {
			t.Errorf("%v: what leads there didn't fire", f)
		}
	}
	if f.late() {
		f.listed = f.agent.status(t).LeftoverTemps > 0
		return
	}
	must(t, f.agent.Close())
}

// begin opens the proxy and the agent that sees HDFS through it.
func (f *faultCase) begin(t *testing.T) {
	c := shared.Cluster(t)
	var err error
	f.proxy, err = proxy.NameNode(c.NameNode().Addr(), "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, f.proxy.Close()) })
	for _, r := range f.first {
		f.counts = append(f.counts, f.proxy.Add(r))
	}
	patience := patient
	if f.fault != (proxy.Rule{}) {
		f.counts = append(f.counts, f.proxy.Add(f.fault))
	}
	if f.fault.Do == proxy.Swallow || f.fault.Do == proxy.Delay {
		patience = impatient
	}
	f.agent = start(t, map[string]string{
		"path": "hdfs://" + f.proxy.Addr() + f.dir, "hadoop_conf_dir": client(t, "hdfs://"+f.proxy.Addr(), patience, nil),
	})
}

// commit publishes a chunk's one part.
func (f *faultCase) commit(t *testing.T) {
	f.agent.flush(t, records(1, recordsOfCase, 10, "x"))
	for _, p := range f.agent.published(t) {
		t.Errorf("%v: part %d is held: %s", f, p.Number, p.Why)
	}
}

// grace waits until the late cases' agents know that no temp of theirs can
// appear any more, which is a while after the last message that could have made
// one.
func grace(t *testing.T, cases []*faultCase) {
	t.Helper()
	var agents []*agent
	listed := 0
	for _, f := range cases {
		if f.late() {
			agents = append(agents, f.agent)
		}
		if f.listed {
			listed++
		}
	}
	noTemps(t, agents)
	t.Logf("%d cases had to wait for a temp to be gone", listed)
	if listed == 0 {
		t.Error("no temp could have appeared late, so nothing was tested")
	}
}
