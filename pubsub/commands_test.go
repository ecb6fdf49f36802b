package pubsub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// slowHook takes a second to allow what is not called fast.
func slowHook() *recordingHook {
	return &recordingHook{subscribe: func(ctx context.Context, s hook.Subscription) error {
		if !strings.HasSuffix(s.Pattern, "fast") {
			sleep(time.Second, ctx.Done())
		}
		return nil
	}}
}

// okAndErr are the ERR lines that have arrived, and the OK lines, which they may overtake.
func (c *client) okAndErr() string {
	var errs, oks []string
	for _, l := range c.takeShort() {
		switch {
		case strings.HasPrefix(l, "ERR:"):
			errs = append(errs, l)
		case strings.HasPrefix(l, "OK:"):
			oks = append(oks, l)
		}
	}
	return strings.Join(append(errs, oks...), " ")
}

// What follows about a pattern that hooks are asked about is carried out in order after that, and the
// connection goes on.
func TestCommandsWaitForTheirPattern(t *testing.T) {
	for _, c := range []struct {
		lines, want string
		questions   int
	}{
		{"SUB:t:chat.a UNSUB:t:chat.a", "OK:SUB:t:chat.a OK:UNSUB:t:chat.a", 1},
		{"SUB:t:chat.a SUB:t:chat.a", "OK:SUB:t:chat.a OK:SUB:t:chat.a", 1},
		{"SUB:t:chat.a UNSUB:t:chat.a SUB:t:chat.a", "OK:SUB:t:chat.a OK:UNSUB:t:chat.a OK:SUB:t:chat.a", 2},
		{"RSUB:t:chat.a:now UNSUB:t:chat.a", "OK:RSUB:t:chat.a:@0:complete OK:UNSUB:t:chat.a", 1},
		{"RSUB:t:chat.a:now SUB:t:chat.a", "ERR:bad_request:SUB:t:chat.a OK:RSUB:t:chat.a:@0:complete", 1},
		{"SUB:t:chat.a RSUB:t:chat.a:now UNSUB:t:chat.a", "ERR:bad_request:RSUB:t:chat.a OK:SUB:t:chat.a OK:UNSUB:t:chat.a", 1},
		{"JOIN:t:chat.a LEAVE:t:chat.a", "OK:JOIN:t:chat.a OK:LEAVE:t:chat.a", 1},
		{"JOIN:t:chat.a LEAVE:t:chat.a JOIN:t:chat.a", "OK:JOIN:t:chat.a OK:LEAVE:t:chat.a OK:JOIN:t:chat.a", 2},
		{"WHO:t:chat.a UNWHO:t:chat.a", "OK:WHO:t:chat.a OK:UNWHO:t:chat.a", 1},
		{"WHO:t:chat.a WHO:t:chat.a", "ERR:bad_request:WHO:t:chat.a OK:WHO:t:chat.a", 1},
	} {
		t.Run(c.lines, func(t *testing.T) {
			withHistory(t, fastLimits(), func(r *rig) {
				r.setPresence("chat.#")
				client, other := r.connectAs("ann"), r.connect("other")
				other.ok("SUB:t:b")
				r.withHooks(slowHook())
				begin := time.Now()
				client.send(strings.Split(c.lines, " ")...)
				client.publish("t", "b", "hello")
				client.answer("PING", "PONG")
				other.expect("t/b=hello [b]")
				equal(t, "time until that", time.Since(begin), 0)
				time.Sleep(time.Duration(c.questions) * time.Second)
				equal(t, "answers", client.okAndErr(), c.want)
				equal(t, "bytes of commands that are still counted", r.hub.amounts[dividedCommands].Load(), 0)
			})
		})
	}
}

// A subscription with a stream of its own is one of the same pattern.
func TestCommandsOfStreamsWaitToo(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		r.withHooks(slowHook())
		c := r.connectStreams("x")
		c.stream("SUB:U:t:chat.a")
		c.answer("RSUB:t:chat.a:now")
		time.Sleep(time.Second)
		c.own(0).inner.expect("OK:SUB:t:chat.a")
		c.expect("ERR:bad_request:RSUB:t:chat.a")
	})
}

// An UNSUB that does not say which stream it means waits to learn it, too.
func TestUnsubOfAnyStream(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.withHooks(slowHook())
		c := r.connectStreams("x")
		c.stream("SUB:U:t:a")
		c.HandleUnsub([]byte("UNSUB:t:a"))
		time.Sleep(time.Second)
		c.own(0).inner.expect("OK:SUB:t:a")
		c.expect("OK:UNSUB:t:a")
		equal(t, "subscriptions", len(c.subscriptions), 0)
	})
}

// Subscriptions beyond those that hooks are asked about wait for these, and the connection does not.
func TestFurtherSubscriptionsWait(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.withHooks(slowHook())
		c := r.connect("x")
		var want []string
		for i := range 3*hook.MaxAsked + 1 {
			line := fmt.Sprintf("SUB:t:%02d", i)
			c.send(line, "UN"+line)
			want = append(want, "OK:"+line, "OK:UN"+line)
		}
		c.answer("PING", "PONG")
		time.Sleep(4 * time.Second)
		got := c.take()
		slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(a[len(a)-2:], b[len(b)-2:]) })
		if !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		equal(t, "workers", c.commands.workers, 0)
		equal(t, "queues", len(c.commands.queues), 0)
	})
}

