package nats

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		size, own, all, limit int
		want                  bool
	}{
		{1000, 0, 0, 100, true}, // larger than the queue, alone
		{1, 0, 99, 100, true},
		{2, 0, 99, 100, false},
		{1, 49, 49, 100, true},
		{1, 50, 50, 100, false}, // half for one
		{1, 33, 66, 100, false}, // a third for each of two
		{1, 32, 64, 100, true},
		{1, 40, 40, 100, true},
		{30, 40, 40, 100, false},
	} {
		if got := fits(c.size, c.own, c.all, c.limit); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Two tenants that want all the room leave some for the next one, and all together keep
// the bound.
func TestSharesOfInbox(t *testing.T) {
	var in inbox
	const limit = 300 * (messageOverhead + 10)
	taken := map[string]int{}
	for range 1000 {
		for _, tenant := range []string{"a", "b"} {
			if ok, _ := in.put(tenant, &client.Msg{Subject: "1234567890"}, limit); ok {
				taken[tenant]++
			}
		}
	}
	if taken["a"] != 100 || taken["b"] != 100 {
		t.Errorf("%v messages were taken, want a third of the room each", taken)
	}
	for i := range 1000 {
		if ok, _ := in.put(fmt.Sprint("t", i), &client.Msg{Subject: "1234567890"}, limit); ok != (i < 100) {
			t.Fatalf("the message of tenant %d: %v", i, ok)
		}
		if in.bytes > limit {
			t.Fatalf("%d bytes are there", in.bytes)
		}
	}
	equal(t, "workers are to run", in.workers, maxWorkers)

	var mu sync.Mutex
	var wg sync.WaitGroup
	handled := 0
	for range in.workers {
		wg.Go(func() {
			in.work(func(*client.Msg) {
				mu.Lock()
				handled++
				mu.Unlock()
			})
		})
	}
	wg.Wait()
	if handled != 300 || in.bytes != 0 || len(in.queues) != 0 || in.workers != 0 || in.ready != nil {
		t.Errorf("%d messages were handled; left: %+v", handled, &in)
	}
}

// The tenants of an owner have half of the workers and of the room at most, so that those of others are handled
// while they wait; and all are handled in the end.
func TestOwnersShareWorkers(t *testing.T) {
	in := inbox{ownerOf: func(tenant string) string { return tenant[:1] }}
	const limit = 300 * (10 + messageOverhead)
	var wg sync.WaitGroup
	release := make(chan struct{})
	var waiting, handled atomic.Int64
	good := make(chan struct{})
	put := func(tenant string) (taken bool) {
		taken, start := in.put(tenant, &client.Msg{Subject: tenant}, limit)
		if start {
			wg.Go(func() {
				in.work(func(m *client.Msg) {
					if m.Subject[0] == 'a' {
						waiting.Add(1)
						<-release
					} else {
						close(good)
					}
					handled.Add(1)
				})
			})
		}
		return taken
	}
	n := int64(0)
	for i := range 1000 {
		if put(fmt.Sprint("a", i%200)) {
			n++
		}
	}
	await(t, "workers that wait", func() bool { return waiting.Load() == maxWorkers/2 })
	if most := int64(160); n > most || n < most/2 {
		t.Errorf("%d messages of one owner are taken, of some 300", n)
	}
	if !put("b1") {
		t.Error("there is no room for another one")
	}
	<-good
	close(release)
	wg.Wait()
	if handled.Load() != n+1 || in.bytes != 0 || len(in.queues)+len(in.owners) != 0 || in.workers != 0 {
		t.Errorf("%d of %d messages were handled; left: %d bytes, %d queues, %d owners", handled.Load(), n+1, in.bytes, len(in.queues), len(in.owners))
	}
}

// Nobody waits for the inbox while it asks whose a tenant is, which it does once while there are messages.
func TestOwnerIsAskedWithoutLock(t *testing.T) {
	var in inbox
	asked := 0
	in.ownerOf = func(string) string {
		asked++
		if in.mu.TryLock() {
			in.mu.Unlock()
		} else {
			t.Error("the inbox is locked")
		}
		return "a"
	}
	for range 3 {
		in.put("t", &client.Msg{Subject: "1234567890"}, 1<<20)
	}
	if asked != 1 || in.owners["a"].bytes != in.bytes {
		t.Errorf("asked %d times; %d of %d bytes are the owner's", asked, in.owners["a"].bytes, in.bytes)
	}
}

// ownedHub is a hub that knows the owners of tenants, and is asked for them without the broker's locks.
type ownedHub struct {
	hub
	b *Broker
	t *testing.T
}

func (h *ownedHub) OwnerOf(tenant string) string {
	for _, t := range h.b.responders.list() {
		h.isFree("of a tenant", &t.mu)
	}
	h.isFree("of catch-ups", &h.b.catchUps.mu)
	return "owner of " + tenant
}

func (h *ownedHub) isFree(what string, mu *sync.Mutex) {
	if !mu.TryLock() {
		h.t.Errorf("the lock %s is held", what)
		return
	}
	mu.Unlock()
}

// What an edge sends for others, an answer or a message that it forwards, counts for whom the tenant belongs
// to: the issuer of who published is not known here.
func TestAnswersCountForOwners(t *testing.T) {
	h := &ownedHub{hub: hub{hubState: hubState{uninterested: true, refuses: true}}, t: t}
	b := &Broker{id: 7, config: Config{QueueBytes: 1 << 20}, linkUp: true, receiver: h, wakeWriter: make(chan struct{}, 1)}
	b.peers.init(b.id, "", nil)
	b.responders.init()
	b.catchUps.init()
	h.b = b
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	m := message(wire.OneRandom, "x")
	counted := 0
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"an answer", func() { b.handleQuery(m, fakePeer) }},
		{"a later answer", func() { b.answerPendingQueries("t", "c") }},
		{"a marker", func() { b.CatchUp("t", func() {}) }},
		{"an answer to one", func() {
			noError(t, b.handleDirected("", "q", m, appendControl(nil, kindMarker, fakePeer)))
		}},
		{"a message that waits for answers", func() {
			m := m
			m.Issuer = h.OwnerOf("t")
			noError(t, b.publishRandom(m, nil))
			b.handleControl(m, kindNo, fakePeer)
		}},
		{"a message that is forwarded", func() {
			noError(t, b.handleDirected("", "e", m, appendOne(nil, wire.OneRandom, nil, bodyOf(&m))))
		}},
	} {
		c.do()
		now := b.records.bytesByIssuer["owner of t"]
		if now <= counted || now != len(b.records.bytes) {
			t.Errorf("%s: %d of %d bytes are the owner's", c.what, now, len(b.records.bytes))
		}
		counted = now
	}
	equal(t, "issuers of messages that wait", len(b.responders.waitingOf), 0)
}

