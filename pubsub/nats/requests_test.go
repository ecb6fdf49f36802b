package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
)

// eventTimeout bounds every wait for an event.
const eventTimeout = 30 * time.Second

// knows waits until an edge knows others.
func (b *Broker) knows(t *testing.T, others ...*Broker) {
	t.Helper()
	for _, other := range others {
		await(t, "an announcement", func() bool {
			_, known := b.peers.lookup(other.id)
			return known
		})
	}
}

func (b *Broker) ask(timeout time.Duration, to edgeID, body string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	got, err := b.Request(ctx, to.String(), []byte(body))
	return string(got), err
}

// wantError asks for an error that comes before the time of the request is over.
func (b *Broker) wantError(t *testing.T, to edgeID, body string, want error) {
	t.Helper()
	if _, err := b.ask(eventTimeout, to, body); !errors.Is(err, want) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func echo(_ context.Context, _ pubsub.Member, body []byte) []byte { return body }

// gate is a handler whose answers wait.
type gate struct {
	mu      sync.Mutex
	entered []string      // bodies of requests
	open    chan struct{} // closed: answers are given
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) handle(ctx context.Context, _ pubsub.Member, body []byte) []byte {
	g.mu.Lock()
	g.entered = append(g.entered, string(body))
	g.mu.Unlock()
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return body
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.entered)
}

func (b *Broker) counts() (pending, active, waiting int) {
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	return len(b.requests.pending), b.requests.total, len(b.requests.waiting)
}

// What an edge is told of the one that asks.
func TestAskerIsNamed(t *testing.T) {
	t.Parallel()
	s := namedServer(t, "a", "b")
	a, _ := startBroker(t, as(s, "a"), named("a"))
	b, _ := startBroker(t, as(s, "b"), named("b"))
	a.Announce(pubsub.Edge{Host: "a.example.com", Region: "eu"})
	a.knows(t, b)
	await(t, "the host of the asker", func() bool { return len(b.Edges()) == 1 })
	var from pubsub.Member
	b.HandleRequests(func(ctx context.Context, asker pubsub.Member, _ []byte) []byte {
		from = asker
		deadline, _ := ctx.Deadline()
		return fmt.Append(nil, time.Until(deadline) < time.Minute)
	})
	if got, err := a.ask(time.Hour, b.id, ""); err != nil || got != "true" {
		t.Errorf("got %q, %v", got, err)
	}
	if from.ID != a.id.String() || from.Name != "a" || from.Host != "a.example.com" || from.Region != "eu" || from.State != pubsub.MemberHere || from.SeenAt.IsZero() {
		t.Errorf("asked by %+v", from)
	}

	// One whose announcement has not come yet, too.
	b.peers.mu.Lock()
	delete(b.peers.others, a.id)
	b.peers.mu.Unlock()
	if _, err := a.ask(eventTimeout, b.id, ""); err != nil {
		t.Error(err)
	}
	if from.ID != a.id.String() || from.Name != "a" || from.SeenAt.IsZero() {
		t.Errorf("asked by %+v", from)
	}
}

// NATS says at once that nobody is there, or that only an edge is that knows no requests:
// such an edge still gets messages.
func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	s := namedServer(t, "a", "b")
	b, _ := startBroker(t, as(s, "a"), named("a"))
	gone := sender("b").makeID(5)
	if _, err := b.peers.handleAnnouncement("b", announcementOf(gone, "b", stateHere), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.wantError(t, gone, "", errNobodyThere)
	if ids := b.peers.otherIDs(); len(ids) != 1 {
		t.Errorf("messages go to %v", ids)
	}
	b.peers.remove(gone) // is remembered
	b.wantError(t, gone, "", errNobodyThere)
}

