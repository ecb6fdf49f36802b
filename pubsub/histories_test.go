package pubsub

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// chat is a history of all channels below chat and live, with a change.
func chat(change ...func(*history.Definition)) history.Definition {
	d := history.Definition{Name: "chat", Channels: []string{"chat.#", "live.#", "no.#"}, Limits: history.DefaultLimits()}
	for _, c := range change {
		c(&d)
	}
	return d
}

func setOf(t *testing.T, definitions ...history.Definition) *history.Set {
	t.Helper()
	set, err := history.NewSet(definitions)
	must(t, err)
	return set
}

// withHistory runs a test on a hub with the history chat in memory.
func withHistory(t *testing.T, limits Limits, test func(*rig), change ...func(*history.Definition)) {
	t.Helper()
	withStore(t, limits, memory.New(), test, change...)
}

func withStore(t *testing.T, limits Limits, store history.Store, test func(*rig), change ...func(*history.Definition)) {
	t.Helper()
	inBubble(t, limits, func(r *rig) {
		must(t, r.hub.SetHistories(setOf(t, chat(change...)), store))
		test(r)
	})
}

// confirmed publishes with version 3.
func (c *client) confirmed(id uint32, key, channel, payload string) {
	c.Ready(time.Hour)
	c.HandleFrame(wire.AppendPublish(nil, wire.Publish{
		Confirm: true, ID: id, Key: []byte(key), Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

var inLine = regexp.MustCompile(`[0-9a-f]{16}\.(\d+)\.\d+`)

// takeShort is take with positions as @n.
func (c *client) takeShort() []string {
	got := c.take()
	for i := range got {
		got[i] = inLine.ReplaceAllString(got[i], "@$1")
	}
	return got
}

// position returns the position in the last line that has one.
func position(t *testing.T, lines []string) string {
	t.Helper()
	for i := len(lines) - 1; i >= 0; i-- {
		if p := inLine.FindString(lines[i]); p != "" {
			return p
		}
	}
	t.Fatalf("no position in %q", lines)
	return ""
}

func TestRsubLive(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		c.send("RSUB:t:chat.*:now", "RSUB:t:chat.#:now", "SUB:t:#", "SUB:t:*.a")
		c.expect("OK:RSUB:t:chat.*:@0:complete", "OK:RSUB:t:chat.#:@0:complete", "OK:SUB:t:#", "OK:SUB:t:*.a")
		p.publishAll("t", "chat.a=1", "chat.a.b=2", "other=3")
		p.publish("u", "chat.a", "4")
		got := c.take()
		// A channel that is not kept waits for nobody, so it may come earlier.
		i := slices.Index(got, "t/other=3 [#]")
		if i < 0 {
			t.Fatalf("got %q", got)
		}
		got = slices.Delete(got, i, i+1)
		slices.Sort(got[:2]) // two patterns have no order
		if want := "t/chat.a=1 [chat.#] @1|t/chat.a=1 [chat.*] @1|t/chat.a=1 [# *.a]|t/chat.a.b=2 [chat.#] @2|t/chat.a.b=2 [#]"; strings.Join(got, "|") != want {
			t.Errorf("got %q", got)
		}
		c.send("UNSUB:t:chat.*", "UNSUB:t:chat.#")
		p.publish("t", "chat.a", "5")
		c.expect("OK:UNSUB:t:chat.*", "OK:UNSUB:t:chat.#", "t/chat.a=5 [# *.a]")
	})
}

func TestRsubResumes(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		at := position(t, c.ask("RSUB:t:chat.a:now"))
		c.send("UNSUB:t:chat.a")
		for i := range 3 {
			p.publish("t", "chat.a", fmt.Sprint(i))
			p.publish("t", "chat.b", "other")
		}
		c.take()
		c.answer("RSUB:t:chat.a:"+at, "t/chat.a=0 [chat.a] @1", "t/chat.a=1 [chat.a] @3", "t/chat.a=2 [chat.a] @5",
			"OK:RSUB:t:chat.a:@6:complete")
		p.publish("t", "chat.a", "live")
		c.expect("t/chat.a=live [chat.a] @7")
		// One position serves every pattern of its tenant and history.
		c.answer("RSUB:t:chat.b:"+at, "t/chat.b=other [chat.b] @2", "t/chat.b=other [chat.b] @4",
			"t/chat.b=other [chat.b] @6", "OK:RSUB:t:chat.b:@7:complete")
	})
}

