package nats

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// What one edge stores, all hand on, in one order and at the same positions, and all can
// read, also what is no longer in their memory.
func TestEdges(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s), small), open(t, natstest.Connect(s), small)
	fa, fb := join(a), join(b)
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	follow(t, a, "h")
	follow(t, b, "h")
	const each = 300
	results := make(chan history.Result, 2*each)
	for i := range each {
		for j, edge := range []*Store{a, b} {
			edge.Append(&history.Message{
				History: "h", Tenant: fmt.Sprint("t", i%2), Channel: fmt.Appendf(nil, "c.%d", i%3), Payload: fmt.Appendf(nil, "%d.%d", j, i),
				Stored: func(_ *history.Message, r history.Result) { results <- r },
			})
		}
	}
	stored := map[uint64]history.Result{}
	for range 2 * each {
		r := <-results
		if r.Err != nil || r.Repeated {
			t.Fatalf("%+v", r)
		}
		stored[r.Position.N] = r
	}
	for name, f := range map[string]*follower{"a": fa, "b": fb} {
		f.await(t, "all messages", func() bool { return len(f.received) == 2*each })
		last := uint64(0)
		order := map[string]int{}
		for _, m := range f.received {
			if m.Position.N <= last || stored[m.Position.N].Position != m.Position {
				t.Fatalf("%s: %v after %d, confirmed as %v", name, m.Position, last, stored[m.Position.N].Position)
			}
			last = m.Position.N
			var from, i int
			must(t, errorOf(fmt.Sscanf(string(m.Payload), "%d.%d", &from, &i)))
			// Tenants take turns, and one that waits for its channel lets the other go first.
			if key := fmt.Sprint(from, " ", m.tenant); i < order[key] {
				t.Fatalf("%s: message %d of edge %d comes after %d of its tenant", name, i, from, order[key])
			} else {
				order[key] = i
			}
		}
	}
	pageA, pageB := read(t, a, query("h", "t0", "c.#", 0)), read(t, b, query("h", "t0", "c.#", 0))
	if len(pageA.Messages) != each || texts(pageA) != texts(pageB) || pageA.Through != pageB.Through || pageA.Removed != pageB.Removed {
		t.Errorf("the edges read %d and %d messages, through %v and %v", len(pageA.Messages), len(pageB.Messages), pageA.Through, pageB.Through)
	}
	// A repeat on the other edge is stored once, and says where.
	first := try(a, "h", "t0", "k", "1", "key")
	again := try(b, "h", "t0", "k", "2", "key")
	if first.Err != nil || again.Err != nil || !again.Repeated || again.Position != first.Position {
		t.Errorf("stored %+v, repeated %+v", first, again)
	}
	if other := try(b, "h", "t1", "k", "3", "key"); other.Err != nil || other.Repeated {
		t.Errorf("the key of another tenant: %+v", other)
	}
}

// Two edges that each repeat the other's key at the same time store it once.
func TestKeyRace(t *testing.T) {
	t.Parallel()
	a, b, _ := openTwo(t)
	for i := range 50 {
		results := make(chan history.Result, 2)
		for _, edge := range []*Store{a, b} {
			edge.Append(&history.Message{
				History: "h", Tenant: "t", Channel: []byte("c"), Key: fmt.Append(nil, i), Payload: []byte("x"),
				Stored: func(_ *history.Message, r history.Result) { results <- r },
			})
		}
		one, other := <-results, <-results
		if one.Err != nil || other.Err != nil || one.Position != other.Position || one.Repeated == other.Repeated {
			t.Fatalf("%+v and %+v", one, other)
		}
	}
}

// Whatever removes messages, edges that were there and one that reads the history later miss
// none without being told, and have none that was purged.
func TestReadLater(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	d := definition("h", func(d *history.Definition) { d.Limits.Messages, d.Limits.Size = 4, history.MinSize })
	define(t, a, d)
	define(t, b, d)
	type stored struct {
		tenant, channel, payload string
		purged                   bool
	}
	all := map[uint64]*stored{}
	store := func(edge *Store, tenant, channel, payload string) wire.Position {
		at := put(t, edge, "h", tenant, channel, payload)
		all[at.N] = &stored{tenant, channel, payload, false}
		return at
	}
	purge := func(edge *Store, tenant, channel string) {
		must(t, errorOf(edge.Purge("h", tenant, channel)))
		for _, m := range all {
			m.purged = m.purged || m.tenant == tenant && (channel == "" || m.channel == channel)
		}
	}
	tenants := []string{"t", "u.v", "w"}
	for i := range 400 {
		tenant, channel := tenants[rnd.IntN(3)], fmt.Sprintf("c.%d", rnd.IntN(12))
		switch n := rnd.IntN(100); {
		case n == 0:
			purge(a, tenant, "")
		case n < 3:
			purge(b, tenant, channel)
		case n < 6:
			d.Limits.Messages = 1 + rnd.IntN(8)
			define(t, a, d)
		case n < 10: // large ones of one tenant, which are cut
			store(b, "w", channel, fmt.Sprint(i, strings.Repeat("x", 100_000)))
		default:
			store([]*Store{a, b}[rnd.IntN(2)], tenant, channel, fmt.Sprint(i))
		}
	}
	last := store(a, "t", "c.0", "last")
	awaitHead(t, b, "h", last)
	later := open(t, natstest.Connect(s))
	define(t, later, d)
	awaitHead(t, later, "h", last)
	for name, edge := range map[string]*Store{"a": a, "b": b, "later": later} {
		for _, tenant := range append(tenants, "nobody") {
			for _, text := range []string{"#", "c.1", "c.*", "c.5"} {
				for after := uint64(0); after <= last.N; after += 1 + uint64(rnd.IntN(9)) {
					q := query("h", tenant, text, after)
					page := read(t, edge, q)
					got := map[uint64]bool{}
					for _, m := range page.Messages {
						got[m.Position.N] = true
						was := all[m.Position.N]
						if was == nil || was.purged || was.tenant != tenant || was.channel != m.Channel || was.payload != string(m.Payload) {
							t.Fatalf("%s: %s %s after %d: %.40s=%.40s at %v, which is %.80v", name, tenant, text, after, m.Channel, m.Payload, m.Position, was)
						}
					}
					for n, m := range all {
						if n > after && n <= page.Through.N && m.tenant == tenant && q.Pattern.Match(m.channel) && !got[n] && page.Removed.N < n {
							t.Fatalf("%s: %s %s after %d: %d is missing, and only what is before %v is told to be", name, tenant, text, after, n, page.Removed)
						}
					}
				}
			}
		}
	}
}