// An edge that stands still does not answer. Others do meanwhile.
func TestFrozenEdge(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p := natstest.StartProxy(t, s)
	b, _ := startBroker(t, natstest.Connect(s))
	alive, _ := startBroker(t, natstest.Connect(s))
	frozen, _ := startBroker(t, p.Connect(client.PingInterval(time.Hour)))
	b.knows(t, alive, frozen)
	alive.HandleRequests(echo)
	frozen.HandleRequests(echo)
	p.Hold()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := b.ask(300*time.Millisecond, frozen.id, "x")
		if !errors.Is(err, pubsub.ErrNoAnswer) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the frozen edge: %v", err)
		}
	})
	if got, err := b.ask(eventTimeout, alive.id, "x"); err != nil || got != "x" {
		t.Errorf("the other one: %q, %v", got, err)
	}
	wg.Wait()
	// Later it is taken for gone, but not forgotten.
	b.peers.expire(time.Now().Add(time.Minute))
	if _, err := b.ask(100*time.Millisecond, frozen.id, "x"); !errors.Is(err, pubsub.ErrNoAnswer) {
		t.Errorf("an edge that was silent for long: %v", err)
	}
	p.Resume()
	await(t, "it to be back", func() bool {
		for _, m := range b.Members() {
			if m.ID == frozen.id.String() && m.State == pubsub.MemberHere {
				return true
			}
		}
		return false
	})
	if got, err := b.ask(eventTimeout, frozen.id, "x"); err != nil || got != "x" {
		t.Errorf("it is back, and says %q, %v", got, err)
	}
	if pending, _, _ := b.counts(); pending != 0 {
		t.Errorf("%d requests are still pending", pending)
	}
}

// NATS may take less than an edge does: both sides hear of it, and the link stays.
func TestLimitOfNATS(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, func(o *server.Options) { o.MaxPayload = 32 << 10 })
	a, q := startBroker(t, natstest.Connect(s))
	b, _ := startBroker(t, natstest.Connect(s))
	a.knows(t, b)
	b.HandleRequests(func(_ context.Context, _ pubsub.Member, body []byte) []byte { return bytes.Repeat(body, 10) })
	large := strings.Repeat("x", 32<<10)
	a.wantError(t, b.id, large, pubsub.ErrRequestTooLarge)
	a.wantError(t, b.id, large[:4<<10], errAnswerTooLarge)
	if got, err := a.ask(eventTimeout, b.id, "x"); err != nil || got != "xxxxxxxxxx" {
		t.Errorf("got %q, %v", got, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.up || q.unsent != 0 {
		t.Errorf("the link is up: %v; %d messages are counted as lost", q.up, q.unsent)
	}
}

// An edge that asks too much is told so, at both ends; messages and other edges do not wait.
func TestBusyEdge(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	b, q := startBroker(t, natstest.Connect(s))
	asker, _ := startBroker(t, natstest.Connect(s))
	other, _ := startBroker(t, natstest.Connect(s))
	asker.knows(t, b)
	other.knows(t, b)
	b.subscribeConfirmed("t", "c")
	g := newGate()
	b.HandleRequests(g.handle)
	const accepted = maxAnsweringPerEdge + maxWaitingPerEdge
	var wg sync.WaitGroup
	askAsync := func(from *Broker, body string, want error) {
		wg.Go(func() {
			got, err := from.ask(eventTimeout, b.id, body)
			if !errors.Is(err, want) || err == nil && got != body {
				t.Errorf("%s: %q, %v, want %v", body, got, err, want)
			}
		})
	}
	for i := range accepted {
		askAsync(asker, fmt.Sprint("asker ", i), nil)
		await(t, "the request to come", func() bool { _, active, waiting := b.counts(); return active+waiting == i+1 })
	}
	asker.wantError(t, b.id, "one too many", errBusy)
	if n := g.count(); n != maxAnsweringPerEdge {
		t.Errorf("%d requests of one edge are answered at once", n)
	}
	askAsync(other, "other", nil)
	await(t, "the request of another edge", func() bool { return g.count() == maxAnsweringPerEdge+1 })
	await(t, "a message", func() bool {
		_ = asker.Publish(pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("m")})
		return len(q.payloads()) > 0
	})

	// This edge itself waits for so many answers, and no more.
	for i := range maxPending - accepted {
		asker.requests.mu.Lock()
		asker.requests.pending[uint64(i)] = &pendingRequest{answer: make(chan response, 1)}
		asker.requests.mu.Unlock()
	}
	if _, err := asker.ask(eventTimeout, b.id, "x"); err != pubsub.ErrTooManyRequests { // the other edge was not asked
		t.Errorf("got %v", err)
	}
	asker.requests.end(0, response{})
	asker.wantError(t, b.id, "x", errBusy) // there is room for one again
	close(g.open)
	wg.Wait()
	if n := g.count(); n != accepted+1 {
		t.Errorf("%d requests were answered, want %d", n, accepted+1)
	}
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	if len(b.requests.active) != 0 {
		t.Errorf("askers are remembered: %v", b.requests.active)
	}
}

