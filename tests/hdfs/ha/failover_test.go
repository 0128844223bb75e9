package ha

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/tests/hdfs"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/load"
	"github.com/out-hdfs/out_hdfs/tests/hdfs/proxy"
)

// TestEitherNameNodeMayBeFirst in the list, the active one or the standby.
func TestEitherNameNodeMayBeFirst(t *testing.T) {
	c := shared.Cluster(t)
	for name, list := range map[string]func([]string){"as configured": func([]string) {}, "the other way round": slices.Reverse[[]string]} {
		t.Run(name, func(t *testing.T) {
			dir, all := directory(t, c), addresses(c)
			list(all)
			steps, err := load.Check(t, options(t, dir, all...))
			if err != nil || len(steps) != 5 {
				t.Errorf("steps %v: %v", steps, err)
			}
		})
	}
}

// TestFailoverInTheMiddleOfEveryCall holds a request until the other NameNode is
// active, so that it comes to a standby, and loses an answer and then fails over,
// so that another NameNode is asked what became of it.
func TestFailoverInTheMiddleOfEveryCall(t *testing.T) {
	c := shared.Cluster(t)
	dir := directory(t, c)
	var proxies []*proxy.Proxy
	var list []string
	for _, n := range c.NameNodes() {
		p, err := proxy.NameNode(n.Addr(), "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { must(t, p.Close()) })
		proxies, list = append(proxies, p), append(list, p.Addr())
	}
	a := load.Start(t, options(t, dir, list...))
	for _, method := range []string{"getFileInfo", "create", "addBlock", "complete", "rename2", "isFileClosed"} {
		for _, r := range []proxy.Rule{
			{Message: method, Side: proxy.Request, Nth: 1, Do: proxy.Delay, For: 2 * time.Second},
			{Message: method, Side: proxy.Answer, Nth: 1, Do: proxy.Cut},
		} {
			var counts []*proxy.Count
			for _, p := range proxies {
				counts = append(counts, p.Add(r))
			}
			a.Send(t)
			for fired := false; !fired; wait(t.Context(), 5*time.Millisecond) {
				fired = slices.ContainsFunc(counts, func(n *proxy.Count) bool { return n.Fired() > 0 })
			}
			must(t, failover(t.Context(), c))
			a.Send(t)
			a.Settle(t)
			for _, p := range proxies {
				p.Reset()
			}
			if t.Failed() {
				t.Fatalf("%v", r)
			}
		}
	}
	a.ExactlyOnce(t, c, dir)
}

// TestExactlyOnceOverFailovers: under load the active NameNode is killed, hangs and
// comes back as a deposed one, hands over, and for a while none is active.
func TestExactlyOnceOverFailovers(t *testing.T) {
	c := shared.Cluster(t)
	dir := directory(t, c)
	a := load.Start(t, options(t, dir, addresses(c)...))
	ctx := t.Context()
	var late []time.Duration
	// caughtUp measures how long after a NameNode became active a part is published.
	caughtUp := func() {
		began, had := time.Now(), a.Published().Parts
		for a.Published().Parts <= had && time.Since(began) < 2*time.Minute {
			wait(ctx, 20*time.Millisecond)
		}
		late = append(late, time.Since(began).Round(10*time.Millisecond))
	}
	a.SendWhile(t, 100*time.Millisecond, func() error {
		wait(ctx, 2*time.Second)
		// Killed: nothing but force makes the other one active.
		old, other, err := active(ctx, c)
		if err != nil {
			return err
		}
		if err := old.Kill(); err != nil {
			return err
		}
		if err := c.Failover(ctx, other); err != nil {
			return err
		}
		caughtUp()
		if err := old.Restart(); err != nil {
			return err
		}
		wait(ctx, 3*time.Second)
		// Hanging for 15 s, and deposed when it goes on.
		if old, other, err = active(ctx, c); err != nil {
			return err
		}
		if err := old.Stop(); err != nil {
			return err
		}
		wait(ctx, time.Second)
		if err := c.Failover(ctx, other); err != nil {
			return err
		}
		caughtUp()
		wait(ctx, 12*time.Second)
		if err := old.Continue(); err != nil {
			return err
		}
		wait(ctx, 3*time.Second)
		if err := old.Restart(); err != nil { // it has ended if it tried an edit
			return err
		}
		wait(ctx, 3*time.Second)
		// None is active for 20 s.
		if old, _, err = active(ctx, c); err != nil {
			return err
		}
		if err := old.TransitionToStandby(ctx); err != nil {
			return err
		}
		wait(ctx, 25*time.Second)
		if told := fmt.Sprint(a.Status(ctx).Troubles); !strings.Contains(told, "is a standby") || !strings.Contains(told, "haadmin") {
			t.Errorf("that none is active is told as %s", told)
		}
		if err := c.Failover(ctx, old); err != nil {
			return err
		}
		caughtUp()
		return nil
	})
	a.Settle(t)
	a.ExactlyOnce(t, c, dir)
	t.Logf("%d records; the first part after a NameNode became active came after %v", a.Records(), late)
	for _, line := range a.Log.Of("level=WARN") {
		if strings.Contains(line, "renewLease") {
			t.Errorf("a call that nobody made is named: %s", line)
		}
	}
	t.Log(strings.Join(append(a.Log.Of("level=WARN"), a.Log.Of("works again")...), ""))
}

// TestAnObserverIsNoActive: it is passed over wherever it stands in the list.
func TestAnObserverIsNoActive(t *testing.T) {
	c := shared.Cluster(t)
	_, other, err := active(t.Context(), c)
	must(t, err)
	dirs := []string{directory(t, c), directory(t, c)} // the tests' own client is at a loss with an observer
	must(t, other.TransitionToObserver(t.Context()))
	defer func() { must(t, other.TransitionToStandby(t.Context())) }()
	for i, reversed := range []bool{false, true} {
		all := addresses(c)
		if reversed {
			slices.Reverse(all)
		}
		if steps, err := load.Check(t, options(t, dirs[i], all...)); err != nil {
			t.Errorf("%v: %v", steps, err)
		}
	}
	if state, err := other.State(t.Context()); err != nil || state != hdfs.Observer {
		t.Errorf("the other is in state %v, %v", state, err)
	}
}
