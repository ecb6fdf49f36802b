package pubsub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// Nobody takes more than half of an edge's connections.
func TestConnectionShares(t *testing.T) {
	const each, one, proxy = "203.0.113.*", "203.0.113.1", "203.0.113.2"
	own := func(format string, n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf(format, i))
		}
		return names
	}
	limit := func(n int, of func(*Limits) *int) func(*Limits) { return func(l *Limits) { *of(l) = n } }
	perTenant := func(l *Limits) *int { return &l.MaxConnectionsPerTenant }
	perToken := func(l *Limits) *int { return &l.MaxConnectionsPerToken }
	perAddress := func(l *Limits) *int { return &l.MaxConnectionsPerAddress }
	all := func(l *Limits) *int { return &l.MaxConnections }
	for name, c := range map[string]struct {
		change    func(*Limits)
		token, ip string   // with the number of the client in place of *
		tenants   []string // the same
		want      int      // clients that are admitted
		err       error    // that the next one gets
	}{
		"a token":                                {nil, "a", each, nil, 5, ErrTokenFull},
		"a tenant, the second of each token":     {nil, "*", each, []string{"own-*", "room"}, 5, ErrTenantFull},
		"a tenant, the last one that is counted": {nil, "*", each, append(own("%d", MaxTenantsCounted-1), "room"), 5, ErrTenantFull},
		"a tenant behind those that are counted": {nil, "*", each, append(own("*-%d", MaxTenantsCounted), "room"), 10, ErrFull},
		"an address":                             {nil, "*", one, nil, 5, ErrAddressFull},
		"an IPv6 /64":                            {nil, "*", "2001:db8:1:2::*", nil, 5, ErrAddressFull},
		"a proxy's address":                      {nil, "*", proxy, nil, 10, ErrFull},
		"loopback":                               {nil, "*", "127.0.0.1", nil, 10, ErrFull},
		"an unknown address":                     {nil, "*", "", nil, 10, ErrFull},

		"a token, sharper":       {limit(2, perToken), "a", each, nil, 2, ErrTokenFull},
		"a tenant, sharper":      {limit(2, perTenant), "*", each, []string{"room"}, 2, ErrTenantFull},
		"an address, sharper":    {limit(2, perAddress), "*", one, nil, 2, ErrAddressFull},
		"a tenant that owns all": {limit(10, perTenant), "*", each, []string{"room"}, 10, ErrFull},
		"an odd number":          {limit(7, all), "a", each, nil, 4, ErrTokenFull},
		"one place":              {limit(1, all), "a", each, nil, 1, ErrFull},
		"sharper on an edge without a limit": {
			func(l *Limits) { l.MaxConnections, l.MaxConnectionsPerToken = 0, 30 }, "a", one, []string{"room"}, 30, ErrTokenFull,
		},
	} {
		t.Run(name, func(t *testing.T) {
			limits := with(func(l *Limits) { l.MaxConnections = 10 })
			if c.change != nil {
				c.change(&limits)
			}
			inBubble(t, limits, func(r *rig) {
				var open []*Session
				admit := func(token, ip string, tenants ...string) error {
					from := Client{SharedIP: ip == proxy}
					if ip != "" {
						from.IP = netip.MustParseAddr(ip)
					}
					s, err := r.hub.Admit(Identity{
						TokenID: token, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}, Tenants: tenants,
					}, from)
					if err == nil {
						open = append(open, s)
					}
					return err
				}
				next := func(i int) error {
					number := func(text string) string { return strings.ReplaceAll(text, "*", fmt.Sprint(i)) }
					return admit(number(c.token), number(c.ip), strings.Fields(number(strings.Join(c.tenants, " ")))...)
				}
				for i := range c.want {
					must(t, next(i))
				}
				if err := next(c.want); !errors.Is(err, c.err) {
					t.Errorf("connection %d: %v, want %v", c.want+1, err, c.err)
				}
				if !errors.Is(c.err, ErrFull) {
					must(t, admit("other", "192.0.2.1", "other"))
				}
				open[0].Detach()
				must(t, next(c.want))
				for _, s := range open[1:] {
					s.Detach()
				}
				equal(t, "accounts left", len(r.hub.tokens)+len(r.hub.tenantAccounts)+len(r.hub.addressAccounts), 0)
			})
		})
	}
}

