package pubsub

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// tryClient is a client whose transport can be written without waiting.
type tryClient struct {
	*client
	held   []Outgoing // what TryWrite could not write
	stuck  bool       // it can write nothing now
	full   int        // it can write no message that is larger; 0: all
	broken bool
	tries  int
	writes int
	takes  time.Duration // each TryWrite
}

func (c *tryClient) TryWrite(msgs []Outgoing) (bool, error) {
	c.tries++
	time.Sleep(c.takes)
	switch {
	case c.broken:
		return false, errors.New("broken")
	case c.stuck, c.full > 0 && len(msgs[0].Data) > c.full:
		c.held = append(c.held, msgs...)
		return false, nil
	}
	return true, c.client.Write(msgs)
}

func (c *tryClient) Write(msgs []Outgoing) error {
	c.writes++
	held := c.held
	c.held = nil
	return c.client.Write(append(held, msgs...))
}

func (r *rig) connectTry(token string) (c *tryClient) {
	r.Helper()
	_, err := r.attach(Identity{TokenID: token}, Client{Transport: "test"}, func(inner *client) Transport {
		c = &tryClient{client: inner}
		return c
	})
	must(r, err)
	return c
}

// A client that cannot be written to now gets what it missed in order, and holds
// up nobody.
func TestOneOfManyIsStuck(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		var all []*tryClient
		for range 3 * flushListLen / 2 {
			c := r.connectTry("s")
			c.ok("SUB:t:#")
			c.writes = 0
			all = append(all, c)
		}
		stuck := all[flushListLen/2]
		release := stuck.block()
		stuck.stuck = true
		p := r.connect("p")
		want := []string{}
		for i := range 3 {
			p.publish("t", "a", fmt.Sprint(i))
			line := fmt.Sprintf("t/a=%d [#]", i)
			want = append(want, line)
			for _, c := range all {
				if c != stuck {
					c.expect(line)
				}
			}
		}
		stuck.expect()
		stuck.stuck = false
		release()
		stuck.expect(want...)
		p.publish("t", "a", "x")
		for _, c := range all {
			c.expect("t/a=x [#]")
			if c.tries == 0 || c != stuck && c.writes > 0 {
				t.Fatalf("%d tries, and %d writes that might have waited", c.tries, c.writes)
			}
		}
	})
}

func TestTryWriteFails(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.connectTry("s"), r.connect("p")
		c.ok("SUB:t:#")
		c.broken = true
		p.publish("t", "a", "x")
		<-c.finished
		if !c.Closing() || !c.aborted {
			t.Error("a session whose transport is broken goes on")
		}
	})
}

// What ends a session finds it also while it waits among many to be written.
func TestStuckSessionEnds(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c, p := r.connectTry("s"), r.connect("p")
		c.ok("SUB:t:#")
		c.stuck = true
		release := c.block()
		p.publish("t", "a", "x")
		c.expect()
		r.hub.TokenRevoked("s")
		time.Sleep(time.Second)
		release()
		c.ends(wire.CloseForbidden, "t/a=x [#]", "ERR:token_revoked")
	})
	inBubble(t, fastLimits(), func(r *rig) { // and is cut if nothing moves
		c, p := r.connectTry("s"), r.connect("p")
		c.ok("SUB:t:#")
		c.stuck = true
		c.block()
		p.publish("t", "a", "x")
		c.expect()
		r.hub.TokenRevoked("s")
		start := time.Now()
		<-c.finished
		equal(t, "time until it is cut", time.Since(start), closeGrace)
	})
}

// Over its cap, a session is written by a writer of its own, which may wait.
func TestCapWithTryWriter(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 8 }), func(r *rig) {
		c, p := r.connectTry("s"), r.connect("p")
		c.ok("SUB:t:#")
		p.handle(80, framed("t", 1024-costOverhead-6))
		within(t, arrive(80, c.client), 10*time.Second)
	})
}
