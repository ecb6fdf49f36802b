package pubsub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// localBroker is a single edge's broker with a link that can be broken, or slow. It does not say what became of
// messages to one connection; see fateBroker.
type localBroker struct {
	mu        sync.Mutex
	receiver  Receiver
	interests map[string]int
	broken    bool
	full      string        // a tenant whose messages the link refuses
	takes     time.Duration // Publish does
	slow      bool          // confirmations wait
	waiting   []func()
	behind    bool // CatchUp waits, until caughtUp
	catching  []catching
}

// catching is a CatchUp call.
type catching struct {
	tenant string
	done   func()
}

func (b *localBroker) Join(r Receiver) { b.receiver, b.interests = r, map[string]int{} }

func (b *localBroker) Publish(m Message) error {
	time.Sleep(b.takes)
	if m.Delivery == wire.OneRandom && b.receiver.Receive(m) == SomeLeaving || m.Delivery == wire.OneNearest && m.HasSubscribers {
		m.LastResort = true
		b.receiver.Receive(m)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		return errors.New("no link")
	}
	if b.full != "" && string(m.Tenant) == b.full {
		return fmt.Errorf("broker: %w", ErrLinkFull)
	}
	return nil
}

func (b *localBroker) Subscribe(tenant, p string, confirmed func()) {
	b.mu.Lock()
	b.interests[tenant+":"+p]++
	if b.slow && !b.broken {
		b.waiting = append(b.waiting, confirmed)
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	confirmed()
}

// link breaks the link, which ends all waiting, or mends it.
func (b *localBroker) link(up bool) {
	b.mu.Lock()
	b.broken = !up
	b.mu.Unlock()
	b.receiver.Linked(up)
	if !up {
		b.confirm()
	}
}

// confirm confirms what waits for it.
func (b *localBroker) confirm() {
	b.mu.Lock()
	waiting := b.waiting
	b.waiting = nil
	b.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// CatchUp implements [Catcher].
func (b *localBroker) CatchUp(tenant string, done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.behind {
		go done()
		return
	}
	b.catching = append(b.catching, catching{tenant, done})
}

// catch takes the CatchUp calls that there were.
func (b *localBroker) catch() (calls []catching) {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls, b.catching = b.catching, nil
	return calls
}

// caughtUp ends CatchUp calls.
func (b *localBroker) caughtUp() {
	for _, call := range b.catch() {
		call.done()
	}
}

func (b *localBroker) Unsubscribe(tenant, p string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interests[tenant+":"+p]--
}

func (b *localBroker) count(interest string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.interests[interest]
}

func (*localBroker) Close() error { return nil }

// allRights allows everything but channels and patterns that start with "no".
type allRights struct{}

func (allRights) CanPublish(_, channel []byte) bool { return !strings.HasPrefix(string(channel), "no") }
func (allRights) CanSubscribe(_ string, p pattern.Pattern) bool {
	return !strings.HasPrefix(p.String(), "no")
}

// CanReadHistory implements [HistoryReader].
func (allRights) CanReadHistory(_ string, p pattern.Pattern) bool {
	return !strings.HasPrefix(p.String(), "live")
}

// CanReadPresence implements [PresenceReader].
func (allRights) CanReadPresence(_ string, p pattern.Pattern) bool {
	return !strings.HasPrefix(p.String(), "hidden")
}

// fastLimits let caps never bind.
func fastLimits() Limits {
	l := DefaultLimits()
	l.DefaultIngressKB, l.DefaultEgressKB = 1<<20, 1<<20
	return l
}

// with are fastLimits with a change.
func with(change func(*Limits)) Limits {
	l := fastLimits()
	change(&l)
	return l
}

var must = testcheck.Must

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// rig is a hub inside a synctest bubble.
type rig struct {
	*testing.T
	hub    *Hub
	broker *localBroker
}

// inBubble runs a test on a hub with a fake clock; the hub is closed at its end
// and every goroutine has to be gone.
func inBubble(t *testing.T, limits Limits, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, limits)
		test(r)
		r.close()
	})
}

func newRig(t *testing.T, limits Limits) *rig {
	r := &rig{T: t, broker: new(localBroker)}
	r.hub = NewHub(r.broker, limits, zap.NewNop())
	return r
}

func (r *rig) close() {
	r.Helper()
	must(r, r.hub.Close())
}

// client is the far end of a session: it notes what is written to it.
type client struct {
	*Session
	rig *rig

	mu      sync.Mutex
	got     []string
	frame   []byte // the last deliver frame
	code    wire.CloseCode
	blocked chan struct{} // not nil: writes hang until it is closed
	aborted bool
	finish  func() // closes finished, once
	// finished says that the connection is closed, by either side.
	finished chan struct{}
	readers  sync.WaitGroup // of who reads in the test's name; the session has to have ended for them to
}

func (r *rig) connect(token string) *client {
	r.Helper()
	c, err := r.admit(token)
	must(r, err)
	return c
}

// pair connects a client that sends lines, and a publisher.
func (r *rig) pair(lines ...string) (c, p *client) {
	r.Helper()
	c, p = r.connect("a"), r.connect("p")
	c.ask(lines...)
	return c, p
}

func (r *rig) newClient(s *Session) *client {
	c := &client{Session: s, rig: r, finished: make(chan struct{})}
	c.finish = sync.OnceFunc(func() { close(c.finished) })
	return c
}

