package pubsub

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// A log is what the edges of a test share. Its stores hand on like one over a network, but
// at once. The numbers are those of the tenant.
type log struct {
	mu    sync.Mutex
	store *memory.Store
	views []*view
}

// A view is the store of one hub.
type view struct {
	*log
	follower history.Follower
	follows  map[string]int
	waiting  []func() // who follows, while slow
	slow     bool     // it has not begun to receive
	epoch    uint64   // instead of the store's; 0: that
	base     uint64   // what numbers are less, in that epoch
	retired  []string
	down     bool

	beforeRead func() // called once by the next Read, with the mutex held
}

func (l *log) view() *view {
	v := &view{log: l, follows: map[string]int{}}
	l.views = append(l.views, v)
	return v
}

func (v *view) Join(f history.Follower) { v.follower = f }

func (v *view) Follow(name string, ready func()) {
	v.mu.Lock()
	v.follows[name]++
	if v.slow {
		v.waiting = append(v.waiting, ready)
		ready = func() {}
	}
	v.mu.Unlock()
	ready()
}

func (v *view) Unfollow(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.follows[name]--; v.follows[name] == 0 {
		delete(v.follows, name)
	}
}

// set has the store out of reach, or back.
func (v *view) set(down bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.down = down
}

func (v *view) followed() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(v.follows)), " ")
}

func (v *view) Retire(name string) error {
	v.retired = append(v.retired, name)
	return nil
}

func (v *view) Close() error                      { return nil }
func (v *view) Define(d history.Definition) error { return v.store.Define(d) }
func (v *view) Usage() ([]history.Usage, error)   { return v.store.Usage() }
func (v *view) UsageNow() map[string][]history.Usage {
	all := map[string][]history.Usage{}
	list, _ := v.store.Usage()
	for _, u := range list {
		all[u.History] = append(all[u.History], u)
	}
	return all
}
func (v *view) States() map[string]history.State { return nil }
func (v *view) Purge(name, tenant, channel string) (int, error) {
	return v.store.Purge(name, tenant, channel)
}

// of changes a position of the store to one of the view.
func (v *view) of(p wire.Position) wire.Position {
	if v.epoch != 0 {
		p.Epoch, p.N = v.epoch, p.N-min(p.N, v.base)
	}
	return p
}

func (v *view) Append(m *history.Message) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.store.Append(&history.Message{History: m.History, Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload, Sender: m.Sender, Key: m.Key, TokenID: m.TokenID, Mark: m.Mark, Stored: func(_ *history.Message, r history.Result) {
		for _, each := range v.views {
			if r.Err == nil && !r.Repeated && each.follower != nil && !each.down {
				each.follower.Received(m.History, m.Tenant, history.Kept{Position: each.of(r.Position), Channel: string(m.Channel), Payload: m.Payload, Sender: m.Sender, Mark: m.Mark})
			}
		}
		r.Position = v.of(r.Position)
		m.Stored(m, r)
	}})
}

var errDown = errors.New("down")

func (v *view) Head(name, tenant string) (wire.Position, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.down {
		return wire.Position{}, errDown
	}
	p, err := v.store.Head(name, tenant)
	return v.of(p), err
}

func (v *view) Knows(name, tenant string, p wire.Position) (bool, error) {
	if v.epoch != 0 {
		return p.Epoch == v.epoch, nil
	}
	return v.store.Knows(name, tenant, p)
}

func (v *view) Before(name, tenant, channel string, n int) (after, removed uint64, err error) {
	return v.store.Before(name, tenant, channel, n)
}

func (v *view) Read(ctx context.Context, q history.Query) (history.Page, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.down {
		return history.Page{}, errDown
	}
	if f := v.beforeRead; f != nil {
		v.beforeRead = nil
		f()
	}
	if v.epoch != 0 {
		q.After += v.base
	}
	page, err := v.store.Read(ctx, q)
	page.Through, page.Removed = v.of(page.Through), v.of(page.Removed)
	for i := range page.Messages {
		page.Messages[i].Position = v.of(page.Messages[i].Position)
	}
	return page, err
}

// withEdges runs a test on two hubs with the history chat in a log that they share.
func withEdges(t *testing.T, limits Limits, test func(a, b *rig, views []*view), change ...func(*history.Definition)) {
	t.Helper()
	l := &log{store: memory.New()}
	views := []*view{l.view(), l.view()}
	synctest.Test(t, func(t *testing.T) {
		edges := []*rig{newRig(t, limits), newRig(t, limits)}
		for i, r := range edges {
			must(t, r.hub.SetHistories(setOf(t, chat(change...)), views[i]))
		}
		test(edges[0], edges[1], views)
		for _, r := range edges {
			r.close()
		}
	})
}

