package pubsub

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("a", 1025)
	for _, c := range []struct{ line, want string }{
		{"SUB:t:a.*", "OK:SUB:t:a.*"},
		{"SUB::a", "OK:SUB:~:a"},
		{"SUB:t:a\n", "OK:SUB:t:a"},
		{"UNSUB:t:never", "OK:UNSUB:t:never"},
		{"PING", "PONG"},
		{"SUB:t", "ERR:bad_request"},
		{"", "ERR:bad_request"},
		{long, "ERR:bad_request"},
		{`{"action":"subscribe"}`, "ERR:bad_request"},
		{"AUTH:AT_0_0", "ERR:bad_request"},
		{"sub:t:a", "ERR:bad_request"},
		{"SUB:T ENANT:a", "ERR:bad_tenant"},
		{"SUB:t:a#b", "ERR:bad_pattern"},
		{"SUB:t:", "ERR:bad_pattern"},
		{"UNSUB:t:*a", "ERR:bad_pattern"},
		{"SUB:t:no.entry", "ERR:permission_denied:SUB:t:no.entry"},
		{"FEATURES:", "ERR:bad_request"},
		{"FEATURES:LINK", "ERR:bad_request"},
		{"FEATURES:a,,b", "ERR:bad_request"},
		{"FEATURES:a b", "ERR:bad_request"},
	} {
		inBubble(t, fastLimits(), func(r *rig) {
			cl := r.connect("x")
			cl.answer(c.line, c.want)
		})
	}
}

func TestFrames(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPayload = 10 }), func(r *rig) {
		c := r.connect("x")
		c.ok("SUB:t:#", "SUB:~:#")
		for _, p := range []struct{ tenant, channel, payload, want string }{
			{"t", "a", "0123456789", "t/a=0123456789 [#]"},
			{"t", "a", "", "t/a= [#]"},
			{"", "a", "x", "~/a=x [#]"},
			{"t", "a", "0123456789x", "ERR:payload_too_large:PUB:t:a"},
			{"t", "no", "", "ERR:permission_denied:PUB:t:no"},
			{"t", "a..b", "", "ERR:bad_channel"},
			{"t", "a*", "", "ERR:bad_channel"},
			{"a:b", "a", "", "ERR:bad_tenant"},
		} {
			c.publish(p.tenant, p.channel, p.payload)
			c.expect(p.want)
		}
		for _, broken := range [][]byte{nil, {0}, {1, 2, 3}, []byte("SUB:t:a"), {2, 3, 0, 1, 't', 0, 1, 'a'}} {
			c.HandleFrame(broken)
			c.expect("ERR:bad_frame")
		}
	})
}

func TestBrokenMessagesInARow(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("x")
		for range MaxBroken - 1 {
			c.send("{}")
		}
		c.send("PING") // does not reset the count
		c.send("SUB:t:a#b")
		for range MaxBroken - 1 { // but any other well-formed message does
			c.HandleFrame([]byte{9})
		}
		c.count(2*(MaxBroken-1) + 2)
		c.expectClose(0)
		c.answer("{}", "ERR:bad_request")
		c.expectClose(wire.ClosePolicy)
	})
}

func TestSubscriptionLimits(t *testing.T) {
	limits := fastLimits()
	limits.MaxSubscriptions = 2
	inBubble(t, limits, func(r *rig) {
		c := r.connect("x")
		c.ok("SUB:t:a", "SUB:t:b", "SUB:t:b")
		c.answer("SUB:t:c", "ERR:too_many_subscriptions:SUB:t:c")
		c.ok("UNSUB:t:a", "SUB:t:c")
	})
	limits.MaxSubscriptions = 65535
	inBubble(t, limits, func(r *rig) {
		c := r.connect("x")
		tail := strings.Repeat("a", 250)
		for i := range MaxPatternBytes / 256 {
			c.send(fmt.Sprintf("SUB:t:%05d.%s", i, tail))
		}
		c.take()
		c.answer("SUB:t:a", "ERR:too_many_subscriptions:SUB:t:a")
		c.send("UNSUB:t:00000."+tail, "SUB:t:a")
		c.expect("OK:UNSUB:t:00000."+tail, "OK:SUB:t:a")
	})
}