// The right of a token counts once, however many connections the token has; those of a tenant
// take half of the memory at most.
func TestRightMemory(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.RightMemory = 100 }), func(r *rig) {
		open := map[string]*Session{}
		admit := func(want error, connection, token, tenant string, bytes int) {
			t.Helper()
			s, err := r.hub.Admit(Identity{
				TokenID: token, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}, RightBytes: bytes, Tenants: []string{tenant},
			}, Client{Transport: "test"})
			if !errors.Is(err, want) {
				t.Fatalf("%s: %v, want %v", connection, err, want)
			}
			open[connection] = s
		}
		admit(nil, "1", "a", "loud", 50)
		admit(nil, "2", "a", "loud", 50)
		admit(ErrRightsFull, "more than half", "b", "loud", 1)
		admit(nil, "3", "c", "other", 40)
		admit(ErrRightsFull, "more than all", "d", "third", 11)
		open["1"].Detach()
		admit(ErrRightsFull, "while it has another connection", "b", "loud", 1)
		open["2"].Detach()
		admit(nil, "4", "b", "loud", 50)
		open["3"].Detach()
		open["4"].Detach()
		equal(t, "bytes left", r.hub.rightBytes, 0)
	})
}

// A subject has as many connections as it may in each of the tenants that they count for,
// with all its tokens together, and that of another tenant is somebody else.
func TestSubjectLimit(t *testing.T) {
	limits := fastLimits()
	limits.MaxConnectionsPerSubject = 2
	inBubble(t, limits, func(r *rig) {
		var open []*Session
		admit := func(want error, token, subject string, tenants ...string) {
			t.Helper()
			s, err := r.hub.Admit(Identity{
				TokenID: token, Subject: subject, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}, Tenants: tenants,
			}, Client{Transport: "test"})
			if !errors.Is(err, want) {
				t.Fatalf("%s in %v: %v, want %v", subject, tenants, err, want)
			}
			if s != nil {
				open = append(open, s)
			}
		}
		many := make([]string, MaxTenantsCounted)
		for i := range many {
			many[i] = fmt.Sprint("tenant-", i)
		}
		admit(nil, "1", "ada", "room")
		admit(nil, "2", "ada", "shop", "room")
		admit(ErrSubjectFull, "1", "ada", "room")
		admit(ErrSubjectFull, "3", "ada", "other", "room")
		admit(nil, "3", "ada", "shop")
		admit(ErrSubjectFull, "3", "ada", "shop")
		admit(nil, "4", "bob", "room")
		admit(nil, "5", "ada", "another's")
		admit(nil, "6", "ada", slices.Concat(many, []string{"room"})...) // that one is not counted
		for range 5 {
			admit(nil, "7", "", "room")
		}
		r.hub.SetLimits(fastLimits()) // no limit
		admit(nil, "1", "ada", "room")
		limits.MaxConnectionsPerSubject = 3
		r.hub.SetLimits(limits)
		admit(ErrSubjectFull, "1", "ada", "room")
		open[0].Detach()
		admit(nil, "8", "ada", "room")
		admit(ErrSubjectFull, "8", "ada", "room")
		for _, s := range open[1:] {
			s.Detach()
		}
		equal(t, "accounts are left", len(r.hub.subjectAccounts), 0)
	})
}

// No address takes more than half of the handshakes under way; those without a
// token are others.
func TestHandshakeShares(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		var all []*PendingConn
		begin := func(c Client, want error) {
			t.Helper()
			a, err := r.hub.AddHandshake(context.Background(), c)
			if !errors.Is(err, want) {
				t.Fatalf("%v: %v, want %v", c.IP, err, want)
			}
			if err == nil {
				all = append(all, a)
			}
		}
		one, neighbour := Client{IP: netip.MustParseAddr("2001:db8::1")}, Client{IP: netip.MustParseAddr("2001:db8::2")}
		for range MaxHandshakes / 2 {
			begin(one, nil)
		}
		begin(neighbour, ErrTooManyPendingPerIP)
		if a, err := r.hub.AddPending(one); err != nil {
			t.Errorf("one without a token: %v", err)
		} else {
			a.Release()
		}
		for range MaxHandshakes / 2 { // of nobody in particular, so without a share
			begin(Client{}, nil)
		}
		begin(Client{}, ErrTooManyPending)
		begin(Client{IP: netip.MustParseAddr("192.0.2.1")}, ErrTooManyPending)
		all[0].Release()
		begin(one, nil)
		for _, a := range all {
			a.Release()
		}
		if r.hub.handshakes.n != 0 || len(r.hub.handshakes.byIP) != 0 {
			t.Errorf("%d handshakes are left", r.hub.handshakes.n)
		}
	})
}