// A client that gets some of what is left, and goes on at an edge that has received less and
// so has removed nothing yet, was told before it left that it has missed something.
func TestGapInFront(t *testing.T) {
	few := func(d *history.Definition) { d.Limits.Messages = 2 }
	withEdges(t, fastLimits(), func(a, _ *rig, _ []*view) {
		c, p := a.connect("a"), a.connect("p")
		p.confirmed(0, "", "chat.z", "from")
		from := position(t, p.take())
		for i, m := range []string{"a=1", "b=1", "c=1", "a=2", "a=3", "b=2", "a=4"} { // 2 and 5 are removed
			p.confirmed(uint32(i), "", "chat."+m[:1], m[2:])
		}
		c.send("RSUB:t:chat.*:" + from)
		c.expect("GAP:t:chat.*:@2", "t/chat.b=1 [chat.*] @3", "t/chat.c=1 [chat.*] @4", "GAP:t:chat.*:@5",
			"t/chat.a=3 [chat.*] @6", "t/chat.b=2 [chat.*] @7", "t/chat.a=4 [chat.*] @8", "OK:RSUB:t:chat.*:@8:gap")
	}, few)
}

// Who has caught up is told once when the history is out of reach, and again in the next outage.
func TestToldOfReach(t *testing.T) {
	withEdges(t, fastLimits(), func(a, _ *rig, views []*view) {
		c, other := a.connect("a"), a.connect("b")
		c.ask("RSUB:t:chat.*:now")
		other.ask("SUB:t:chat.*")
		for range 2 {
			for _, is := range []bool{false, false, true} {
				views[0].follower.Reach("chat", is)
			}
			c.expect("ERR:history_unavailable:RSUB:t:chat.*")
		}
		other.expect()
	})
}

// All edges hand on what any of them stores, in the same order, once.
func TestSharedHistory(t *testing.T) {
	withEdges(t, fastLimits(), func(a, b *rig, _ []*view) {
		near, far, p := a.connect("a"), b.connect("b"), a.connect("p")
		for _, c := range []*client{near, far} {
			c.send("RSUB:t:chat.*:now", "SUB:t:chat.a")
			if got := c.takeShort(); !slices.Contains(got, "OK:SUB:t:chat.a") || !slices.Contains(got, "OK:RSUB:t:chat.*:@0:complete") {
				t.Fatalf("got %q", got)
			}
		}
		p.confirmed(1, "", "chat.a", "1")
		p.confirmed(2, "", "chat.b", "2")
		p.publish("t", "other", "not kept")
		p.expect("OK:PUB:1:@1", "OK:PUB:2:@2")
		for _, c := range []*client{near, far} {
			got := c.takeShort()
			slices.Sort(got)
			if want := "t/chat.a=1 [chat.*] @1|t/chat.a=1 [chat.a]|t/chat.b=2 [chat.*] @2"; strings.Join(got, "|") != want {
				t.Errorf("got %q", got)
			}
		}
		// A position of one edge is one of the other.
		late := b.connect("c")
		at := position(t, late.ask("RSUB:t:chat.*:last"))
		p.confirmed(3, "", "chat.a", "3")
		late.take()
		late.ask("UNSUB:t:chat.*")
		other := a.connect("d")
		other.answer("RSUB:t:chat.*:"+at, "t/chat.a=3 [chat.*] @3", "OK:RSUB:t:chat.*:@3:complete")
	})
}

// A history is followed while somebody may get its messages, and a SUB is confirmed when it
// is.
func TestSharedHistoryIsFollowed(t *testing.T) {
	withEdges(t, fastLimits(), func(a, _ *rig, views []*view) {
		v := views[0]
		c := a.connect("a")
		want := func(followed string) {
			t.Helper()
			synctest.Wait()
			equal(t, "followed", v.followed(), followed)
		}
		want("")
		c.ok("SUB:t:other.#")
		want("")
		v.slow = true
		c.send("SUB:t:*.a")
		c.expect()
		v.waiting[0]()
		c.expect("OK:SUB:t:*.a")
		v.slow = false
		c.ask("RSUB:t:chat.a:now")
		want("chat")
		c.ask("UNSUB:t:*.a")
		want("chat")
		c.ask("UNSUB:t:chat.a")
		want("")
		c.ask("SUB:t:more.x", "RSUB:t:chat.a:now")
		v.follower.Defined(setOf(t, chat(), history.Definition{Name: "more", Channels: []string{"more.#"}, Limits: history.DefaultLimits()}), nil)
		want("chat more") // other edges have defined it
		c.Close(wire.CloseNormal, "")
		c.Detach()
		want("")
	})
}