// A quiet tenant keeps its messages while others fill a small history on two edges at once.
func TestQuietTenant(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	d := definition("h", func(d *history.Definition) { d.Limits.Size, d.Limits.Messages = history.MinSize, 100_000 })
	define(t, a, d)
	define(t, b, d)
	followers := map[*Store]*follower{a: join(a), b: join(b)}
	put(t, a, "h", "t", "c", "quiet")
	const each = 400
	results := make(chan history.Result, 2*each)
	for i := range each {
		for _, edge := range []*Store{a, b} {
			edge.Append(&history.Message{
				History: "h", Tenant: "loud", Channel: fmt.Append(nil, "c", i%7), Payload: make([]byte, 8000),
				Stored: func(_ *history.Message, r history.Result) { results <- r },
			})
		}
	}
	for range 2 * each {
		r := natstest.Receive(t, "a result", results)
		if r.Err != nil && !errors.Is(r.Err, history.ErrUnavailable) && !errors.Is(r.Err, history.ErrUnconfirmed) {
			t.Fatal(r.Err)
		}
	}
	later := open(t, natstest.Connect(s))
	define(t, later, d)
	for _, edge := range []*Store{a, b, later} {
		page := read(t, edge, query("h", "t", "#", 0))
		jumped := false // what was removed before a busy edge has received it may have been anybody's
		if f := followers[edge]; f != nil {
			jumped = f.jumped()
		}
		if texts(page) != "c=quiet" || page.Removed.N > 1 && !jumped {
			t.Errorf("the quiet tenant has %q, removed to %v", texts(page), page.Removed)
		}
	}
	list, err := a.Usage()
	must(t, err)
	var bytes int64
	for _, u := range list {
		bytes += u.Bytes
	}
	if bytes > history.MinSize || bytes < history.MinSize/2 {
		t.Errorf("usage %+v", list)
	}
}

// Without a server calls wait for a while, and fail; with one again, all goes on.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t)
	a := open(t, natstest.Connect(s), impatient, withShortCalls)
	define(t, a, definition("h", func(d *history.Definition) { d.Channels = []string{"c"} }))
	f := join(a)
	follow(t, a, "h")
	at := awaitPut(t, a, "1")
	again(func() {
		await(t, "the store to notice", func() bool { _, err := a.Head("h", "t"); return errors.Is(err, history.ErrUnavailable) })
		if r := try(a, "h", "t", "c", "lost"); !errors.Is(r.Err, history.ErrUnavailable) {
			t.Errorf("Append without a server: %+v", r)
		}
		define(t, a, definition("other", func(d *history.Definition) { d.Channels = []string{"d"} }))
	})
	if next := awaitPut(t, a, "2"); next.Epoch != at.Epoch || next.N <= at.N {
		t.Errorf("with a server again: %v after %v", next, at)
	}
	f.await(t, "the definition from meanwhile", func() bool { return f.set.Find("other") != nil })
	f.await(t, "both messages", func() bool { return len(f.received) >= 2 })
	await(t, "the position from before to be known", func() bool { known, err := a.Knows("h", "t", at); return known && err == nil })
}

// Keys outlive a restart of all servers: those of messages that are kept at each edge, and
// those of messages that were removed at the edges that ran meanwhile.
func TestKeysAfterRestart(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t)
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 10 })
	a := open(t, natstest.Connect(s), withLostAnswers)
	define(t, a, d)
	removed := try(a, "h", "t", "c", "removed", "removed")
	for i := range 100 {
		put(t, a, "h", "t", "c", fmt.Sprint(i))
	}
	kept := try(a, "h", "t", "c", "kept", "kept")
	again()
	b := open(t, natstest.Connect(s), withLostAnswers)
	define(t, b, d)
	awaitPut(t, a, "after")
	awaitPut(t, b, "after")
	for what, repeat := range map[string]struct {
		edge  *Store
		key   string
		first history.Result
	}{
		"kept":                    {a, "kept", kept},
		"kept, at a new edge":     {b, "kept", kept},
		"removed, at an old edge": {a, "removed", removed},
	} {
		if r := try(repeat.edge, "h", "t", "c", "again", repeat.key); r.Err != nil || repeat.first.Err != nil || !r.Repeated || r.Position != repeat.first.Position {
			t.Errorf("%s: %+v, at first %+v", what, r, repeat.first)
		}
	}
}