// connectAs connects with a token that has a subject, and the token's name.
func (r *rig) connectAs(subject string, features ...string) *client {
	r.Helper()
	c, err := r.admitSubject("token of "+subject, subject)
	must(r, err)
	for _, f := range features {
		c.ask("FEATURES:" + f)
	}
	return c
}

func (r *rig) admit(token string) (*client, error) { return r.admitSubject(token, "") }

func (r *rig) admitSubject(token, subject string) (*client, error) {
	id := Identity{TokenID: token, Subject: subject}
	return r.attach(id, Client{Transport: "test"}, func(c *client) Transport { return c })
}

// attach connects a client by the transport around it.
func (r *rig) attach(id Identity, from Client, transport func(*client) Transport) (*client, error) {
	id.Version, id.ExpiresAt, id.Rights = 1, time.Now().Add(time.Hour), allRights{}
	s, err := r.hub.Admit(id, from)
	if err != nil {
		return nil, err
	}
	c := r.newClient(s)
	s.Attach(transport(c))
	r.hub.Go(func() { // the reader
		<-s.done
		<-c.finished
		c.readers.Wait()
		s.Detach()
	})
	return c, nil
}

func (c *client) Write(msgs []Outgoing) error {
	c.mu.Lock()
	blocked := c.blocked
	c.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aborted {
		return errors.New("aborted")
	}
	for _, m := range msgs {
		switch m.Kind {
		case Text:
			c.got = append(c.got, string(m.Data))
		case Binary:
			if wire.IsPresence(m.Data) {
				c.got = append(c.got, presenceText(m.Data))
				continue
			}
			d, err := wire.DecodeDeliver(m.Data)
			if err != nil {
				return err
			}
			got := fmt.Sprintf("%s/%s=%s %v", d.Tenant, d.Channel, d.Payload, d.Patterns)
			if d.Stored {
				got += fmt.Sprintf(" @%d", d.Position.N)
			}
			if d.HasSender {
				got += fmt.Sprintf(" from %q", d.Sender)
			}
			if d.ToOne {
				got += " to one"
			}
			if d.Own {
				got += fmt.Sprintf(" own %q", d.Key)
			}
			c.frame = m.Data
			c.got = append(c.got, got)
		case Ping:
			c.got = append(c.got, "ping")
		case Pong:
			c.got = append(c.got, "pong "+string(m.Data))
		}
	}
	return nil
}

func (c *client) Close(code wire.CloseCode, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = code
	c.finish()
	return nil
}

func (c *client) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.aborted && c.blocked != nil {
		close(c.blocked)
		c.blocked = nil
	}
	c.aborted = true
	c.finish()
}

// block makes writes hang; the returned function lets them go on.
func (c *client) block() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocked = make(chan struct{})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.blocked)
		c.blocked = nil
	}
}

// take returns what has arrived once everything is idle, and forgets it.
func (c *client) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

// expect is take, with positions as @n.
func (c *client) expect(want ...string) {
	c.rig.Helper()
	if got := c.takeShort(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		c.rig.Errorf("got %q\nwant %q", got, want)
	}
}

// after waits, and expects what has arrived then.
func (c *client) after(d time.Duration, want ...string) {
	c.rig.Helper()
	time.Sleep(d)
	c.expect(want...)
}

// ends expects a close, with what has arrived before it.
func (c *client) ends(code wire.CloseCode, want ...string) {
	c.rig.Helper()
	c.expect(want...)
	c.expectClose(code)
}

// count expects so many lines and messages.
func (c *client) count(want int) {
	c.rig.Helper()
	equal(c.rig, "lines and messages", len(c.take()), want)
}

func (c *client) expectClose(code wire.CloseCode) {
	c.rig.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	equal(c.rig, "close code", c.code, code)
}

func (c *client) send(lines ...string) {
	for _, l := range lines {
		if !c.Ready(time.Hour) {
			c.rig.Helper()
			c.rig.Fatal("the session has ended")
		}
		c.HandleLine([]byte(l))
	}
}

// ask sends lines, and returns what has arrived.
func (c *client) ask(lines ...string) []string {
	c.rig.Helper()
	c.send(lines...)
	return c.take()
}

// answer sends a line, and expects what arrives.
func (c *client) answer(line string, want ...string) {
	c.rig.Helper()
	c.send(line)
	c.expect(want...)
}

// ok sends lines that get an OK each, and nothing else.
func (c *client) ok(lines ...string) {
	c.rig.Helper()
	c.send(lines...)
	want := slices.Clone(lines)
	for i := range want {
		want[i] = "OK:" + want[i]
	}
	c.expect(want...)
}

func (c *client) publish(tenant, channel, payload string) {
	c.publishAs(wire.Broadcast, tenant, channel, payload)
}

func (c *client) publishAs(d wire.Delivery, tenant, channel, payload string) {
	c.Ready(time.Hour)
	c.HandleFrame(wire.AppendPublish(nil, wire.Publish{
		Delivery: d, Tagged: d != wire.Broadcast, Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

// numbers publishes 0 to n-1 to chat.a.
func (c *client) numbers(n int) {
	for i := range n {
		c.publish("t", "chat.a", fmt.Sprint(i))
	}
}

// publishAll publishes each "channel=payload".
func (c *client) publishAll(tenant string, messages ...string) {
	for _, m := range messages {
		channel, payload, _ := strings.Cut(m, "=")
		c.publish(tenant, channel, payload)
	}
}

// repeat publishes a message n times.
func (c *client) repeat(n int, tenant, channel, payload string) {
	for range n {
		c.publish(tenant, channel, payload)
	}
}
