package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// open opens a store of the overlay p.
func open(t testing.TB, by natstest.Connector, change ...func(*Config)) *Store {
	t.Helper()
	// No call waits for less than a busy machine may need: what its answer is not awaited for
	// any more takes room that nobody counts.
	c := Config{Connect: by, Prefix: "p", Log: zaptest.NewLogger(t), patience: natstest.Limit, callTimeout: natstest.Limit}
	for _, f := range change {
		f(&c)
	}
	store, err := Open(c)
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// openTwo opens two stores of one server that have the history h.
func openTwo(t testing.TB, change ...func(*history.Definition)) (a, b *Store, by natstest.Connector) {
	t.Helper()
	by = natstest.Connect(natstest.Server(t))
	a, b = open(t, by), open(t, by)
	define(t, a, definition("h", change...))
	define(t, b, definition("h", change...))
	return a, b, by
}

// impatient stores wait for a short time for what is out of reach.
func impatient(c *Config) { c.patience = 500 * time.Millisecond }

// withShortCalls stores wait for a short time for answers, which may be lost.
func withShortCalls(c *Config) { c.callTimeout = 500 * time.Millisecond }

// withLostAnswers stores wait as an edge does: tests that cut links or stop servers lose some.
func withLostAnswers(c *Config) { c.callTimeout = defaultCallTimeout }

func small(c *Config) { c.CacheBytes = 1 }

// await waits until something is so.
var await = natstest.Await

// follower notes what a store hands on.
type follower struct {
	mu       sync.Mutex
	received []handed
	skipped  []wire.Position
	reach    []bool
	set      *history.Set
	since    map[string]uint64
}

type handed struct {
	history, tenant string
	history.Kept
}

func join(s *Store) *follower {
	f := new(follower)
	s.Join(f)
	return f
}

func (f *follower) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
}

func (f *follower) Received(name, tenant string, m history.Kept) {
	f.change(func() { f.received = append(f.received, handed{name, tenant, m}) })
}
func (f *follower) Skipped(_ string, to wire.Position) {
	f.change(func() { f.skipped = append(f.skipped, to) })
}
func (f *follower) Reach(_ string, is bool) {
	f.change(func() { f.reach = append(f.reach, is) })
}
func (f *follower) Defined(set *history.Set, since map[string]uint64) {
	f.change(func() { f.set, f.since = set, since })
}

// jumped reports whether messages were skipped, count how many came.
func (f *follower) jumped() (is bool) {
	f.change(func() { is = len(f.skipped) > 0 })
	return is
}
func (f *follower) count() (n int) {
	f.change(func() { n = len(f.received) })
	return n
}

// await waits until something is so, which is called with the mutex held.
func (f *follower) await(t testing.TB, what string, is func() bool) {
	t.Helper()
	await(t, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return is()
	})
}

func definition(name string, change ...func(*history.Definition)) history.Definition {
	d := history.Definition{Name: name, Channels: []string{"#"}, Limits: history.DefaultLimits()}
	for _, f := range change {
		f(&d)
	}
	return d
}

func define(t testing.TB, s *Store, d history.Definition) {
	t.Helper()
	must(t, s.Define(d))
}

// follow follows a history, and waits until it is received.
func follow(t testing.TB, s *Store, name string) {
	t.Helper()
	ready := make(chan struct{})
	s.Follow(name, func() { close(ready) })
	natstest.Receive(t, "Follow", ready)
}

// try stores a message of a history, and waits for the result.
func try(s *Store, name, tenant, channel, payload string, key ...string) history.Result {
	m := &history.Message{History: name, Tenant: tenant, Channel: []byte(channel), Payload: []byte(payload)}
	for _, k := range key {
		m.Key = []byte(k)
	}
	return tryMessage(s, m)
}

func tryMessage(s *Store, m *history.Message) history.Result {
	results := make(chan history.Result, 1)
	m.Stored = func(_ *history.Message, r history.Result) { results <- r }
	s.Append(m)
	select {
	case r := <-results:
		return r
	case <-time.After(natstest.Limit):
		return history.Result{Err: errors.New("Stored was not called")}
	}
}

// putOf stores a message of the history h for an owner of tenants.
func putOf(t testing.TB, s *Store, owner, tenant, channel, payload string) wire.Position {
	t.Helper()
	r := tryMessage(s, &history.Message{History: "h", Tenant: tenant, Channel: []byte(channel), Payload: []byte(payload), Owner: owner})
	must(t, r.Err)
	return r.Position
}

func put(t testing.TB, s *Store, name, tenant, channel, payload string) wire.Position {
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

// read reads a page, once the history is in reach.
func read(t testing.TB, s *Store, q history.Query) (page history.Page) {
	t.Helper()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	await(t, "a page", func() bool {
		var err error
		if page, err = s.Read(ctx, q); err != nil && !errors.Is(err, history.ErrUnavailable) {
			t.Fatalf("Read: %v", err)
		}
		return err == nil
	})
	return page
}

func head(t testing.TB, s *Store, name string) wire.Position {
	t.Helper()
	at, err := s.Head(name, "t")
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return at
}

// awaitHead waits until an edge has received all up to a position.
func awaitHead(t testing.TB, s *Store, name string, at wire.Position) {
	t.Helper()
	await(t, fmt.Sprint(at), func() bool {
		h, err := s.Head(name, "t")
		return err == nil && h.Epoch == at.Epoch && h.N >= at.N
	})
}

// awaitPut stores a message as soon as that is possible, in another epoch than one.
func awaitPut(t testing.TB, s *Store, payload string, not ...uint64) (at wire.Position) {
	t.Helper()
	await(t, payload+" to be stored", func() bool {
		r := try(s, "h", "t", "c", payload)
		at = r.Position
		return r.Err == nil && !slices.Contains(not, at.Epoch)
	})
	return at
}

// texts lists what a page has as channel=payload.
func texts(page history.Page) string {
	var list []string
	for _, m := range page.Messages {
		list = append(list, fmt.Sprintf("%s=%s", m.Channel, m.Payload))
	}
	return strings.Join(list, " ")
}

var must = testcheck.Must

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }
