package pubsub

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
)

// waitingStore has pages wait until they are released, and notes whose they are.
type waitingStore struct {
	*memory.Store
	release chan struct{} // gives one, or closed: all

	mu    sync.Mutex
	asked []string       // the tenants, in the order in which pages were begun
	under map[string]int // pages that wait, by tenant
}

func (s *waitingStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	s.count(q.Tenant, 1)
	<-s.release
	s.count(q.Tenant, -1)
	return s.Store.Read(ctx, q)
}

func (s *waitingStore) count(tenant string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 {
		s.asked = append(s.asked, tenant)
	}
	s.under[tenant] += n
}

// expect compares how many pages are under way.
func (s *waitingStore) expect(t *testing.T, what string, want map[string]int) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for tenant, n := range s.under {
		if n != want[tenant] {
			t.Errorf("%s: %d pages of %s are under way, want %d", what, n, tenant, want[tenant])
		}
	}
}

// resumers are clients that resume at a store that waits, with a message of each tenant.
type resumers struct {
	*rig
	store *waitingStore
}

func withResumers(t *testing.T, limits Limits, test func(*resumers)) {
	t.Helper()
	store := &waitingStore{Store: memory.New(), under: map[string]int{}}
	withStore(t, limits, store, func(r *rig) {
		store.release = make(chan struct{}) // of this bubble
		p := r.connect("publisher")
		for _, tenant := range []string{"a", "b", "c"} {
			p.publish(tenant, "chat.a", "x")
		}
		synctest.Wait()
		time.Sleep(rivalTime + time.Second) // these tenants are no company any more
		test(&resumers{r, store})
	})
}

// resume has sessions of a token resume, each in all these tenants.
func (c *resumers) resume(token string, sessions int, tenants ...string) (clients []*client) {
	for range sessions {
		s := c.connect(token)
		for _, tenant := range tenants {
			s.send("RSUB:" + tenant + ":chat.a:last")
		}
		clients = append(clients, s)
	}
	synctest.Wait() // so that these are before who comes next
	return clients
}

// caughtUp checks that clients have what they asked for, in each of n tenants.
func (c *resumers) caughtUp(clients []*client, n int) {
	c.Helper()
	for _, client := range clients {
		client.count(2 * n)
	}
}

// One page at a time for a session, so many for a token, a tenant and the edge; and all come
// in the end.
func TestReplaysBounded(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		one := c.resume("one", 1, "a", "b", "c")
		c.store.expect(t, "a session", map[string]int{"a": 1})
		ofToken := c.resume("token", 10, "a")
		ofToken = append(ofToken, c.resume("token", 10, "b")...)
		c.store.expect(t, "a token", map[string]int{"a": 11, "b": maxReplaysOfOne - 10})
		ofTenant := c.resume("other", maxReplays, "a")
		c.store.expect(t, "a tenant", map[string]int{"a": maxReplaysOfOne, "b": maxReplaysOfOne - 10})
		rest := append(c.resume("x", maxReplays, "b"), c.resume("y", maxReplays, "c")...)
		c.store.expect(t, "the edge", map[string]int{"a": maxReplaysOfOne, "b": maxReplays - maxReplaysOfOne})
		close(c.store.release)
		c.caughtUp(one, 3)
		c.caughtUp(slices.Concat(ofToken, ofTenant, rest), 1)
		if n := len(c.hub.replays.tenants); n != 0 || c.hub.replays.running != 0 {
			t.Errorf("%d tenants and %d goroutines are left", n, c.hub.replays.running)
		}
	})
}

// However many tokens of a tenant wait, another tenant has one of the next two turns.
func TestReplayTurns(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		clients := append(c.resume("c", maxReplaysOfOne, "c"), c.resume("b", maxReplaysOfOne, "b")...)
		for i := range 40 {
			clients = append(clients, c.resume(fmt.Sprint("a", i), 1, "a")...)
		}
		clients = append(clients, c.resume("few", 1, "c")...)
		before := len(c.store.asked)
		for range 2 {
			c.store.release <- struct{}{}
			synctest.Wait()
		}
		if next := c.store.asked[before:]; !slices.Contains(next, "c") {
			t.Errorf("the next pages are of %v", next)
		}
		close(c.store.release)
		c.caughtUp(clients, 1)
	})
}

