package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// A burst on one channel, of more messages than the history and its stream keep, is handed on
// whole by the edge that stores it: what waits is there, and not in the stream, where it would
// roll over before it was received. An edge that is slower than that misses nothing without
// word of it. Another tenant does not wait.
func TestBurst(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	fa, fb := join(a), join(b)
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 50 })
	define(t, a, d)
	define(t, b, d)
	follow(t, a, "h")
	follow(t, b, "h")
	const n = 500
	results := make(chan history.Result, n)
	for i := range n {
		a.Append(&history.Message{
			History: "h", Tenant: "loud", Channel: []byte("c"), Payload: fmt.Append(nil, i),
			Stored: func(_ *history.Message, r history.Result) { results <- r },
		})
	}
	before := len(results)
	waited := make(chan int, 1)
	a.Append(&history.Message{
		History: "h", Tenant: "quiet", Channel: []byte("c"), Payload: []byte("x"),
		Stored: func(*history.Message, history.Result) { waited <- len(results) - before },
	})
	if n := natstest.Receive(t, "the other tenant's message", waited); n > 250 {
		t.Errorf("the other tenant had to wait for %d messages", n)
	}
	for range n {
		if r := natstest.Receive(t, "a result", results); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	fa.await(t, "all messages", func() bool { return len(fa.received) == n+1 || len(fa.skipped) > 0 })
	fb.await(t, "the last message of each tenant", func() bool {
		got := map[string]string{}
		for _, m := range fb.received {
			got[m.tenant] = string(m.Payload)
		}
		return got["loud"] == fmt.Sprint(n-1) && got["quiet"] == "x"
	})
	if fa.jumped() {
		t.Error("the edge that has stored all of them has skipped some")
	}
	slower := fb.jumped()
	if got := fb.count(); got != n+1 && !slower {
		t.Errorf("the other edge has %d messages, and no word of a loss", got)
	}
	for edge, mayLose := range map[*Store]bool{a: false, b: slower} {
		if page := read(t, edge, query("h", "quiet", "#", 0)); page.Removed.N > 0 && !mayLose {
			t.Errorf("the other tenant is notified of a loss at %v", page.Removed)
		}
	}
}

// A client that comes from an edge that was faster is known to the slower one, as soon as
// that has received as much.
func TestSlowerEdge(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	proxy := natstest.StartProxy(t, s)
	a, b := open(t, natstest.Connect(s)), open(t, proxy.Connect())
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	follow(t, b, "h")
	head(t, b, "h")
	proxy.HoldReplies()
	at := put(t, a, "h", "t", "c", "1")
	known := make(chan error, 1)
	go func() { // ends with Knows
		ok, err := b.Knows("h", "t", at)
		if err == nil && !ok {
			err = fmt.Errorf("%v is not known", at)
		}
		known <- err
	}()
	select {
	case err := <-known:
		t.Fatalf("an answer before it has received the message: %v", err)
	case <-time.After(100 * time.Millisecond): // no answer is to come
	}
	proxy.Resume()
	must(t, natstest.Receive(t, "Knows", known))
	beyond := at
	beyond.N += 1_000_000
	start := time.Now()
	if ok, err := b.Knows("h", "t", beyond); ok || err != nil || time.Since(start) > natstest.Limit/2 {
		t.Errorf("a position that nobody has: %v, %v after %v", ok, err, time.Since(start))
	}
}

// What counts for a tenant is as much as its messages take in the stream, which keeps more of a
// channel than the history has.
func TestUsageIsTheStreams(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s))
	define(t, a, definition("h", func(d *history.Definition) { d.Limits.Messages = 1 }))
	for range 100 {
		put(t, a, "h", "t", "c", strings.Repeat("x", 1000))
	}
	list, err := a.Usage()
	must(t, err)
	stream, err := operator(t, s.ClientURL()).Stream(context.Background(), "p_history_h")
	must(t, err)
	if stored := stream.CachedInfo().State.Bytes; len(list) != 1 || list[0].Bytes < int64(stored) || stored < 10_000 {
		t.Errorf("usage %+v of a stream with %d bytes", list, stored)
	}
}

