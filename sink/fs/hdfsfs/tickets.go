package hdfsfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	krb "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// tickets logs in to Kerberos for all sessions of a driver, and again in time.
//
// The client library renews tickets by itself, in a goroutine of its own, and
// doesn't get over a KDC that was away while a ticket expired. So it isn't let: a
// login is one ticket that was asked for here and is handed to it as if it came
// from a cache, and which is replaced when most of its time is over, when the
// keytab or the cache is another file, and after a NameNode has refused it.
type tickets struct {
	c     *kerberosConfig
	hosts []string // of the NameNodes, for their realm

	turn    chan struct{} // held by who logs in
	running sync.WaitGroup

	mu       sync.Mutex
	current  *login
	previous *login // which a session that is being opened may still use
}

// login is what one log-in brought.
type login struct {
	client *krb.Client
	stamp  string    // of the file that it was made from
	renew  time.Time // when to log in again
	end    time.Time // when it is of no use any more
}

// keepOn is how long a ticket that ought to be renewed is used on after a KDC
// couldn't be asked for another.
const keepOn = 10 * time.Second

func newTickets(c *kerberosConfig, nameNodes []string) *tickets {
	t := &tickets{c: c, turn: make(chan struct{}, 1)}
	for _, address := range nameNodes {
		if host, _, err := net.SplitHostPort(address); err == nil {
			t.hosts = append(t.hosts, host)
		}
	}
	return t
}