// Pages of an issuer near its share wait for none of its tenants that is over its own; and one that stays so reads
// on, too.
func TestReplaysWaitForNoOtherTenant(t *testing.T) {
	withResumers(t, with(func(l *Limits) { l.IssuerShare = 1 }), func(c *resumers) {
		c.hub.SetIssuers(testIssuers{true})
		a, b := c.connectIssued("a.", "a"), c.connectIssued("b.", "b")
		c.issuersCome(a.token, b.token)
		resume := func(tenant, token string) *client {
			l := c.hub.issuerCPU(a.token)
			l.paidUntil.Store(int64(c.hub.now())) // near its share
			equal(t, "pages at a time", c.hub.replays.mostOfIssuer(a.token), 1)
			s := c.connectIssued("a.", token, tenant)
			s.send("RSUB:" + tenant + ":chat.a:last")
			synctest.Wait()
			return s
		}
		clients := []*client{resume("c", "first"), resume("a", "1"), resume("a", "2"), resume("b", "3")}
		c.store.expect(t, "at first", map[string]int{"c": 1})
		stop := make(chan struct{})
		c.company()
		c.debtor("a", time.Hour)
		c.hub.Go(func() {
			for sleep(time.Millisecond, stop) {
				c.hub.noteWork(c.hub.cpuAccountOf([]byte("one")), c.hub.now())
				c.debtor("a", time.Hour)
			}
		})
		c.hub.issuerCPU(a.token).paidUntil.Store(int64(c.hub.now()))
		c.store.release <- struct{}{}
		time.Sleep(200 * pageCost) // longer than the issuer owes something for it
		synctest.Wait()
		equal(t, "the next page, while a tenant pays", c.store.asked[len(c.store.asked)-1], "b")
		close(c.store.release)
		time.Sleep(4 * maxLoadDebt)
		c.caughtUp(clients, 1)
		close(stop)
	})
}

// Pages of a guest do not wait for the tenant to pay, and take no places of those who belong there.
func TestReplaysOfGuests(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		c.hub.SetIssuers(issuersOf(func(string) string { return "owner" }))
		resume := func(issuer, token string) *client {
			s := c.connectIssued(issuer, token, "a")
			s.send("RSUB:a:chat.a:last")
			return s
		}
		c.company()
		c.debtor("a", time.Hour)
		clients := []*client{resume("guest", "0")}
		synctest.Wait()
		equal(t, "pages under way while the tenant pays", c.store.under["a"], 1)
		time.Sleep(rivalTime)
		for i := range maxReplaysOfOne {
			clients = append(clients, resume("guest", fmt.Sprint(i)))
		}
		clients = append(clients, resume("owner", "o"))
		c.store.expect(t, "who belongs there", map[string]int{"a": maxReplaysOfOne + 1})
		close(c.store.release)
		c.caughtUp(clients, 1)
	})
}

// A tenant that is over its share takes no place of another tenant while it waits, however
// many tokens it has. It reads on when it has paid.
func TestReplaysOfBusyTenant(t *testing.T) {
	withResumers(t, fastLimits(), func(c *resumers) {
		var clients []*client
		for i := range 4 * maxReplays {
			clients = append(clients, c.resume(fmt.Sprint("a", i), 1, "a")...)
		}
		c.store.expect(t, "before", map[string]int{"a": maxReplaysOfOne})
		c.company()
		c.debtor("a", 40*time.Millisecond)
		begin := time.Now()
		close(c.store.release)
		synctest.Wait()
		equal(t, "goroutines read pages while the tenant waits", c.hub.replays.running, 0)
		c.caughtUp(c.resume("b", maxReplays, "b"), 1)
		equal(t, "time that another tenant waited", time.Since(begin), 0)
		answered := 0
		for _, client := range clients {
			if len(client.take()) > 0 {
				answered++
			}
		}
		equal(t, "pages read while the tenant was over its share", answered, maxReplaysOfOne)
		time.Sleep(time.Second)
		for _, client := range clients {
			if len(client.take()) > 0 {
				answered++
			}
		}
		equal(t, "answered", answered, len(clients))
	})
}