// The messages of a tenant are handled in order, one at a time, whatever other
// tenants have.
func TestOrderOfTenantQueues(t *testing.T) {
	var in inbox
	var wg sync.WaitGroup
	var mu sync.Mutex
	got, busy := map[string][]string{}, map[string]bool{}
	handle := func(m *client.Msg) {
		mu.Lock()
		if busy[m.Subject] {
			t.Errorf("two messages of %s are handled at the same time", m.Subject)
		}
		busy[m.Subject] = true
		mu.Unlock()
		mu.Lock()
		got[m.Subject] = append(got[m.Subject], string(m.Data))
		busy[m.Subject] = false
		mu.Unlock()
	}
	const n = 2000
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
		for tenant := range 100 {
			name := fmt.Sprint("t", tenant)
			taken, start := in.put(name, &client.Msg{Subject: name, Data: []byte(want[i])}, 1<<30)
			if !taken {
				t.Fatal("there is no room")
			}
			if start {
				wg.Go(func() { in.work(handle) })
			}
		}
	}
	wg.Wait()
	for name, list := range got {
		if !slices.Equal(list, want) {
			t.Errorf("%s: %d messages, not in order", name, len(list))
		}
	}
	equal(t, "tenants whose messages were handled", len(got), 100)
}

// A tenant whose messages take for ever loses its own messages, and no other tenant's. The
// hub is told how many.
func TestOneTenantStalls(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	core, logs := observer.New(zap.ErrorLevel)
	to, q := startBroker(t, connect, withQueue(256<<10), func(c *Config) { c.Log = zap.New(core) })
	q.set(func(s *hubState) { s.held, s.heldTenant = make(chan struct{}), "hostile.x" })
	t.Cleanup(func() {
		if q.get().held != nil {
			q.release()
		}
	})
	from, _ := startBroker(t, connect)
	to.subscribe(t, "hostile.x", "#")
	to.subscribe(t, "good", "#")

	const n = 3000
	hostile := []byte(strings.Repeat("x", 1000))
	want := make([]string, 0, n)
	for i := range n {
		for _, m := range []pubsub.Message{
			{Tenant: []byte("hostile.x"), Channel: []byte("c"), Payload: hostile},
			{Tenant: []byte("good"), Channel: []byte("c"), Payload: fmt.Append(nil, i)},
		} {
			await(t, "room", func() bool { return from.Publish(m) == nil }) // more than the link takes waits
		}
		want = append(want, fmt.Sprint(i))
		if i%100 == 99 {
			await(t, "what a good tenant sent", func() bool { return q.taken() == len(want) })
		}
	}
	if got := q.payloads(); !slices.Equal(got, want) {
		t.Errorf("%d messages of a good tenant came, or not in order", len(got))
	}
	missed := q.get().missed
	if missed < n/2 || missed >= n {
		t.Errorf("%d of %d hostile messages were missed", missed, n)
	}
	await(t, "a line in the log", func() bool { return logs.Len() > 0 })
	if fields := logs.All()[0].ContextMap(); fields["tenants"].(map[string]int)["hostile.x"] == 0 {
		t.Errorf("the log says %v", fields)
	}
	q.release()
	await(t, "the rest", func() bool { return q.taken() == 2*n-missed })
	if !q.up() {
		t.Error("the link is down for a hub that is slow")
	}
}

