package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/wire"
)

// crowd lets others be present, who have no sessions here.
func (r *rig) crowd(tenant, channel string, n int) {
	r.Helper()
	set, err := presence.NewSet([]presence.Definition{{Name: "rooms", Channels: []string{"room.#", "no.#"}, Members: 10_000, Linger: time.Second}})
	must(r, err)
	r.hub.SetPresences(set)
	for i := range n {
		must(r, r.hub.presences.Load().registry.Join("", presence.Key{Tenant: tenant, Channel: channel,
			Subject: fmt.Sprint("user-", i)}, nil))
	}
}

// watching connects a client that has been told who is there.
func (r *rig) watching(token, line string) *client {
	r.Helper()
	c := r.connect(token)
	c.send(line)
	time.Sleep(2 * time.Second)
	c.take()
	return c
}

// JOIN, WHO and what watchers are told are work of the tenant, which waits when it is over its
// share; a client without a right there costs it nothing.
func TestPresencePaced(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 50 }), func(r *rig) {
		r.setPresence("room.#", "no.#")
		ann := r.connectAs("ann")
		for _, line := range []string{"JOIN:t:no.a", "WHO:t:no.a:count"} {
			ann.answer(line, "ERR:permission_denied:"+strings.TrimSuffix(line, ":count"))
		}
		equal(t, "t is charged for who has no right there", r.hub.loads.tenants.byName["t"] != nil, false)
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		for _, line := range []string{"JOIN:t:room.a", "WHO:t:room.*", "LEAVE:t:room.a", "UNWHO:t:room.*"} {
			r.debtor("t", 100*time.Millisecond)
			if took := r.took(func() { ann.send(line) }); took < 90*time.Millisecond || took > time.Second {
				t.Errorf("%s of a tenant that is over its share took %v", line, took)
			}
			// What a WHO shows comes when its tenant's turn does, maybe with a later answer.
			if got := ann.answers(); !slices.Equal(got, []string{"OK:" + line}) {
				t.Errorf("%q", got)
			}
		}
		a := r.hub.cpuAccountOf([]byte("t"))
		before := a.paidUntil.Load()
		r.hub.presenceWorked("t", "", 10*time.Millisecond)
		if a.paidUntil.Load() <= before {
			t.Error("what watchers are told is not charged")
		}
	})
}

// Each refusal for a missing right comes before anything that says what there is.
func TestPresenceRefusalsTellNothing(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxSubscriptions = 1 }), func(r *rig) {
		r.crowd("t", "no.a", 3)
		for _, c := range []*client{r.connectAs("ann"), r.connect("one without subject"), r.watching("one at its limit", "WHO:t:room.a")} {
			for _, channel := range []string{"no.a", "no.b", "no"} { // with members, without, without presence
				c.send("JOIN:t:"+channel, "WHO:t:"+channel+":count")
				c.expect("ERR:permission_denied:JOIN:t:"+channel, "ERR:permission_denied:WHO:t:"+channel)
			}
		}
	})
}

// Frames about presence count for the caps of the connection and the tenant.
func TestPresenceEgressCaps(t *testing.T) {
	for name, cap := range map[string]func(*Limits){
		"connection": func(l *Limits) { l.DefaultEgressKB = 1 },
		"token":      func(l *Limits) { l.TokenEgressKB = 1 },
		"tenant":     func(l *Limits) { l.TenantEgressKB = 1 },
	} {
		limits := fastLimits()
		cap(&limits)
		inBubble(t, limits, func(r *rig) {
			r.crowd("t", "room.a", 2000) // some 60 KiB
			c := r.connect("a")
			begin := time.Now()
			c.send("WHO:t:room.a")
			n := 0
			for n < 2000 && time.Since(begin) < 10*time.Minute {
				time.Sleep(time.Second)
				n += strings.Count(strings.Join(c.take(), ""), "+room.a")
			}
			if took := time.Since(begin); n != 2000 || took < 40*time.Second || took > 100*time.Second {
				t.Errorf("%s: %d members in %v at 1 KiB/s", name, n, took)
			}
		})
	}
}