// What is taken out of the configuration is retired; what the store says is in effect.
func TestSharedDefinitions(t *testing.T) {
	withEdges(t, fastLimits(), func(a, _ *rig, views []*view) {
		v := views[0]
		more := history.Definition{Name: "more", Channels: []string{"more.#"}, Limits: history.DefaultLimits()}
		c := a.connect("a")
		c.answer("RSUB:t:more.a:now", "ERR:no_history:RSUB:t:more.a")
		must(t, v.Define(more))
		v.follower.Defined(setOf(t, chat(), more), map[string]uint64{"more": uint64(time.Now().UnixMilli())})
		before := wire.Position{T: uint64(time.Now().UnixMilli()) - 1}
		v.mu.Lock()
		head, err := v.store.Head("more", "t")
		v.mu.Unlock()
		must(t, err)
		before.Epoch = head.Epoch
		c.send("RSUB:t:more.a:" + before.String())
		c.expect("GAP:t:more.a:@0", "OK:RSUB:t:more.a:@0:gap") // from before it kept the channel
		must(t, a.hub.SetHistories(setOf(t, more), v))
		equal(t, "retired", strings.Join(v.retired, " "), "chat")
		c.send("RSUB:t:chat.a:now")
		c.expect("OK:RSUB:t:chat.a:@0:complete") // until the store says so
		v.follower.Defined(setOf(t, more), nil)
		c.after(time.Second, "ERR:no_history:RSUB:t:chat.a")
	})
}

// A tenant that is handed on too slowly costs its plain subscribers messages, and nobody
// with positions any.
func TestSharedHistoryIsBounded(t *testing.T) {
	withEdges(t, with(func(l *Limits) { l.SendQueue = 16 << 20 }), func(a, b *rig, views []*view) {
		c, p := b.connect("c"), a.connect("p")
		c.ask("RSUB:t:chat.a:now", "SUB:t:chat.*")
		id := sequencerID{0, "chat", "t"}
		b.hub.sequencers.mu.Lock()
		q := b.hub.sequencers.byID[id]
		b.hub.sequencers.mu.Unlock()
		q.mu.Lock()
		q.running = true // so that nothing is handed on
		q.mu.Unlock()
		payload := strings.Repeat("x", 1_000)
		const n = 2 * maxHandingBytes / 1_000
		for range n {
			p.publish("t", "chat.a", payload)
			p.take()
		}
		q.mu.Lock()
		if q.bytes > maxHandingBytes+1_000 {
			t.Errorf("%d bytes wait", q.bytes)
		}
		b.hub.Go(q.run)
		q.mu.Unlock()
		kept, plain := 0, 0
		for range 100 {
			time.Sleep(time.Second)
			for _, line := range c.take() {
				switch {
				case strings.HasSuffix(line, " [chat.*]"):
					plain++
				case strings.HasPrefix(line, "t/chat.a="):
					kept++
				default:
					t.Errorf("got %q", line)
				}
			}
		}
		if kept != n || plain >= n || plain == 0 {
			t.Errorf("%d of %d come with positions, and %d without", kept, n, plain)
		}
		if got := b.hub.count.missed.Load(); int(got) != n-plain {
			t.Errorf("%d are counted as missed, %d are", got, n-plain)
		}
	}, func(d *history.Definition) { d.Limits.Messages = 100_000 })
}

// While the store is out of reach nobody is told anything wrong, and a skip is found out of
// afterwards.
func TestSharedHistorySkips(t *testing.T) {
	withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
		c, p, v := b.connect("c"), a.connect("p"), views[1]
		c.ask("RSUB:t:chat.a:now")
		v.set(true)
		p.publishAll("t", "chat.a=1", "chat.b=2")
		late := b.connect("d")
		late.send("RSUB:t:chat.*:now")
		late.after(6*time.Second, "ERR:history_unavailable:RSUB:t:chat.*")
		v.set(false)
		head, err := v.Head("chat", "t")
		must(t, err)
		v.follower.Skipped("chat", head)
		c.after(2*time.Second, "t/chat.a=1 [chat.a] @1")
		late.expect("OK:RSUB:t:chat.*:@2:complete")
		p.publish("t", "chat.a", "3")
		c.expect("t/chat.a=3 [chat.a] @3")
		// A quiet subscription is told how far the history has come.
		p.publish("t", "chat.b", "4")
		late.take()
		c.after(time.Minute, "AT:t:chat.a:@4")
	})
}
