package hdfs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// journalID names the shared edits. It is in the prepared namespace.
const journalID = "ha"

// haProperties are those of two NameNodes that share their edits over the
// JournalNode at journal.
func haProperties(journal string) properties {
	return properties{
		"dfs.namenode.shared.edits.dir":           "qjournal://" + journal + "/" + journalID,
		"dfs.ha.automatic-failover.enabled":       "false",
		"dfs.ha.fencing.methods":                  "shell(/bin/true)",
		"dfs.ha.tail-edits.period":                "1s",
		"dfs.ha.log-roll.period":                  "5s",
		"dfs.qjournal.write-txns.timeout.ms":      "60000", // a stopped NameNode finds out by the epoch and not by a time
		"dfs.ha.nn.not-become-active-in-safemode": "false",
	}
}

// highlyAvailable makes a JournalNode and two NameNodes from the prepared
// namespace.
func (c *Cluster) highlyAvailable(o Options) error {
	local := c.ports.address
	for to, from := range map[string]string{"nn1": "name", "nn2": "name", "journal": "journal"} {
		if err := copyTree(c.layout.path(to), c.layout.shared+"/"+from); err != nil {
			return err
		}
	}
	servers := haProperties(local(4))
	servers["dfs.journalnode.edits.dir"] = c.layout.path("journal")
	servers["dfs.journalnode.rpc-address"] = local(4)
	servers["dfs.journalnode.http-address"] = local(5)
	all := properties{
		"dfs.nameservices":                                  Nameservice,
		"dfs.ha.namenodes." + Nameservice:                   "nn1,nn2",
		"dfs.client.failover.proxy.provider." + Nameservice: "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
	}
	c.journal = &Daemon{cluster: c, name: "journal", class: classJournalNode, addr: local(4)}
	for i, id := range []string{"nn1", "nn2"} {
		all["dfs.namenode.rpc-address."+Nameservice+"."+id] = local(2 * i)
		servers["dfs.namenode.http-address."+Nameservice+"."+id] = local(2*i + 1)
		c.addNameNode(id, local(2*i), "-D", "dfs.ha.namenode.id="+id, "-D", "dfs.namenode.name.dir=file://"+c.layout.path(id))
	}
	return c.configure(o, Nameservice, servers, all)
}

// firstActive makes the first NameNode the active one, once it answers.
func (c *Cluster) firstActive(ctx context.Context) error {
	return c.nameNodes[0].wait(ctx, "active", func(ctx context.Context) (bool, error) {
		err := c.nameNodes[0].TransitionToActive(ctx)
		return err == nil, err
	})
}

// State is a NameNode's of HA.
type State uint64

// The states of HAServiceStateProto.
const (
	Initializing State = iota
	Active
	Standby
	Observer
)

// byUser is a HAStateChangeRequestInfoProto: an operator's request.
func byUser() message { return message(nil).message(1, message(nil).number(1, 0)) }

// TransitionToActive makes a NameNode the active one, like `hdfs haadmin
// -transitionToActive --forceactive`: it asks no other.
func (d *Daemon) TransitionToActive(ctx context.Context) error {
	return d.transition(ctx, "transitionToActive")
}

// TransitionToStandby makes an active NameNode a standby.
func (d *Daemon) TransitionToStandby(ctx context.Context) error {
	return d.transition(ctx, "transitionToStandby")
}

// TransitionToObserver makes a standby an observer.
func (d *Daemon) TransitionToObserver(ctx context.Context) error {
	return d.transition(ctx, "transitionToObserver")
}

func (d *Daemon) transition(ctx context.Context, method string) error {
	_, err := call(ctx, d.addr, Superuser, haProtocol, method, byUser())
	return err
}

// State asks a NameNode for its state.
func (d *Daemon) State(ctx context.Context) (State, error) {
	fs, err := call(ctx, d.addr, Superuser, haProtocol, "getServiceStatus", nil)
	if err != nil || len(fs) == 0 {
		return Initializing, errors.Join(err, errors.New("it has no state"))
	}
	return State(fs[0].number), nil
}

// Failover makes to the active NameNode after the other has become a standby, or
// while the other doesn't answer.
func (c *Cluster) Failover(ctx context.Context, to *Daemon) error {
	for _, n := range c.nameNodes {
		if n == to || n.p.ended() != nil {
			continue
		}
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		_ = n.TransitionToStandby(short) // one that hangs is fenced by the journal
		cancel()
	}
	return to.wait(ctx, "active", func(ctx context.Context) (bool, error) {
		if err := to.TransitionToActive(ctx); err != nil {
			return false, fmt.Errorf("make %s the active one: %w", to.name, err)
		}
		return c.writable(ctx, to.addr)
	})
}