// A command without room, of the connection, the token or the edge, waits on the connection, and
// nothing is lost.
func TestQueuedCommandsAreBounded(t *testing.T) {
	for _, full := range []string{"connection", "token", "edge"} {
		t.Run(full, func(t *testing.T) {
			inBubble(t, fastLimits(), func(r *rig) {
				r.withHooks(slowHook())
				c := r.connect("x")
				cost := (&command{key: subscriptionKey{tenant: "t", pattern: "a"}}).cost()
				fits := maxQueuedCommands / cost
				switch full {
				case "token":
					fits = 2
					r.hub.tokens["x"].own.amounts[dividedCommands].Store(int64(maxQueuedCommandsOfAll - 2*fits*cost))
				case "edge":
					fits = 2
					r.hub.amounts[dividedCommands].Store(int64(maxQueuedCommandsOfAll - 2*fits*cost))
				}
				before := r.hub.amounts[dividedCommands].Load()
				c.send("SUB:t:a")
				begin := time.Now()
				for range fits {
					c.send("SUB:t:a")
				}
				equal(t, "time for what has room", time.Since(begin), 0)
				c.send("UNSUB:t:a")
				equal(t, "time for what has none", time.Since(begin), time.Second)
				want := strings.Repeat("OK:SUB:t:a ", fits+1) + "OK:UNSUB:t:a"
				equal(t, "answers", c.okAndErr(), want)
				equal(t, "bytes of commands that are still counted", r.hub.amounts[dividedCommands].Load(), before)
			})
		})
	}
}

// The session may end while commands wait: no hook is asked any more, and nothing stays counted.
func TestSessionEndsWhileCommandsWait(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := slowHook()
		r.withHooks(h)
		c := r.connect("x")
		c.readers.Go(func() {
			for range maxQueuedCommands / 100 { // it waits with one of them
				c.HandleLine([]byte("SUB:t:a"))
			}
		})
		synctest.Wait()
		r.hub.TokenRevoked("x")
		expectCalls(t, h, "subscribe? t:a")
		c.expectClose(wire.CloseForbidden)
		equal(t, "bytes of commands that are still counted", r.hub.amounts[dividedCommands].Load(), 0)
		equal(t, "questions that are still counted", r.hub.amounts[dividedAsks].Load(), 0)
	})
}

// What changes while commands wait holds for them: the token's expiry, hooks and histories.
func TestChangesWhileCommandsWait(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		h := slowHook()
		r.withHooks(h)
		c := r.connect("x")
		r.hub.TokenRenewed("x", time.Now().Add(1500*time.Millisecond), 2)
		c.send("SUB:t:chat.a", "UNSUB:t:chat.a", "RSUB:t:chat.a:now", "UNSUB:t:chat.a", "SUB:t:chat.a")
		time.Sleep(time.Second)
		r.hub.TokenRenewed("x", time.Now().Add(time.Hour), 3)
		equal(t, "answers", c.okAndErr(), "OK:SUB:t:chat.a OK:UNSUB:t:chat.a")
		must(t, r.hub.SetHistories(nil, nil))
		r.withHooks()
		time.Sleep(time.Second)
		equal(t, "answers", c.okAndErr(), "ERR:no_history:RSUB:t:chat.a OK:UNSUB:t:chat.a OK:SUB:t:chat.a")
		expectCalls(t, h, "subscribe? t:chat.a", "subscribed t:chat.a", "unsubscribed t:chat.a", "subscribe? t:chat.a positions")
		c.answer("PING", "PONG")
	})
}

// No command overtakes one about its pattern that waits for the share of the tenant.
func TestCommandsWaitForTheShareInOrder(t *testing.T) {
	for _, hooks := range [][]*recordingHook{nil, {{}}} {
		t.Run(fmt.Sprintf("hooks=%d", len(hooks)), func(t *testing.T) {
			withHistory(t, fastLimits(), func(r *rig) {
				for _, h := range hooks {
					r.withHooks(h)
				}
				c := r.connect("x")
				giveBack := r.takeTurns("t")
				lines := []string{"SUB:t:chat.a", "UNSUB:t:chat.a", "RSUB:t:chat.a:now", "UNSUB:t:chat.a", "SUB:t:chat.a"}
				c.readers.Go(func() {
					for _, line := range lines {
						c.HandleLine([]byte(line))
					}
				})
				time.Sleep(time.Minute)
				equal(t, "answers", c.okAndErr(), "")
				giveBack()
				synctest.Wait()
				want := "OK:SUB:t:chat.a OK:UNSUB:t:chat.a OK:RSUB:t:chat.a:@0:complete OK:UNSUB:t:chat.a OK:SUB:t:chat.a"
				equal(t, "answers", c.okAndErr(), want)
			})
		})
	}
}

// What changes while a command waits for the share of the tenant holds for it: limits, and hooks.
func TestChangesWhileCommandsWaitForTheShare(t *testing.T) {
	none := func(r *rig) { r.hub.SetLimits(with(func(l *Limits) { l.MaxSubscriptions = 0 })) }
	refuse := func(r *rig) {
		r.withHooks(&recordingHook{subscribe: func(context.Context, hook.Subscription) error {
			return &hook.Refusal{Code: wire.CodePermissionDenied}
		}})
	}
	allow := func(r *rig) { r.withHooks(&recordingHook{}) }
	for _, c := range []struct {
		before, change func(*rig)
		want           string
	}{
		{func(*rig) {}, none, "ERR:too_many_subscriptions:SUB:t:a"},
		{allow, none, "ERR:too_many_subscriptions:SUB:t:a"},
		{func(*rig) {}, refuse, "ERR:permission_denied:SUB:t:a"},
	} {
		inBubble(t, fastLimits(), func(r *rig) {
			c.before(r)
			client := r.connect("x")
			giveBack := r.takeTurns("t")
			client.readers.Go(func() { client.HandleLine([]byte("SUB:t:a")) })
			synctest.Wait()
			c.change(r)
			giveBack()
			synctest.Wait()
			equal(t, "answer", client.okAndErr(), c.want)
		})
	}
}
