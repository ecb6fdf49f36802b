package nats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/nats"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// timeout bounds every wait for an event.
const timeout = 60 * time.Second

// follower notes what a store hands on.
type follower struct {
	mu       sync.Mutex
	changed  chan struct{} // closed at each change
	received []handed
	skipped  []wire.Position
	set      *history.Set
	since    map[string]uint64
}

type handed struct {
	history, tenant string
	history.Kept
}

func join(s *nats.Store) *follower {
	f := &follower{changed: make(chan struct{})}
	s.Join(f)
	return f
}

func (f *follower) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *follower) Received(name, tenant string, m history.Kept) {
	f.change(func() { f.received = append(f.received, handed{name, tenant, m}) })
}
func (f *follower) Skipped(_ string, to wire.Position) {
	f.change(func() { f.skipped = append(f.skipped, to) })
}
func (f *follower) Defined(set *history.Set, since map[string]uint64) {
	f.change(func() { f.set, f.since = set, since })
}

// await waits until something is so, which is called with the mutex held.
func (f *follower) await(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.After(timeout)
	for {
		f.mu.Lock()
		ok, changed := is(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func definition(name string, change ...func(*history.Definition)) history.Definition {
	d := history.Definition{Name: name, Channels: []string{"#"}, Limits: history.DefaultLimits()}
	for _, f := range change {
		f(&d)
	}
	return d
}

func define(t testing.TB, s *nats.Store, d history.Definition) {
	t.Helper()
	if err := s.Define(d); err != nil {
		t.Fatal(err)
	}
}

// follow follows a history, and waits until it is received.
func follow(t testing.TB, s *nats.Store, name string) {
	t.Helper()
	ready := make(chan struct{})
	s.Follow(name, func() { close(ready) })
	select {
	case <-ready:
	case <-time.After(timeout):
		t.Fatal("Follow is not ready")
	}
}

// try stores a message of a history, and waits for the result.
func try(s *nats.Store, name, tenant, channel, payload string, key ...string) history.Result {
	results := make(chan history.Result, 1)
	m := &history.Message{History: name, Tenant: tenant, Channel: []byte(channel), Payload: []byte(payload), Stored: func(_ *history.Message, r history.Result) { results <- r }}
	for _, k := range key {
		m.Key = []byte(k)
	}
	s.Append(m)
	select {
	case r := <-results:
		return r
	case <-time.After(timeout):
		return history.Result{Err: errors.New("Stored was not called")}
	}
}

func put(t testing.TB, s *nats.Store, name, tenant, channel, payload string) wire.Position {
	t.Helper()
	r := try(s, name, tenant, channel, payload)
	if r.Err != nil || r.Repeated {
		t.Fatalf("Append: %+v", r)
	}
	return r.Position
}

func query(name, tenant, text string, after uint64) history.Query {
	p, err := pattern.Parse(text)
	if err != nil {
		panic(err)
	}
	return history.Query{History: name, Tenant: tenant, Pattern: p, After: after, MaxMessages: 1000, MaxBytes: 1 << 20}
}

func read(t testing.TB, s *nats.Store, q history.Query) history.Page {
	t.Helper()
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	page, err := s.Read(ctx, q)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return page
}

func head(t testing.TB, s *nats.Store, name string) wire.Position {
	t.Helper()
	at, err := s.Head(name, "t")
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return at
}

// awaitHead waits until an edge has received all up to a position.
func awaitHead(t testing.TB, s *nats.Store, name string, at wire.Position) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(2 * time.Millisecond) { // the store tells its follower alone
		if h, err := s.Head(name, "t"); err == nil && h.Epoch == at.Epoch && h.N >= at.N {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v was not received", at)
		}
	}
}

// texts lists what a page has as channel=payload.
func texts(page history.Page) string {
	var list []string
	for _, m := range page.Messages {
		list = append(list, fmt.Sprintf("%s=%s", m.Channel, m.Payload))
	}
	return strings.Join(list, " ")
}