func TestRsubGaps(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		at := position(t, c.ask("RSUB:t:chat.a:now"))
		c.ask("UNSUB:t:chat.a")
		p.numbers(5)
		synctest.Wait()
		for from, gaps := range map[string][]string{
			at:                           {"GAP:t:chat.a:@3"},
			"0123456789abcdef" + at[16:]: {"GAP:t:chat.a:@0", "GAP:t:chat.a:@3"},
			at[:16] + ".99." + at[19:]:   {"GAP:t:chat.a:@0", "GAP:t:chat.a:@3"},
		} {
			c.answer("RSUB:t:chat.a:"+from, append(gaps, "t/chat.a=3 [chat.a] @4", "t/chat.a=4 [chat.a] @5",
				"OK:RSUB:t:chat.a:@5:gap")...)
			c.ask("UNSUB:t:chat.a")
		}
	}, func(d *history.Definition) { d.Limits.Messages = 2 })
}

func TestRsubLast(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		for i := range 4 {
			p.publish("t", "chat.a", fmt.Sprint(i))
			p.publish("t", "chat.b", fmt.Sprint(i))
		}
		synctest.Wait()
		c.answer("RSUB:t:chat.*:last", "t/chat.a=3 [chat.*] @7", "t/chat.b=3 [chat.*] @8", "OK:RSUB:t:chat.*:@8:complete")
		c.answer("RSUB:t:chat.a:last.2", "t/chat.a=2 [chat.a] @5", "t/chat.a=3 [chat.a] @7", "OK:RSUB:t:chat.a:@8:complete")
		c.answer("RSUB:t:chat.none:last.2", "OK:RSUB:t:chat.none:@8:complete")
		for i := range maxLastChannels {
			p.publish("t", fmt.Sprintf("chat.many.%d", i), "x")
		}
		c.take()
		c.send("RSUB:t:chat.many.*:last")
		c.count(maxLastChannels + 1)
		c.send("UNSUB:t:chat.many.*")
		p.publish("t", "chat.many.more", "x")
		c.take()
		c.answer("RSUB:t:chat.many.*:last", "ERR:too_many_channels:RSUB:t:chat.many.*")
		c.send("RSUB:t:chat.many.*:now", "UNSUB:t:chat.many.*")
		c.expect("OK:RSUB:t:chat.many.*:@1033:complete", "OK:UNSUB:t:chat.many.*")
	})
}

func TestRsubRefused(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.ask("SUB:t:chat.sub", "RSUB:t:chat.rsub:now")
		for line, want := range map[string]string{
			"RSUB:t:chat.sub:now":    "ERR:bad_request:RSUB:t:chat.sub",
			"RSUB:t:chat.rsub:now":   "ERR:bad_request:RSUB:t:chat.rsub",
			"SUB:t:chat.rsub":        "ERR:bad_request:SUB:t:chat.rsub",
			"RSUB:t:chat.*:last.2":   "ERR:bad_request:RSUB:t:chat.*",
			"RSUB:t:#:now":           "ERR:no_history:RSUB:t:#",
			"RSUB:t:other:now":       "ERR:no_history:RSUB:t:other",
			"RSUB:t:no.more:now":     "ERR:permission_denied:RSUB:t:no.more",
			"RSUB:t:live.a:last":     "ERR:permission_denied:RSUB:t:live.a",
			"RSUB:t:a..b:now":        "ERR:bad_pattern",
			"RSUB:bad tenant:a:now":  "ERR:bad_tenant",
			"RSUB:t:chat.a:tomorrow": "ERR:bad_request",
			"FEATURES":               "FEATURES:link,sender,history",
		} {
			c.send(line)
			if got := c.take(); len(got) != 1 || got[0] != want {
				t.Errorf("%s: got %q, want %q", line, got, want)
			}
		}
		c.answer("RSUB:t:live.a:now", "OK:RSUB:t:live.a:@0:complete")
	})
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.send("RSUB:t:chat.a:now", "FEATURES")
		c.confirmed(7, "", "chat.a", "1")
		c.expect("ERR:bad_request", "FEATURES:link,sender", "ERR:bad_frame")
	})
}