func TestRevocationAndExpiry(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		revoked, expired, refreshed, bystander := r.connect("a"), r.connect("b"), r.connect("c"), r.connect("d")
		r.hub.TokenRenewed("d", time.Now().Add(3*time.Hour), 2)
		r.hub.TokenRevoked("a")
		revoked.ends(wire.CloseForbidden, "ERR:token_revoked")

		expired.after(59 * time.Minute)
		r.hub.TokenRenewed("c", time.Now().Add(time.Hour), 3)
		r.hub.TokenRenewed("c", time.Now(), 2) // older than what is known
		expired.after(time.Minute, "ERR:token_expired")
		expired.expectClose(wire.CloseUnauthorized)
		refreshed.expect()
		refreshed.after(59*time.Minute, "ERR:token_expired")
		bystander.ends(0)
	})
}

// What a client sends after its token was revoked is too late, also if its
// reader was waiting for it already.
func TestNothingIsHandledAfterRevocation(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		revoked, other := r.connect("a"), r.connect("b")
		other.ask("SUB:t:#")
		r.hub.TokenRevoked("a")
		revoked.publish("t", "x", "late")
		revoked.HandleLine([]byte("SUB:t:#"))
		other.expect()
		if n := r.broker.count("t:#"); n != 1 || len(revoked.subscriptions) != 0 {
			t.Error("a revoked session subscribed")
		}
	})
}

// A clock that is set back while a token runs out does not make it eternal.
func TestExpiryTimerTooEarly(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.expiryTimer.Stop()
		c.expire() // as its timer would, by a clock that ran ahead
		c.after(time.Hour, "ERR:token_expired")
	})
}

// A session that is revoked between its registration and its upgrade says why
// as soon as it can.
func TestRevokedBeforeAttached(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, err := r.attach(Identity{TokenID: "a"}, Client{}, func(c *client) Transport {
			r.hub.TokenRevoked("a")
			return c
		})
		must(t, err)
		equal(t, "a revoked session is read from", c.Ready(time.Hour), false)
		c.ends(wire.CloseForbidden, "ERR:token_revoked")
	})
}

func TestAdmissionLimits(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxConnections, l.MaxConnectionsPerToken = 3, 2 }), func(r *rig) {
		a := r.connect("a")
		r.connect("a")
		if _, err := r.admit("a"); err != ErrTokenFull {
			t.Errorf("third connection of a token: %v", err)
		}
		r.connect("b")
		if _, err := r.admit("c"); err != ErrFull {
			t.Errorf("fourth connection: %v", err)
		}
		a.Session.Close(wire.CloseNormal, "")
		time.Sleep(time.Second)
		r.connect("a")
		equal(t, "Available", r.hub.Available(), ErrFull)
	})
}

func TestStalledClientIsCutAndLeavesNothing(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.block()
		c.send("SUB:t:a")
		synctest.Wait()
		r.hub.TokenRevoked("a")
		time.Sleep(closeGrace + time.Second)
		c.mu.Lock()
		if !c.aborted {
			t.Error("a client that does not read was not cut")
		}
		c.mu.Unlock()
		equal(t, "sessions remain", len(r.hub.Stats()), 0)
		r.hub.tenantsMu.Lock()
		equal(t, "tenants left", len(r.hub.tenants), 0)
		r.hub.tenantsMu.Unlock()
	})
}

// A client that sends and never reads is not read from once 64 KiB of answers
// wait, whatever they are.
func TestFloodIsHeldBack(t *testing.T) {
	for _, line := range []string{"PING", "SUB:t:a", "{}", "SUB:t:no"} {
		inBubble(t, fastLimits(), func(r *rig) {
			c := r.connect("a")
			release := c.block()
			sent := 0
			done := make(chan struct{})
			r.hub.Go(func() {
				defer close(done)
				for sent = 0; sent < 100_000 && c.Ready(time.Hour); sent++ {
					c.broken = 0
					c.HandleLine([]byte(line))
				}
			})
			synctest.Wait()
			if sent >= 100_000 {
				t.Fatalf("%s: all messages were read", line)
			}
			if n := r.hub.Stats()[0].QueuedBytes; n > 2*MaxControlBacklog {
				t.Errorf("%s: %d bytes of answers wait", line, n)
			}
			release() // it reads again: everything gets its answer
			<-done
			if got := len(c.take()); got != 100_000 {
				t.Errorf("%s: %d answers", line, got)
			}
		})
	}
}