// Messages with positions that fill their half of a queue, and deliveries that fill all of it,
// leave frames about presence their room, and do not drop them; these are no deliveries.
func TestPresenceInAFullQueue(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.crowd("t", "room.a", 1)
		c := r.watching("a", "WHO:t:room.a")
		before := r.hub.Metrics()
		release := c.block()
		s := c.Session
		s.mu.Lock()
		s.queue.pushKept(&frame{data: wire.AppendDeliver(nil, []byte("t"), []byte("x"), make([]byte, keptShare(s.hub.limits.Load())), []string{"x"}), kind: Binary, kept: true})
		s.mu.Unlock()
		c.send("SUB:t:y")
		r.crowd("t", "room.a", 2)
		time.Sleep(time.Second)
		if c.presenceQueued() == 0 {
			t.Error("there is no room beside messages with positions")
		}
		c.repeat(100, "t", "y", strings.Repeat("x", 60_000))
		r.crowd("t", "room.a", 2000)
		time.Sleep(10 * time.Second)
		if n := c.presenceQueued(); n > maxPresenceQueued || n < maxPresenceQueued/4 {
			t.Errorf("%d bytes about presence wait", n)
		}
		release()
		time.Sleep(time.Second)
		got := strings.Join(c.take(), " ")
		if !strings.Contains(got, "+room.a/user-1 ") {
			t.Error("a frame about presence was dropped")
		}
		m := r.hub.Metrics()
		if m.PresenceOut-before.PresenceOut < 3 {
			t.Errorf("%d frames are counted", m.PresenceOut-before.PresenceOut)
		}
		if left := m.FramesOut - 1 + m.Dropped["queue_full"]; left != m.Deliveries { // but for the one of this test
			t.Errorf("%d deliveries were written or dropped, of %d", left, m.Deliveries)
		}
		s.Close(wire.CloseNormal, "")
	})
}

// A session that ends drops no deliveries where frames about presence wait for it.
func TestPresenceDropped(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.crowd("t", "room.a", 1)
		c := r.watching("a", "WHO:t:room.a")
		release := c.block()
		c.send("PING")
		time.Sleep(time.Second) // its answer is being written
		r.crowd("t", "room.a", 2)
		time.Sleep(time.Second)
		if c.presenceQueued() == 0 {
			t.Error("nothing waits")
		}
		c.Session.Close(wire.CloseNormal, "")
		release()
		time.Sleep(time.Second)
		if q := &c.Session.queue; q.presence != 0 || q.deliveries != 0 || q.charge != 0 {
			t.Errorf("%d bytes are left of %d", q.presence, q.deliveries)
		}
		equal(t, "deliveries were dropped", r.hub.Metrics().Dropped["closed"], 0)
	})
}

// Patterns that are watched are bounded: of an edge, of a tenant, of a client.
func TestWatchedPatterns(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPatterns, l.MaxPatternsPerTenant = 6, 2 }), func(r *rig) {
		r.setPresence("room.#")
		c, other := r.connectAs("ann"), r.connectAs("bob")
		c.send("WHO:t:room.a", "WHO:t:room.b:count", "WHO:t:room.c", "WHO:u:room.c")
		c.expectAnswers("OK:WHO:t:room.a", "OK:WHO:t:room.b", "ERR:too_many_patterns:WHO:t:room.c", "OK:WHO:u:room.c")
		other.send("WHO:t:room.a", "WHO:t:room.a:count", "WHO:t:room.*", "WHO:u:room.*", "WHO:v:room.a", "WHO:v:room.b", "WHO:w:room.b")
		other.expectAnswers("OK:WHO:t:room.a", "ERR:bad_request:WHO:t:room.a", "ERR:too_many_patterns:WHO:t:room.*", "OK:WHO:u:room.*",
			"OK:WHO:v:room.a", "OK:WHO:v:room.b", "ERR:too_many_patterns:WHO:w:room.b")
		c.send("UNWHO:t:room.b", "WHO:t:room.c")
		c.expectAnswers("OK:UNWHO:t:room.b", "OK:WHO:t:room.c")
	})
	inBubble(t, fastLimits(), func(r *rig) {
		r.setPresence("room.#")
		for i := range 8 {
			c := r.connectAs(fmt.Sprint("user-", i))
			for j := range maxWildWatched {
				c.send(fmt.Sprintf("WHO:t:room.%d.%d.*", i, j))
			}
			c.take()
			c.send("WHO:t:room.x.*", "WHO:t:room.x")
			c.expectAnswers("ERR:too_many_patterns:WHO:t:room.x.*", "OK:WHO:t:room.x")
		}
		c := r.connectAs("one more")
		c.send("WHO:t:room.x.*", "WHO:t:room.0.0.*", "WHO:u:room.x.*") // of the tenant: 256
		c.expectAnswers("ERR:too_many_patterns:WHO:t:room.x.*", "OK:WHO:t:room.0.0.*", "OK:WHO:u:room.x.*")
	})
}

// presenceQueued is how many bytes about presence wait for a client.
func (c *client) presenceQueued() int {
	c.Session.mu.Lock()
	defer c.Session.mu.Unlock()
	return c.Session.queue.presence
}

// answers are the lines that a client got, without frames.
func (c *client) answers() (lines []string) {
	for _, got := range c.take() {
		if strings.HasPrefix(got, "OK:") || strings.HasPrefix(got, "ERR:") {
			lines = append(lines, got)
		}
	}
	return lines
}

// expectAnswers expects these answers, the last ones, in any order.
func (c *client) expectAnswers(want ...string) {
	c.rig.Helper()
	got := c.answers()
	got = got[max(0, len(got)-len(want)):]
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		c.rig.Errorf("got %q\nwant %q", got, want)
	}
}