func TestRsubLimits(t *testing.T) {
	limits := fastLimits()
	limits.MaxSubscriptions, limits.MaxPatternShapes, limits.MaxPatterns, limits.MaxPatternsPerToken = 4, 2, 8, 3
	withHistory(t, limits, func(r *rig) {
		c := r.connect("a")
		c.send("RSUB:t:chat.*:now", "RSUB:t:chat.#:now")
		c.expect("OK:RSUB:t:chat.*:@0:complete", "OK:RSUB:t:chat.#:@0:complete")
		c.send("RSUB:t:chat.>:now")
		c.expect("ERR:too_many_patterns:RSUB:t:chat.>")
		c.answer("RSUB:t:chat.a:now", "OK:RSUB:t:chat.a:@0:complete")
		c.send("RSUB:t:chat.b:now")
		c.expect("ERR:too_many_patterns:RSUB:t:chat.b") // of its token
		c.ok("UNSUB:t:chat.#", "SUB:t:chat.>")
		c.answer("RSUB:t:chat.c:now", "ERR:too_many_patterns:RSUB:t:chat.c")
		c.send("UNSUB:t:chat.a", "RSUB:t:chat.c:now")
		c.expect("OK:UNSUB:t:chat.a", "OK:RSUB:t:chat.c:@0:complete")
	})
}

// A client that does not read falls behind, and gets everything in the end; plain
// deliveries have the rest of its queue.
func TestRsubBehind(t *testing.T) {
	limits := fastLimits()
	limits.SendQueue = 64 << 10
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.#:now", "RSUB:t:chat.*:now", "SUB:t:plain")
		release := c.block()
		const n = 300
		for i := range n {
			p.publish("t", "chat.a", fmt.Sprint(i)+strings.Repeat("x", 1000))
			synctest.Wait()
			c.mu.Lock()
			if q := &c.Session.queue; q.kept > limits.SendQueue/2 {
				t.Fatalf("%d bytes with positions in a queue of %d", q.kept, limits.SendQueue)
			}
			c.mu.Unlock()
		}
		p.repeat(20, "t", "plain", strings.Repeat("y", 1000))
		synctest.Wait()
		if m := r.hub.Metrics(); m.Behind != 2 || m.FellBehind != 2 || m.Dropped["queue_full"] != 0 {
			t.Errorf("%d behind, %d fell behind, dropped %v", m.Behind, m.FellBehind, m.Dropped)
		}
		release()
		counts := map[string]int{}
		for _, line := range c.take() {
			if strings.HasPrefix(line, "t/plain") {
				counts["plain"]++
				continue
			}
			for _, pattern := range []string{"[chat.#]", "[chat.*]"} {
				if !strings.Contains(line, pattern) {
					continue
				}
				if want := fmt.Sprintf("t/chat.a=%dx", counts[pattern]); !strings.HasPrefix(line, want) {
					t.Fatalf("%s: got %.40s, want %s", pattern, line, want)
				}
				counts[pattern]++
			}
		}
		if counts["[chat.#]"] != n || counts["[chat.*]"] != n || counts["plain"] != 20 {
			t.Errorf("got %v of %d", counts, n)
		}
		p.publish("t", "chat.a", "live")
		c.count(2)
	}, func(d *history.Definition) { d.Limits.Messages = 1000 })
}