func TestBrokerLinkBroken(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, other := r.connect("a"), r.connect("b")
		c.ok("SUB:t:#")
		r.broker.link(false)
		c.expect() // clients that are not affected hear nothing of it
		c.send("SUB:t:a")
		c.publish("t", "a", "x")
		c.expect("ERR:broker_unavailable", "OK:SUB:t:a", "t/a=x [# a]")
		c.send("SUB:t:b") // once in each outage
		c.expect("OK:SUB:t:b")
		other.send("SUB:t:a") // the interest was announced before
		other.expect("ERR:broker_unavailable", "OK:SUB:t:a")

		r.broker.link(true)
		c.publish("t", "c", "x")
		c.answer("SUB:t:c", "t/c=x [#]", "OK:SUB:t:c")
		r.broker.link(false)
		c.publishAll("t", "z=x", "z=y")
		c.expect("ERR:broker_unavailable", "t/z=x [#]", "t/z=y [#]")
		c.ok("SUB:t:d")
		c.publishAs(wire.OneNearest, "t", "z", "here") // needs no other edge
		if got := append(c.take(), other.take()...); len(got) != 1 || got[0] != "t/z=here [#]" {
			t.Errorf("got %q", got)
		}
	})
}

// When the link takes less than is published to a tenant, only who publishes to it
// hears of it, once until that is over.
func TestTenantOverload(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		loud, other := r.connect("a"), r.connect("b")
		r.broker.full = "loud"
		loud.publishAll("loud", "a=x", "a=x")
		loud.expect("ERR:broker_unavailable")
		other.send("SUB:quiet:a", "SUB:loud:a")
		other.publish("quiet", "a", "x")
		other.expect("OK:SUB:quiet:a", "OK:SUB:loud:a", "quiet/a=x [a]")
		loud.send("SUB:quiet:b") // which works
		loud.expect("OK:SUB:quiet:b")
		other.publishAs(wire.OneNearest, "loud", "b", "x")
		other.expect("ERR:broker_unavailable")
		if m := r.hub.Metrics(); !m.Linked || m.Unsent != 3 {
			t.Errorf("linked: %v, %d messages unsent", m.Linked, m.Unsent)
		}

		for range 5 { // it is one overload
			time.Sleep(overloadTime)
			loud.publish("loud", "b", "x")
		}
		loud.expect()
		time.Sleep(overloadTime + 1)
		loud.publish("loud", "b", "x")
		loud.expect("ERR:broker_unavailable")
		r.broker.link(false) // an outage of its own
		loud.publish("quiet", "c", "x")
		loud.expect("ERR:broker_unavailable")
	})
}

// A subscription is acknowledged when the broker has confirmed its interest.
func TestSlowConfirmation(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.broker.slow = true
		a, b := r.connect("a"), r.connect("b")
		a.send("SUB:t:x", "SUB:t:x", "SUB:t:y", "PING")
		b.send("SUB:t:x")
		a.publish("t", "x", "early")
		a.expect("PONG", "t/x=early [x]")
		b.expect("t/x=early [x]")
		r.broker.confirm()
		a.expect("OK:SUB:t:x", "OK:SUB:t:x", "OK:SUB:t:y")
		b.expect("OK:SUB:t:x")
		a.send("SUB:t:x") // known by now
		a.expect("OK:SUB:t:x")

		a.send("SUB:t:z", "UNSUB:t:z", "SUB:t:z")
		a.expect("OK:SUB:t:z", "OK:UNSUB:t:z")
		a.publish("t", "z", "again")
		a.expect("t/z=again [z]")
		r.broker.confirm() // the first one's is given too, and changes nothing
		a.expect("OK:SUB:t:z")

		b.send("SUB:t:w")
		b.Session.Close(wire.CloseNormal, "")
		b.take()
		r.broker.confirm()
		a.send("SUB:t:w")
		r.broker.link(false)
		a.expect("ERR:broker_unavailable", "OK:SUB:t:w")
	})
}

func TestInterestsFollowSubscribers(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		a, b := r.connect("a"), r.connect("b")
		a.send("SUB:t:x", "SUB:t:x")
		b.send("SUB:t:x")
		equal(t, "interests announced for one pattern", r.broker.count("t:x"), 1)
		a.send("UNSUB:t:x")
		equal(t, "interests while a subscriber is left", r.broker.count("t:x"), 1)
		b.vanish()
		equal(t, "interests left after the last subscriber", r.broker.count("t:x"), 0)
	})
}