// get returns a client that has a ticket for the NameNode at address. The KDC is
// asked by a goroutine, since the library's calls don't end with ctx; they end
// within ten seconds for each KDC.
func (t *tickets) get(ctx context.Context, address string) (*krb.Client, error) {
	type result struct {
		client *krb.Client
		err    error
	}
	done := make(chan result, 1)
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	t.running.Go(func() {
		defer func() { <-t.turn }()
		client, err := t.ticket(address)
		done <- result{client, err}
	})
	select {
	case r := <-done:
		return r.client, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refused forgets the login that a NameNode has refused.
func (t *tickets) refused(client *krb.Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil && t.current.client == client {
		t.current.renew = time.Time{}
		t.current.end = time.Time{}
	}
}

// close waits until nobody asks a KDC any more.
func (t *tickets) close() {
	t.running.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range []*login{t.current, t.previous} {
		if l != nil {
			l.client.Destroy()
		}
	}
	t.current, t.previous = nil, nil
}

// ticket is get, for who has the turn.
func (t *tickets) ticket(address string) (*krb.Client, error) {
	t.mu.Lock()
	l := t.current
	t.mu.Unlock()
	now := time.Now()
	if l == nil || now.After(l.renew) || l.stamp != stampOf(t.c.file()) {
		fresh, err := t.login()
		switch {
		case err == nil:
			l = t.replace(fresh)
		case l == nil || !now.Before(l.end):
			return nil, t.explain(err, "")
		default: // the KDC is away, or the new file isn't right, and the old ticket is good yet
			t.mu.Lock()
			l.renew = now.Add(keepOn)
			t.mu.Unlock()
		}
	}
	service := t.service(address)
	if _, _, err := l.client.GetServiceTicket(service); err != nil {
		return nil, t.explain(err, service)
	}
	return l.client, nil
}

// replace makes fresh the current login. The one before the last is nobody's any
// more.
func (t *tickets) replace(fresh *login) *login {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.previous != nil {
		t.previous.client.Destroy()
	}
	t.previous, t.current = t.current, fresh
	return fresh
}

// service is the principal of the NameNode at address. Hadoop writes its host in
// small letters (SecurityUtil.getServerPrincipal).
func (t *tickets) service(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return strings.Replace(t.c.service, "/_HOST", "/"+strings.ToLower(host), 1)
}

// file is what a login is made from.
func (k *kerberosConfig) file() string {
	if k.keytab != "" {
		return k.keytab
	}
	return k.cache
}

// stampOf changes when a file does.
func stampOf(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(st.ModTime().UnixNano(), " ", st.Size())
}

// login asks for a ticket, or takes that of the cache.
func (t *tickets) login() (*login, error) {
	stamp := stampOf(t.c.file()) // before it is read
	krb5, err := loadKrb5(t.c.krb5)
	if err != nil {
		return nil, fmt.Errorf("read Kerberos's configuration (kerberos_config): %w", err)
	}
	for _, host := range t.hosts {
		if t.c.serviceRealm != "" {
			krb5.DomainRealm[strings.ToLower(host)] = t.c.serviceRealm
		}
	}
	var cache *credentials.CCache
	if t.c.keytab == "" {
		if cache, err = t.cached(); err != nil {
			return nil, err
		}
	} else {
		keys, err := loadKeytab(t.c.keytab)
		if err != nil {
			return nil, fmt.Errorf("read kerberos_keytab: %w", err)
		}
		realm := t.c.realm
		if realm == "" {
			realm = krb5.LibDefaults.DefaultRealm
		}
		asking := krb.NewWithKeytab(t.c.principal, realm, keys, krb5, krb.DisablePAFXFAST(true))
		request, err := messages.NewASReqForTGT(realm, krb5, asking.Credentials.CName())
		if err != nil {
			return nil, fmt.Errorf("ask for a ticket: %w", err)
		}
		answer, err := asking.ASExchange(realm, request, 0)
		if err != nil {
			if strings.Contains(err.Error(), "matching key not found in keytab") {
				err = fmt.Errorf("%w (it has %s)", err, principals(keys))
			}
			return nil, err
		}
		if cache, err = cacheOf(answer, asking.Credentials.CName(), realm); err != nil {
			return nil, err
		}
	}
	client, err := krb.NewFromCCache(cache, krb5, krb.DisablePAFXFAST(true))
	if err != nil {
		return nil, err
	}
	if t.c.as != "" {
		// The NameNode takes who the connection is said to be for, when that is
		// another than who logged in, for whom that one impersonates
		// (Server.Connection.processConnectionContext of Hadoop 3.4).
		client.Credentials.SetUserName(t.c.as)
	}
	own, _ := cache.GetEntry(ticketGranting(cache.DefaultPrincipal.Realm)) // NewFromCCache found it
	began := own.AuthTime
	if own.StartTime.After(began) {
		began = own.StartTime
	}
	return &login{client: client, stamp: stamp, renew: began.Add(own.EndTime.Sub(began) * 3 / 4), end: own.EndTime}, nil
}

// cached is the ticket cache, if it is of the principal and has not expired.
func (t *tickets) cached() (*credentials.CCache, error) {
	cache, err := loadCache(t.c.cache)
	if err != nil {
		return nil, fmt.Errorf("read the ticket cache: %w; log in with kinit, or set kerberos_principal and kerberos_keytab", err)
	}
	name := cache.DefaultPrincipal.PrincipalName.PrincipalNameString()
	if t.c.principal != name || t.c.realm != "" && t.c.realm != cache.DefaultPrincipal.Realm {
		return nil, fmt.Errorf("ticket cache %s is of %s@%s, and not of %s", t.c.cache, name, cache.DefaultPrincipal.Realm, t.c)
	}
	own, ok := cache.GetEntry(ticketGranting(cache.DefaultPrincipal.Realm))
	if !ok || time.Now().After(own.EndTime) {
		return nil, fmt.Errorf("the ticket in %s has expired; log in with kinit again, or set kerberos_keytab", t.c.cache)
	}
	own.RenewTill = time.Time{} // who made the cache renews it
	return cache, nil
}

func ticketGranting(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

// cacheOf puts a ticket into a cache of its own, without a time until which the
// library could renew it.
func cacheOf(answer messages.ASRep, name types.PrincipalName, realm string) (*credentials.CCache, error) {
	ticket, err := answer.Ticket.Marshal()
	if err != nil {
		return nil, err
	}
	own := &credentials.Credential{
		Key: answer.DecryptedEncPart.Key, AuthTime: answer.DecryptedEncPart.AuthTime, StartTime: answer.DecryptedEncPart.StartTime,
		EndTime: answer.DecryptedEncPart.EndTime, Ticket: ticket,
	}
	own.Server.Realm, own.Server.PrincipalName = realm, ticketGranting(realm)
	cache := &credentials.CCache{Version: 4, Credentials: []*credentials.Credential{own}}
	cache.DefaultPrincipal.Realm, cache.DefaultPrincipal.PrincipalName = realm, name
	own.Client = cache.DefaultPrincipal
	return cache, nil
}

// kerberosError is an error of Kerberos in plain words.
type kerberosError struct {
	err    error
	advice string
}

func (e *kerberosError) Error() string { return fmt.Sprintf("Kerberos: %s (%v)", e.advice, e.err) }
func (e *kerberosError) Unwrap() error { return e.err }

// explain says what an error of a KDC means. The library leaves nothing but text
// of it. service is whom a ticket was asked for, "" for a log-in.
func (t *tickets) explain(err error, service string) error {
	if service == "" {
		service = t.c.service
	}
	for _, row := range []struct{ text, advice string }{
		{"KDC_ERR_C_PRINCIPAL_UNKNOWN", fmt.Sprintf("the KDC doesn't know %s; see kerberos_principal, or have it made", t.c)},
		{"KDC_ERR_S_PRINCIPAL_UNKNOWN", fmt.Sprintf("the KDC doesn't know the NameNode's principal %s; see dfs.namenode.kerberos.principal, and that the NameNode's address is its name as the KDC knows it", service)},
		{"matching key not found in keytab", fmt.Sprintf("keytab %s has no key of %s; see kerberos_principal, or get its keytab", t.c.keytab, t.c)},
		{"KDC_ERR_PREAUTH_FAILED", fmt.Sprintf("the key in %s isn't that of %s any more; get a new keytab", t.c.keytab, t.c)},
		{"integrity verification failed", fmt.Sprintf("the key in %s isn't that of %s any more; get a new keytab", t.c.keytab, t.c)},
		{"KRB_AP_ERR_SKEW", "this host's clock differs too much from the KDC's; set both by NTP"},
		{"clock skew", "this host's clock differs too much from the KDC's; set both by NTP"},
		{"KDC_ERR_CLIENT_REVOKED", fmt.Sprintf("%s is locked or has expired; have it unlocked", t.c)},
		{"KDC_ERR_NAME_EXP", fmt.Sprintf("%s has expired; have it renewed", t.c)},
		{"KDC_ERR_KEY_EXP", fmt.Sprintf("the key of %s has expired; get a new keytab", t.c)},
		{"KDC_ERR_ETYPE_NOSUPP", "the KDC offers no encryption that can be used here; allow AES for the principals"},
		{"TKT_EXPIRED", "the ticket has expired; it is asked for again by itself"},
		{"does not have any defined KDCs", "krb5.conf names no KDC of the realm; see kerberos_config"},
		{"no KDCs defined", "krb5.conf names no KDC of the realm; see kerberos_config"},
		{"KDC", "the KDC can't be reached; see that it runs and that krb5.conf names it (kerberos_config); it is tried again by itself"},
	} {
		if strings.Contains(err.Error(), row.text) {
			return &kerberosError{err, row.advice}
		}
	}
	return &kerberosError{err, "the log-in failed"}
}

// explainHandshake says why a NameNode didn't take a ticket, or didn't ask for one.
func (c config) explainHandshake(err error) error {
	text := err.Error()
	switch {
	case c.kerberos == nil && strings.Contains(text, "unexpected sequence number"):
		return &kerberosError{err, "the NameNode seems to want Kerberos; set hadoop.security.authentication to kerberos, and kerberos_principal"}
	case c.kerberos == nil:
		return err
	case strings.Contains(text, "kerberos authentication not supported by namenode"):
		return &kerberosError{err, "the NameNode doesn't use Kerberos; set hadoop.security.authentication to simple, and leave kerberos_principal out"}
	case c.kerberos.as != "" && strings.Contains(text, "unexpected sequence number"):
		// It has ended the connection with an answer to no call.
		return &kerberosError{err, fmt.Sprintf("the NameNode lets %s in, but not for %s; allow it (hadoop.proxyuser.%s.hosts and .users or .groups in the NameNode's core-site.xml), or leave hdfs_user out", c.kerberos, c.kerberos.as, c.kerberos.shortName())}
	case strings.Contains(text, "unexpected sequence number"):
		return &kerberosError{err, fmt.Sprintf("the NameNode doesn't let %s in; see its hadoop-policy.xml and hadoop.security.auth_to_local", c.kerberos)}
	case strings.Contains(text, "SASL handshake"):
		return &kerberosError{err, fmt.Sprintf("the NameNode refuses the ticket; see that it runs as %s (dfs.namenode.kerberos.principal), and that both clocks are right", c.kerberos.service)}
	}
	return err
}

// isKerberos reports whether an error is of a log-in or a handshake: nothing was
// asked of the NameNode.
func isKerberos(err error) bool {
	var k *kerberosError
	return errors.As(err, &k)
}