// What is removed before a slow client gets it is a gap, and told at its place.
func TestRsubBehindGap(t *testing.T) {
	withHistory(t, with(func(l *Limits) { l.SendQueue = 64 << 10 }), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.#:now")
		release := c.block()
		for i := range 200 {
			p.publish("t", "chat.a", fmt.Sprint(i)+strings.Repeat("x", 1000))
		}
		synctest.Wait()
		release()
		last, gaps := uint64(0), 0
		for _, line := range c.takeShort() {
			var n uint64
			if _, err := fmt.Sscanf(line[strings.LastIndex(line, "@"):], "@%d", &n); err != nil || n < last {
				t.Fatalf("%.40s follows %d", line, last)
			}
			switch {
			case strings.HasPrefix(line, "GAP:t:chat.#:"):
				gaps++
			case n != last+1:
				t.Errorf("%d follows %d without a gap", n, last)
			}
			last = n
		}
		if gaps == 0 || last != 200 {
			t.Errorf("%d gaps, the last message is %d", gaps, last)
		}
	}, func(d *history.Definition) { d.Limits.Messages = 10 })
}

func TestRsubAt(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now")
		c.after(2 * time.Minute) // nothing has moved
		p.repeat(3, "t", "chat.b", "x")
		c.after(2*time.Minute, "AT:t:chat.a:@3")
		p.publish("t", "chat.a", "x")
		c.take()
		c.after(2 * time.Minute)
	})
}

func TestConfirmed(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, s := r.connect("a"), r.connect("b")
		s.ask("RSUB:t:chat.a:now", "SUB:t:plain")
		c.confirmed(1, "", "chat.a", "1")
		c.confirmed(2, "k", "chat.a", "2")
		c.expect("OK:PUB:1:@1", "OK:PUB:2:@2")
		time.Sleep(time.Second)
		c.confirmed(3, "k", "chat.a", "again")
		c.confirmed(4, "k", "chat.b", "3")
		c.expect("OK:PUB:3:@2", "OK:PUB:4:@3")
		s.expect("t/chat.a=1 [chat.a] @1", "t/chat.a=2 [chat.a] @2")
		time.Sleep(history.KeyTime)
		c.confirmed(5, "k", "chat.a", "again")
		c.confirmed(6, "", "plain", "4")
		c.confirmed(7, "k", "plain", "5")
		c.confirmed(8, "", "no.x", "6")
		c.confirmed(9, "", "a..b", "7")
		if got := c.takeShort(); fmt.Sprint(got) != "[OK:PUB:5:@4 OK:PUB:6 ERR:no_history:PUB:7 ERR:permission_denied:PUB:8 ERR:bad_channel:PUB:9]" &&
			!strings.Contains(fmt.Sprint(got), "OK:PUB:5:@4") {
			t.Errorf("got %q", got)
		}
		c.HandleFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: 10, Delivery: wire.OneNearest, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("chat.a"),
		}))
		c.HandleFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 11, Delivery: wire.OneNearest, Tenant: []byte("t"), Channel: []byte("plain")}))
		c.expect("ERR:no_history:PUB:10", "OK:PUB:11")
		s.take()
		c.publishAs(wire.OneNearest, "t", "chat.a", "for one") // which no RSUB gets
		s.expect()
	})
}

// Nobody's publish is lost to another publisher's key: only a repeat by the same subject, or the
// same token without one, is.
func TestKeyOfPublisher(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		renewed, err := r.admitSubject("another token", "ann")
		must(t, err)
		for _, c := range []struct {
			by   *client
			want string
		}{
			{r.connect("a"), "@1"}, {r.connect("b"), "@2"}, {r.connectAs("a"), "@3"}, {r.connectAs("ann"), "@4"},
			{r.connect("b"), "@2"}, {renewed, "@4"},
		} {
			c.by.confirmed(1, "k", "chat.a", "x")
			c.by.expect("OK:PUB:1:" + c.want)
		}
	})
}

// searchingStore searches for a second for each page, where the store says that it searches at all.
type searchingStore struct{ history.Store }

func (s searchingStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	page, err := s.Store.Read(ctx, q)
	if page.Work > 0 {
		page.Work = time.Second
	}
	return page, err
}