// A crowd that comes at once waits for room in its order, so many and so long; also in a
// drain, and when the client has gone, nothing is left of it.
func TestHandshakesWait(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		var all []*PendingConn
		for range MaxHandshakes {
			a, err := r.hub.AddHandshake(context.Background(), Client{})
			must(t, err)
			all = append(all, a)
		}
		type outcome struct {
			a     *PendingConn
			err   error
			after time.Duration
		}
		wait := func(ctx context.Context, c Client) <-chan outcome {
			got, begin := make(chan outcome, 1), time.Now()
			go func() { // ends with HandshakeWait
				a, err := r.hub.AddHandshake(ctx, c)
				got <- outcome{a, err, time.Since(begin)}
			}()
			synctest.Wait()
			return got
		}
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		first, second, late := wait(context.Background(), Client{}), wait(ctx, Client{}), wait(context.Background(), Client{})
		if len(first) != 0 {
			t.Fatal("a handshake does not wait")
		}
		all[0].Release()
		synctest.Wait()
		if len(first) != 1 || len(second)+len(late) != 0 {
			t.Fatal("not the first has room")
		}
		if got := <-first; got.err != nil {
			t.Error(got.err)
		} else {
			all[0] = got.a
		}
		leave()
		if got := <-second; !errors.Is(got.err, context.Canceled) {
			t.Errorf("who has gone: %v", got.err)
		}
		if got := <-late; !errors.Is(got.err, ErrTooManyPending) || got.after != HandshakeWait {
			t.Errorf("who has waited: %v after %v", got.err, got.after)
		}

		one := Client{IP: netip.MustParseAddr("192.0.2.1")}
		var waiting []<-chan outcome
		for range MaxHandshakesPerIP {
			waiting = append(waiting, wait(context.Background(), one))
		}
		if _, err := r.hub.AddHandshake(context.Background(), one); !errors.Is(err, ErrTooManyPendingPerIP) {
			t.Errorf("more from one address: %v", err)
		}
		for len(waiting) < MaxHandshakesWaiting {
			waiting = append(waiting, wait(context.Background(), Client{}))
		}
		begin := time.Now()
		if _, err := r.hub.AddHandshake(context.Background(), Client{}); !errors.Is(err, ErrTooManyPending) || time.Since(begin) != 0 {
			t.Errorf("more of all: %v after %v", err, time.Since(begin))
		}
		r.hub.Drain()
		for _, w := range waiting {
			if got := <-w; !errors.Is(got.err, ErrDraining) || got.after >= HandshakeWait {
				t.Fatalf("in a drain: %v after %v", got.err, got.after)
			}
		}
		for _, a := range all {
			a.Release()
		}
		if h := &r.hub.handshakes; h.n+len(h.byIP)+h.waiting.Len() != 0 {
			t.Errorf("%d handshakes are left, of %d addresses, and %d wait", h.n, len(h.byIP), h.waiting.Len())
		}
	})
}

// listener is a client that does not read, with a subscription to one channel.
func (r *rig) listener(token, channel string) (c *client, release func()) {
	r.Helper()
	c = r.connect(token)
	c.ask("SUB:t:" + channel)
	release = c.block()
	c.publish("t", channel, "the one that its writer hangs at")
	synctest.Wait()
	return c, release
}

// One token's clients that don't read fill half of what an edge has for queues, and
// no more; who has less than its share loses nothing.
func TestQueueShares(t *testing.T) {
	const (
		memory  = 1 << 20
		payload = 8 << 10
	)
	for _, policy := range []SlowPolicy{SlowDrop, SlowDisconnect} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			limits := fastLimits()
			limits.SendQueue, limits.QueueMemory, limits.Slow = memory, memory, policy
			inBubble(t, limits, func(r *rig) {
				feeder := r.connect("feeder")
				text := strings.Repeat("x", payload)
				var greedy []*client
				var releases []func()
				for i := range 4 {
					c, release := r.listener("greedy", fmt.Sprint("greedy.", i)) // messages of its own
					greedy, releases = append(greedy, c), append(releases, release)
				}
				for range 100 { // 800 KiB for each
					for i := range greedy {
						feeder.publish("t", fmt.Sprint("greedy.", i), text)
					}
				}
				// Below a chunk a queue is not counted; one delivery more may be.
				slack := int64(len(greedy) * (queueChunk + payload + 1024))
				counted, held := r.hub.queuedBytes.Load(), r.hub.Metrics().QueuedBytes
				if counted > memory/2 || held > memory/2+slack {
					t.Errorf("the clients of one token hold %d bytes; %d are counted, of %d", held, counted, memory)
				}
				if policy == SlowDrop && counted < memory/4 {
					t.Errorf("they hold %d bytes, and may have more", counted)
				}
				if drops := r.hub.Metrics().Dropped; policy == SlowDrop && drops["queue_memory"] == 0 || policy == SlowDisconnect && drops["disconnect"] == 0 {
					t.Errorf("dropped: %v", drops)
				}

				modest, release := r.listener("modest", "modest")
				for i := range 40 { // 320 KiB
					feeder.publish("t", "modest", text+fmt.Sprint(i))
				}
				release()
				got := modest.take()
				if len(got) != 41 || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "ERR") }) {
					t.Errorf("who has less than its share got %d of 41 messages", len(got))
				}
				for i := range greedy {
					if greedy[i].Closing() {
						continue
					}
					releases[i]()
					if got := greedy[i].take(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "ERR:slow_consumer:") }) {
						t.Errorf("client %d, which lost deliveries, is not told; it got %d messages", i, len(got))
					}
				}
				time.Sleep(time.Minute)
				equal(t, "bytes counted of queues that are empty", r.hub.queuedBytes.Load(), 0)
			})
		})
	}
}