// The notes about a tenant that always has more than half of a history do not take the room
// of the others.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s))
	define(t, a, definition("h", func(d *history.Definition) {
		d.Limits.Size, d.Limits.Messages = history.MinSize, history.MaxMessages
	}))
	put(t, a, "h", "quiet", "c", "1")
	payload := strings.Repeat("x", 1000)
	for range 8000 {
		put(t, a, "h", "loud", "c", payload)
	}
	notes := countNotes(t, operator(t, s.ClientURL()))
	if notes == 0 || notes > 150 { // two for each batch of messages that are kept, and those are some 40
		t.Errorf("%d notes", notes)
	}
	if page := read(t, a, query("h", "quiet", "#", 0)); texts(page) != "c=1" {
		t.Errorf("the other tenant has %q", texts(page))
	}
}

// Where the stream lets nobody remove anything, the tenant is stopped, and notes do not fill it.
func TestNotesOfFailures(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s), impatient)
	define(t, a, definition("h", func(d *history.Definition) {
		d.Limits.Size, d.Limits.Messages = history.MinSize, history.MaxMessages
	}))
	await(t, "a first message", func() bool { return try(a, "h", "quiet", "c", "1").Err == nil })
	js := operator(t, s.ClientURL())
	stream, err := js.Stream(context.Background(), "p_history_h")
	must(t, err)
	c := stream.CachedInfo().Config
	c.DenyPurge = true
	must(t, errorOf(js.UpdateStream(context.Background(), c)))
	payload, failed := strings.Repeat("x", 1000), false
	for range 1000 {
		if failed = try(a, "h", "loud", "c", payload).Err != nil; failed {
			break
		}
	}
	if !failed {
		t.Error("the tenant goes on")
	}
	if notes := countNotes(t, js); notes > 30 {
		t.Errorf("%d notes", notes)
	}
	await(t, "word for the other edges that it failed", func() bool { return countNotes(t, js, trimmedToken) > 0 })
}

// countNotes counts the notes of the history h; of some kinds, if there are any.
func countNotes(t *testing.T, js jetstream.JetStream, kinds ...string) (notes uint64) {
	t.Helper()
	stream, err := js.Stream(context.Background(), "p_history_h")
	must(t, err)
	info, err := stream.Info(context.Background(), jetstream.WithSubjectFilter("p.h.h."+append(kinds, "c.")[0]+">"))
	must(t, err)
	for _, n := range info.State.Subjects {
		notes += n
	}
	return notes
}

// Each message is answered, whatever it waits for when the store is closed.
func TestCloseAnswersAll(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h"))
	at := put(t, s, "h", "t", "c", "1")
	st := s.find("h")
	results := make(chan history.Result, 2)
	arrived := func(number uint64) arrival {
		m := &history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Stored: func(_ *history.Message, r history.Result) { results <- r }}
		return arrival{sent{out: st.out, message: m, since: time.Now(), epoch: at.Epoch}, number, false}
	}
	st.stored.add(st, arrived(at.N+100)) // stored, and not received yet
	must(t, s.Close())
	st.stored.add(st, arrived(at.N+101)) // the answer came while the store was closed
	for range 2 {
		select {
		case r := <-results:
			if !errors.Is(r.Err, history.ErrUnconfirmed) {
				t.Errorf("%+v", r)
			}
		default:
			t.Error("a message was not answered")
		}
	}
}

// A history that goes out of reach while a message with a key is about to be sent.
func TestOutOfReachAtSending(t *testing.T) {
	t.Parallel()
	st := newStream(new(Store), "h")
	var got history.Result
	st.out.sent = 1
	st.out.send(&history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Key: []byte("k"), Stored: func(_ *history.Message, r history.Result) { got = r }})
	if !errors.Is(got.Err, history.ErrUnavailable) {
		t.Errorf("%+v", got)
	}
}