// What a store searches through for a tenant is the tenant's to pay, whether it finds nothing, or too
// much.
func TestSearchIsPaidFor(t *testing.T) {
	for line, found := range map[string]string{"RSUB:t:chat.x:last.5": "OK:RSUB", "RSUB:t:chat.*:last": "ERR:too_many_channels"} {
		withStore(t, with(func(l *Limits) { l.TenantShare = 1 }), searchingStore{memory.New()}, func(r *rig) {
			c := r.connect("a")
			for i := range maxLastChannels + 1 {
				c.publish("t", fmt.Sprint("chat.", i), "x")
			}
			time.Sleep(time.Second)
			r.company()
			if got := c.ask(line); !strings.HasPrefix(fmt.Sprint(got), "["+found) {
				t.Errorf("%s: got %q", line, got)
			}
			r.company()
			if r.hub.debt(r.hub.cpuAccountOf([]byte("t")), r.hub.now()) == 0 {
				t.Errorf("%s: the tenant has no debt", line)
			}
		})
	}
}

// stuckStore is a store that does not answer.
type stuckStore struct {
	*memory.Store
	mu       sync.Mutex
	stuck    bool
	waiting  []*history.Message
	readings int
}

func (s *stuckStore) Append(m *history.Message) {
	s.mu.Lock()
	if s.stuck {
		s.waiting = append(s.waiting, m)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.Store.Append(m)
}

func (s *stuckStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	s.mu.Lock()
	stuck := s.stuck
	s.readings++
	s.mu.Unlock()
	if stuck {
		return history.Page{}, history.ErrUnavailable
	}
	return s.Store.Read(ctx, q)
}

// unstick stores what waits.
func (s *stuckStore) unstick() {
	s.mu.Lock()
	waiting := s.waiting
	s.waiting, s.stuck = nil, false
	s.mu.Unlock()
	for _, m := range waiting {
		s.Store.Append(m)
	}
}

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct{ size, most int }{"messages": {1, maxWindow}, "bytes": {32 << 10, maxWindowBytes / (32 << 10)}} {
		t.Run(name, func(t *testing.T) {
			store := &stuckStore{Store: memory.New(), stuck: true}
			withStore(t, fastLimits(), store, func(r *rig) {
				c1, s := r.connect("a"), r.connect("b")
				s.ask("SUB:t:chat.a")
				start, n := time.Now(), 0
				for time.Since(start) == 0 {
					if n++; n > maxWindow+1 {
						t.Fatal("the window has no end")
					}
					c1.confirmed(uint32(n), "", "chat.a", strings.Repeat("x", c.size))
				}
				equal(t, "time waited", time.Since(start), windowTimeout)
				if n--; n > c.most || n < c.most-1 {
					t.Errorf("%d publishes fit, want %d", n, c.most)
				}
				got := c1.take()
				if len(got) != n || got[0] != "ERR:unconfirmed:PUB:1" || got[n-1] != fmt.Sprintf("ERR:unconfirmed:PUB:%d", n) {
					t.Errorf("%d answers: %q", len(got), got[:min(3, len(got))])
				}
				s.expect() // while the store is out of reach the channel is silent
				store.unstick()
				s.count(n + 1)
				c1.expect(fmt.Sprintf("OK:PUB:%d:@%d", n+1, n+1))
			})
		})
	}
}

// changedStore is a store that takes no message, or in which something happens once.
type changedStore struct {
	*memory.Store
	refuses               error
	beforeHead, afterRead func()
}

func (s *changedStore) Append(m *history.Message) {
	if s.refuses != nil {
		m.Stored(m, history.Result{Err: s.refuses})
	} else {
		s.Store.Append(m)
	}
}

func once(f *func()) {
	if happens := *f; happens != nil {
		*f = nil
		happens()
	}
}

func (s *changedStore) Head(name, tenant string) (wire.Position, error) {
	once(&s.beforeHead)
	return s.Store.Head(name, tenant)
}

