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

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

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
	if _, err := b.ask(natstest.Limit, to, body); !errors.Is(err, want) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// wantEcho asks an edge that answers with the body.
func (b *Broker) wantEcho(t *testing.T, to edgeID) {
	t.Helper()
	if got, err := b.ask(natstest.Limit, to, "x"); err != nil || got != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func echo(_ context.Context, _ pubsub.Member, body []byte) []byte { return body }

// gate is a handler whose answers wait.
type gate struct {
	mu      sync.Mutex
	entered []string      // bodies of requests
	left    int           // how many were answered
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
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left++
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

// awaitAccepted waits until so many requests are answered, or wait for that.
func (b *Broker) awaitAccepted(t *testing.T, n int) {
	t.Helper()
	await(t, fmt.Sprint(n, " requests"), func() bool { _, active, waiting := b.counts(); return active+waiting == n })
}

// What an edge learns about the one that asks.
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
	noError(t, errorOf(a.ask(natstest.Limit, b.id, "")))
	if from.ID != a.id.String() || from.Name != "a" || from.SeenAt.IsZero() {
		t.Errorf("asked by %+v", from)
	}
}

// NATS says at once that nobody is there, or that only an edge is that knows no requests:
// such an edge still gets messages, until NATS says that nobody takes these.
func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	b, _ := startBroker(t, as(namedServer(t, "a", "b"), "a"), named("a"))
	gone := sender("b").makeID(5)
	must(t, errorOf(b.peers.handleAnnouncement("b", announcementOf(gone, "b", stateHere), time.Now().Add(time.Hour))))
	b.wantError(t, gone, "", errNobodyThere)
	equal(t, "edges that messages go to", len(b.peers.otherIDs()), 1)
	must(t, b.sendToEdge(message(wire.OneRandom, "x"), gone, nil))
	await(t, "word that it is gone", func() bool { return len(b.peers.otherIDs()) == 0 })
	b.wantError(t, gone, "", errNobodyThere) // it is remembered
}

// NATS may take less than an edge does: both sides hear of it, and the link stays.
func TestLimitOfNATS(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core, func(o *server.Options) { o.MaxPayload = 32 << 10 })
	a, q := startBroker(t, natstest.Connect(s))
	b, _ := startBroker(t, natstest.Connect(s))
	a.knows(t, b)
	b.HandleRequests(func(_ context.Context, _ pubsub.Member, body []byte) []byte {
		return bytes.Repeat(body, 10)[:max(len(body), 1)*10-9]
	})
	large := strings.Repeat("x", 32<<10)
	a.wantError(t, b.id, large, pubsub.ErrRequestTooLarge)
	a.wantError(t, b.id, large[:4<<10], errAnswerTooLarge)
	a.wantEcho(t, b.id)
	if !q.up() || q.get().unsent != 0 {
		t.Errorf("the link is up: %v; %d messages are counted as lost", q.up(), q.get().unsent)
	}
}

// A handler is told when nobody waits any more.
func TestAbandonedRequests(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, _ := startBroker(t, connect)
	b, _ := startBroker(t, connect)
	a.knows(t, b)
	g := newGate()
	b.HandleRequests(g.handle)
	for n := 0; g.count() == 0; n++ { // one that comes too late is not begun
		_, err := a.ask(100*time.Millisecond<<min(n, 6), b.id, "x")
		if !errors.Is(err, pubsub.ErrNoAnswer) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of an edge that does not answer: %v", err)
		}
	}
	b.awaitAccepted(t, 0)
	if got, err := a.ask(0, b.id, ""); err == nil {
		t.Errorf("an answer in no time: %q", got)
	}
}

// Requests end with the link, and none are made without it.
func TestRequestsWithoutLink(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	p := natstest.StartProxy(t, s)
	a, _ := startBroker(t, p.Connect())
	b, _ := startBroker(t, natstest.Connect(s))
	a.knows(t, b)
	g := newGate()
	b.HandleRequests(g.handle)
	ended := make(chan error)
	go func() { // ends with the request
		_, err := a.ask(natstest.Limit, b.id, "x")
		ended <- err
	}()
	await(t, "the request", func() bool { return g.count() == 1 })
	p.Cut()
	if err := natstest.Receive(t, "the end of the request", ended); !errors.Is(err, pubsub.ErrNoLink) {
		t.Errorf("the link is lost: %v", err)
	}
	a.wantError(t, b.id, "x", pubsub.ErrNoLink)
	close(g.open)
	p.Resume()
	await(t, "an answer with a new link", func() bool {
		got, err := a.ask(natstest.Limit, b.id, "x")
		return err == nil && got == "x"
	})
}

// Close ends requests on both sides, and waits for those who answer.
func TestCloseDuringRequests(t *testing.T) {
	t.Parallel()
	for _, askerCloses := range []bool{true, false} {
		connect := serve(t)
		a, _ := startBroker(t, connect)
		b, _ := startBroker(t, connect)
		a.knows(t, b)
		g := newGate()
		closed := make(chan struct{})
		b.HandleRequests(func(ctx context.Context, from pubsub.Member, _ []byte) []byte {
			<-ctx.Done()
			select {
			case <-closed:
				t.Error("Close does not wait for handlers")
			case <-time.After(100 * time.Millisecond): // Close that does not wait would have returned
			}
			return g.handle(ctx, from, nil)
		})
		const n = maxAnsweringPerEdge + 2 // some wait
		errs := make(chan error, n)
		for range n {
			go func() { // ends with the request
				got, err := a.ask(natstest.Limit, b.id, "x")
				if err == nil {
					err = fmt.Errorf("got %q", got)
				}
				errs <- err
			}()
		}
		b.awaitAccepted(t, n)
		want := errRefused
		if askerCloses {
			_ = a.Close()
			want = errClosed
			if _, err := a.Request(context.Background(), b.id.String(), nil); !errors.Is(err, pubsub.ErrNoLink) {
				t.Errorf("closed: %v", err)
			}
		}
		_ = b.Close()
		close(closed)
		g.mu.Lock()
		if len(g.entered) != g.left || g.left > maxAnsweringPerEdge { // fewer, if one was about to begin
			t.Errorf("Close returned with %d of %d handlers ended", g.left, len(g.entered))
		}
		g.mu.Unlock()
		for range n {
			if err := natstest.Receive(t, "the end of a request", errs); !errors.Is(err, want) {
				t.Errorf("the asker closes %v: %v, want %v", askerCloses, err, want)
			}
		}
	}
}