// A handler is told when nobody waits any more, and what waited for it is not begun.
func TestAbandonedRequests(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, _ := startBroker(t, natstest.Connect(s))
	b, _ := startBroker(t, natstest.Connect(s))
	a.knows(t, b)
	g := newGate()
	b.HandleRequests(g.handle)
	var wg sync.WaitGroup
	for i := range maxAnsweringPerEdge {
		wg.Go(func() { _, _ = a.ask(2*time.Second, b.id, "first") })
		await(t, "a request", func() bool { return g.count() == i+1 })
	}
	wg.Go(func() { _, _ = a.ask(10*time.Millisecond, b.id, "late") })
	wg.Wait()
	await(t, "the handlers to end", func() bool { _, active, waiting := b.counts(); return active+waiting == 0 })
	if n := g.count(); n != maxAnsweringPerEdge {
		t.Errorf("%d requests were begun, want %d", n, maxAnsweringPerEdge)
	}
	if got, err := a.ask(time.Millisecond, b.id, ""); err == nil {
		t.Errorf("an answer in no time: %q", got)
	}
}

// Requests end with the link, and none are made without it.
func TestRequestsWithoutLink(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	p := natstest.StartProxy(t, s)
	a, _ := startBroker(t, p.Connect())
	b, _ := startBroker(t, natstest.Connect(s))
	a.knows(t, b)
	g := newGate()
	b.HandleRequests(g.handle)
	ended := make(chan error)
	go func() { // ends with the request
		_, err := a.ask(eventTimeout, b.id, "x")
		ended <- err
	}()
	await(t, "the request", func() bool { return g.count() == 1 })
	p.Cut()
	if err := <-ended; !errors.Is(err, pubsub.ErrNoLink) {
		t.Errorf("the link is lost: %v", err)
	}
	a.wantError(t, b.id, "x", pubsub.ErrNoLink)
	close(g.open)
	p.Resume()
	await(t, "an answer with a new link", func() bool {
		got, err := a.ask(eventTimeout, b.id, "x")
		return err == nil && got == "x"
	})
}

// Close ends requests on both sides, and waits for those who answer.
func TestCloseDuringRequests(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	for _, askerCloses := range []bool{true, false} {
		a, _ := startBroker(t, natstest.Connect(s))
		b, _ := startBroker(t, natstest.Connect(s))
		a.knows(t, b)
		var mu sync.Mutex
		entered, left := 0, 0
		release := make(chan struct{})
		b.HandleRequests(func(ctx context.Context, _ pubsub.Member, _ []byte) []byte {
			mu.Lock()
			entered++
			mu.Unlock()
			<-ctx.Done()
			<-release
			mu.Lock()
			defer mu.Unlock()
			left++
			return []byte("cut short")
		})
		const n = maxAnsweringPerEdge + 2 // of which some wait
		errs := make(chan error, n)
		for range n {
			go func() { // ends with the request
				got, err := a.ask(5*time.Second, b.id, "x")
				if err == nil {
					err = fmt.Errorf("got %q", got)
				}
				errs <- err
			}()
		}
		await(t, "all requests", func() bool { _, active, waiting := b.counts(); return active+waiting == n })
		if askerCloses {
			_ = a.Close()
			for range n {
				if err := <-errs; !errors.Is(err, errClosed) {
					t.Errorf("the asker closes: %v", err)
				}
			}
			if _, err := a.Request(context.Background(), b.id.String(), nil); !errors.Is(err, pubsub.ErrNoLink) {
				t.Errorf("closed: %v", err)
			}
		}
		closed := make(chan struct{})
		go func() { // ends with Close
			_ = b.Close()
			close(closed)
		}()
		select {
		case <-closed:
			t.Error("Close does not wait for handlers")
		case <-time.After(300 * time.Millisecond): // by then it would have returned
		}
		close(release)
		<-closed
		mu.Lock()
		if entered != left || entered != maxAnsweringPerEdge {
			t.Errorf("Close returned with %d handlers of %d running", entered-left, entered)
		}
		mu.Unlock()
		if !askerCloses {
			for range n {
				if err := <-errs; !errors.Is(err, errRefused) {
					t.Errorf("the one that is asked closes: %v", err)
				}
			}
		}
	}
}