// Who has no room takes no message to one: its session does not end by it.
func TestOneForAFullAccount(t *testing.T) {
	limits := fastLimits()
	limits.SendQueue, limits.QueueMemory, limits.Slow = 1<<20, 1<<20, SlowDisconnect
	inBubble(t, limits, func(r *rig) {
		feeder := r.connect("feeder")
		c, _ := r.listener("greedy", "jobs")
		for range 200 { // 1.6 MiB
			feeder.HandleFrame(wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte("t"), Channel: []byte("jobs"), Payload: make([]byte, 8<<10), Tagged: true, Delivery: wire.OneNearest,
			}))
		}
		synctest.Wait()
		if c.Closing() {
			t.Error("the session has ended")
		}
		if n := r.hub.Metrics().Deliveries; n < 40 || n > 64 {
			t.Errorf("%d messages of 8 KiB are delivered to a queue of 512 KiB", n)
		}
	})
}

// A message that many wait for is there once, and counts for a few.
func TestSharedMessagesCountOnce(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.SendQueue, l.QueueMemory = 1<<20, 16<<20 }), func(r *rig) {
		const clients, messages = 200, 60
		feeder := r.connect("feeder")
		var releases []func()
		for range clients {
			_, release := r.listener("page", "news")
			releases = append(releases, release)
		}
		text := strings.Repeat("x", 8<<10)
		feeder.repeat(messages, "t", "news", text)
		if m := r.hub.Metrics(); m.Dropped["queue_memory"] > 0 || m.QueuedBytes < 90<<20 || m.QueueMemory > 8<<20 {
			t.Errorf("%d bytes in all queues count as %d, and %d deliveries were dropped", m.QueuedBytes, m.QueueMemory, m.Dropped["queue_memory"])
		}
		for _, release := range releases {
			release()
		}
	})
}

// Whatever is done to a queue, its charge is that of what is in it.
func TestQueueCharge(t *testing.T) {
	var q queue
	q.ownLanes = []*lane{{}, {}}
	random := rand.New(rand.NewPCG(1, 2))
	lanes := append([]*lane{&q.mainLane}, q.ownLanes...)
	for range 20_000 {
		l := lanes[random.IntN(len(lanes))]
		switch random.IntN(6) {
		case 0, 1, 2:
			f := &frame{data: make([]byte, random.IntN(3000)), kind: Binary}
			for range 1 + random.IntN(3) {
				q.pushDelivery(l, f, 1<<16)
			}
		case 3:
			q.take(l)
			l.compact()
		case 4:
			q.pushLine(l, []byte("OK"), nil)
		case 5:
			switch random.IntN(50) {
			case 0:
				q.clearLane(l)
			case 1:
				q.discard()
			default:
				q.dropOldest()
			}
		}
		sum := 0
		for _, l := range lanes {
			for _, it := range l.items[l.head:] {
				if it.frame != nil && it.kind == Binary {
					sum += int(it.charge)
				}
			}
		}
		if sum != q.charge {
			t.Fatalf("the charge is %d, and that of its deliveries %d", q.charge, sum)
		}
	}
	q.pushControl(Outgoing{Text, []byte("PONG")})
	if q.clearAll(); q.charge != 0 || q.deliveries != 0 || q.controlBytes != 0 || !q.empty() || !lanes[1].empty() {
		t.Errorf("an empty queue has a charge of %d, and %d bytes of lines", q.charge, q.controlBytes)
	}
}

// What waits for a client below a chunk is its session's own affair: its deliveries
// touch nothing that sessions share.
func TestSmallQueuesAreNotCounted(t *testing.T) {
	limits := fastLimits()
	limits.QueueMemory = 1 // no room at all
	inBubble(t, limits, func(r *rig) {
		feeder := r.connect("feeder")
		c, release := r.listener("a", "news")
		text := strings.Repeat("x", 1000)
		feeder.repeat(14, "t", "news", text)
		if n := r.hub.queuedBytes.Load(); n != 0 || c.queue.charge < 14_000 || r.hub.Metrics().Dropped["queue_memory"] != 0 {
			t.Errorf("%d bytes are counted of %d", n, c.queue.charge)
		}
		feeder.publish("t", "news", strings.Repeat("x", 50_000)) // the newest always has room
		if c.queue.charge < 50_000 || c.queue.deliveries > 60_000 {
			t.Errorf("%d bytes are queued, and the newest has 50,000", c.queue.deliveries)
		}
		release()
		c.take()
	})
}