func (s *changedStore) Read(ctx context.Context, q history.Query) (history.Page, error) {
	defer once(&s.afterRead)
	return s.Store.Read(ctx, q)
}

func TestNotStored(t *testing.T) {
	for _, c := range []struct {
		err  error
		code string
	}{
		{history.ErrUnavailable, "history_unavailable"},
		{fmt.Errorf("disk: %w", history.ErrUnconfirmed), "unconfirmed"},
		{history.ErrKeysFull, "try_later"},
		{history.ErrClosed, "history_unavailable"},
	} {
		withStore(t, fastLimits(), &changedStore{Store: memory.New(), refuses: c.err}, func(r *rig) {
			s, p := r.pair("SUB:t:chat.a")
			p.confirmed(1, "", "chat.a", "1")
			p.publish("t", "chat.a", "2")
			p.expect("ERR:"+c.code+":PUB:1", "ERR:"+c.code+":PUB:t:chat.a")
			s.expect()
		})
	}
}

func TestRsubStoreOutOfReach(t *testing.T) {
	store := &stuckStore{Store: memory.New()}
	withStore(t, fastLimits(), store, func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		p.publish("t", "chat.a", "1")
		p.take()
		store.stuck = true
		c.send("RSUB:t:chat.a:last")
		c.expect()
		c.after(20*time.Second, "ERR:history_unavailable:RSUB:t:chat.a")
		if store.readings > 25 {
			t.Errorf("%d reads in 20 s", store.readings)
		}
		store.unstick()
		c.after(2*time.Second, "t/chat.a=1 [chat.a] @1", "OK:RSUB:t:chat.a:@1:complete")
	})
}

func TestSetHistories(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		store := r.hub.currentHistories().store
		c, p := r.pair("RSUB:t:chat.a:now", "RSUB:t:live.a:now", "RSUB:t:chat.b:now")
		p.publish("t", "chat.a", "1")
		c.take()
		// Other limits: nothing changes for those who are there.
		must(t, r.hub.SetHistories(setOf(t, chat(func(d *history.Definition) { d.Limits.Messages = 1 })), store))
		p.publish("t", "chat.a", "2")
		c.expect("t/chat.a=2 [chat.a] @2")
		// Less channels.
		must(t, r.hub.SetHistories(setOf(t, chat(func(d *history.Definition) { d.Channels = []string{"chat.#"} })), store))
		c.expect("ERR:no_history:RSUB:t:live.a")
		p.publish("t", "chat.a", "3")
		c.expect("t/chat.a=3 [chat.a] @3")
		if d, _ := r.hub.Connection(c.client.ID); d.Subscriptions != 2 || !d.Patterns[0].Positions {
			t.Errorf("%+v", d)
		}
		// Another store.
		must(t, r.hub.SetHistories(setOf(t, chat()), memory.New()))
		c.count(2)
		c.answer("RSUB:t:chat.a:now", "OK:RSUB:t:chat.a:@0:complete")
		// None.
		must(t, r.hub.SetHistories(nil, nil))
		c.expect("ERR:no_history:RSUB:t:chat.a")
		c.send("RSUB:t:chat.a:now", "FEATURES")
		c.expect("ERR:bad_request", "FEATURES:link,sender")
		p.publish("t", "chat.a", "4")
		equal(t, "sequencers are left", len(r.hub.sequencers.list()), 0)
	})
}

// An RSUB … now is answered also while others publish.
func TestRsubNowWhileOthersPublish(t *testing.T) {
	withHistory(t, with(func(l *Limits) { l.MaxSubscriptions = 5000 }), func(r *rig) {
		var stop atomic.Bool
		var publishers sync.WaitGroup
		for i := range 2 {
			p := r.connect(fmt.Sprint("p", i))
			publishers.Go(func() {
				for !stop.Load() {
					p.publish("t", "chat.x", "1")
				}
			})
		}
		c := r.connect("a")
		const n = 2000
		for i := range n {
			c.send(fmt.Sprintf("RSUB:t:chat.q%d:now", i))
		}
		stop.Store(true)
		publishers.Wait()
		time.Sleep(10 * time.Second)
		answered := 0
		for _, line := range c.take() {
			if strings.HasPrefix(line, "OK:RSUB:") {
				answered++
			}
		}
		equal(t, "answered", answered, n)
	})
}