// A tenant that publishes more than the link takes leaves room for others.
func TestSharesOfOutgoing(t *testing.T) {
	var r records
	const limit = 3000
	issuer := ""
	put := func(tenant string, n int) bool {
		size := recordHeader + n
		if !r.hasRoom(size, len(r.bytes), []byte(tenant), issuer, limit) {
			return false
		}
		r.add(append(r.bytes, make([]byte, size)...), len(r.bytes)+recordHeader, []byte(tenant), issuer)
		return true
	}
	taken := 0
	for put("hostile", 92) {
		taken++
	}
	equal(t, "messages of one tenant were taken", taken, limit/2/100)
	for i := range 7 {
		if !put("good", 92) {
			t.Errorf("message %d of another tenant finds no room", i)
		}
	}
	for put("", 92) { // what edges say
	}
	if len(r.bytes) > limit || len(r.bytes) < limit-100 {
		t.Errorf("%d bytes wait, and the bound is %d", len(r.bytes), limit)
	}
	r.reset()
	if len(r.bytesByTenant) != 0 || !put("hostile", 1400) {
		t.Error("what was sent still counts")
	}
	r.reset()
	issuer, taken = "hostile", 0
	for put(fmt.Sprint("hostile", taken), 92) {
		taken++
	}
	equal(t, "messages of one issuer were taken, each of another tenant", taken, limit/2/100)
	if issuer = "good"; !put("good", 92) {
		t.Error("a message of another issuer finds no room")
	}
	if r.reset(); len(r.bytesByIssuer) != 0 {
		t.Error("what an issuer has sent still counts")
	}
}