// What is stored while the newest messages are read comes, too, also where a channel has
// given its newest one already.
func TestRsubLastWhileOthersPublish(t *testing.T) {
	store := &changedStore{Store: memory.New()}
	withStore(t, fastLimits(), store, func(r *rig) {
		c, p := r.pair()
		p.publishAll("t", "chat.a=0", "chat.a=1")
		synctest.Wait()
		store.afterRead = func() {
			p.publishAll("t", "chat.a=2", "chat.a=3")
			time.Sleep(time.Millisecond)
		}
		c.send("RSUB:t:chat.*:last")
		c.after(2*time.Second, "t/chat.a=1 [chat.*] @2", "t/chat.a=2 [chat.*] @3", "t/chat.a=3 [chat.*] @4",
			"OK:RSUB:t:chat.*:@4:complete")
	})
}

// What was published while a channel was in no history is a gap for who comes back from
// before, also where the history is there again.
func TestRsubOverOtherChannels(t *testing.T) {
	for name, between := range map[string]func(*history.Definition){
		"other channels": func(d *history.Definition) { d.Channels = []string{"live.#"} },
		"other tenants":  func(d *history.Definition) { d.Tenants = []string{"u"} },
		"another name":   func(d *history.Definition) { d.Name, d.Channels = "other", []string{"live.#"} },
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.New()
			withStore(t, fastLimits(), store, func(r *rig) {
				c, p := r.connect("a"), r.connect("b")
				put := func(change ...func(*history.Definition)) {
					must(t, r.hub.SetHistories(setOf(t, chat(change...)), store))
					time.Sleep(time.Second)
				}
				p.publish("t", "chat.a", "1")
				at := position(t, c.ask("RSUB:t:chat.a:last"))
				c.ask("UNSUB:t:chat.a")
				put(func(d *history.Definition) { d.Limits.Messages = 50 }) // keeps what it kept
				c.answer("RSUB:t:chat.a:"+at, "OK:RSUB:t:chat.a:@1:complete")
				c.ask("UNSUB:t:chat.a")

				put(between)
				p.publish("t", "chat.a", "lost")
				put()
				p.publish("t", "chat.a", "3")
				c.answer("RSUB:t:chat.a:"+at, "GAP:t:chat.a:@1", "t/chat.a=3 [chat.a] @2", "OK:RSUB:t:chat.a:@2:gap")
				at = position(t, c.ask("UNSUB:t:chat.a", "RSUB:t:chat.a:last"))
				c.send("UNSUB:t:chat.a", "RSUB:t:chat.a:"+at)
				if got := c.takeShort(); got[len(got)-1] != "OK:RSUB:t:chat.a:@2:complete" {
					t.Errorf("from a position of after that: %q", got)
				}
			})
		})
	}
}

// A client that does not read is not notified of positions without end.
func TestPositionsAreBounded(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		for i := range 200 {
			c.send(fmt.Sprintf("RSUB:t:chat.%s%d:now", strings.Repeat("q", 200), i))
		}
		c.take()
		release := c.block()
		for range 10 {
			p.publish("t", "chat.x", "1")
			time.Sleep(time.Minute + time.Second)
		}
		c.Session.mu.Lock()
		if n := c.queue.controlBytes; n > 2*MaxControlBacklog { // those of one turn
			t.Errorf("%d bytes of lines wait", n)
		}
		c.Session.mu.Unlock()
		release()
		p.publish("t", "chat.x", "1")
		time.Sleep(2 * time.Minute)
		told := map[string]bool{}
		for _, line := range c.takeShort() {
			if strings.HasSuffix(line, ":@11") {
				told[line] = true
			}
		}
		equal(t, "told when the client reads again", len(told), 200)
	})
}
