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
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/wire"
)

// presenceText shows a presence frame.
func presenceText(b []byte) string {
	p, err := wire.DecodePresence(b)
	if err != nil {
		return err.Error()
	}
	text := p.Tenant + ":" + p.Pattern
	for flag, is := range map[string]bool{" synced": p.Synced && !p.First, " again": p.First && p.Synced, " first": p.First && !p.Synced} {
		if is {
			text += flag
		}
	}
	for _, m := range p.Members {
		sign := " -"
		if m.Here {
			sign = " +"
		}
		text += sign + m.Channel + "/" + m.Subject
	}
	for _, c := range p.Channels {
		text += fmt.Sprintf(" %s=%d", c.Channel, c.Members)
	}
	return text
}

func (r *rig) setPresence(channels ...string) {
	r.Helper()
	var definitions []presence.Definition
	if len(channels) > 0 {
		definitions = append(definitions, presence.Definition{Name: "rooms", Channels: channels, Members: 3, Linger: 15 * time.Second})
	}
	set, err := presence.NewSet(definitions)
	must(r, err)
	r.hub.SetPresences(set)
}

// expectAll is expect in any order.
func (c *client) expectAll(want ...string) {
	c.rig.Helper()
	got := c.take()
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		c.rig.Errorf("got %q\nwant %q", got, want)
	}
}

// expectEntries expects presence frames of ~:room.* with these entries, in any number of frames.
func (c *client) expectEntries(want string) {
	c.rig.Helper()
	got := strings.ReplaceAll(strings.Join(c.take(), ""), "~:room.* ", " ")
	if got = strings.TrimSpace(got); got != want {
		c.rig.Errorf("got %q, want %q", got, want)
	}
}

func TestPresenceLines(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		ann, bob, nobody := r.connectAs("ann"), r.connectAs("bob"), r.connect("none")
		ann.send("JOIN:t:room.a", "FEATURES")
		ann.expect("ERR:bad_request", "FEATURES:link,sender")
		r.setPresence("room.#", "hidden.#", "no.#")
		ann.answer("FEATURES", "FEATURES:link,sender,presence")
		bob.send("WHO:t:room.*", "WHO:t:room.a:count")
		time.Sleep(2 * time.Second)
		if got := bob.take(); len(got) != 4 || got[0] != "OK:WHO:t:room.*" {
			t.Errorf("%q", got)
		}
		ann.ok("JOIN:t:room.a", "JOIN:t:room.a")
		time.Sleep(time.Second)
		if got := fmt.Sprint(bob.take()); got != "[t:room.* +room.a/ann t:room.a room.a=1]" && got != "[t:room.a room.a=1 t:room.* +room.a/ann]" {
			t.Error(got)
		}
		bob.ok("UNWHO:t:room.a", "UNWHO:t:room.a")
		ann.ok("LEAVE:t:room.a", "LEAVE:t:room.a")
		bob.after(time.Second, "t:room.* -room.a/ann")

		for line, want := range map[string]string{
			"JOIN:t:room.*": "ERR:bad_channel", "JOIN:t:": "ERR:bad_channel", "JOIN:t/:room.a": "ERR:bad_tenant", "WHO:t:a..b": "ERR:bad_pattern",
			"JOIN:t": "ERR:bad_request", "WHO:t:room.a:counts": "ERR:bad_request", "WHO:t:room.a:count:": "ERR:bad_request",
			"JOIN:t:hall": "ERR:no_presence:JOIN:t:hall", "WHO:t:#": "ERR:no_presence:WHO:t:#", "JOIN:t:no.a": "ERR:permission_denied:JOIN:t:no.a",
			"WHO:t:hidden.a": "ERR:permission_denied:WHO:t:hidden.a", "WHO:t:no.a:count": "ERR:permission_denied:WHO:t:no.a",
			"WHO:t:room.*": "ERR:bad_request:WHO:t:room.*",
		} {
			bob.answer(line, want)
		}
		bob.send("WHO:t:hidden.a:count")
		bob.after(time.Second, "OK:WHO:t:hidden.a", "t:hidden.a again")
		nobody.answer("JOIN:t:room.a", "ERR:no_subject:JOIN:t:room.a")
	})
}

// Counts are told once a second at most, however often they change.
func TestPresenceCountsPause(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.setPresence("room.#")
		ann, bob := r.connectAs("ann"), r.connectAs("bob")
		bob.send("WHO:t:room.a:count")
		bob.after(time.Second, "OK:WHO:t:room.a", "t:room.a again")
		for range 25 {
			ann.send("JOIN:t:room.a")
			time.Sleep(100 * time.Millisecond)
			ann.send("LEAVE:t:room.a")
			time.Sleep(100 * time.Millisecond)
		}
		if got := bob.take(); len(got) < 4 || len(got) > 6 {
			t.Errorf("50 changes in 5 s are told in %d frames: %q", len(got), got)
		}
	})
}

func TestPresenceOfSessions(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.setPresence("room.#")
		watcher := r.connectAs("eve")
		watcher.send("WHO::room.*")
		watcher.after(time.Second, "OK:WHO:~:room.*", "~:room.* again")
		ann, again, bob := r.connectAs("ann"), r.connectAs("ann"), r.connectAs("bob")
		for _, c := range []*client{ann, again, bob} {
			c.answer("JOIN::room.a", "OK:JOIN:~:room.a")
		}
		time.Sleep(time.Second)
		watcher.expectEntries("+room.a/ann +room.a/bob")
		ann.Session.Close(wire.CloseNormal, "")
		bob.Session.Close(wire.CloseNormal, "")
		watcher.after(14 * time.Second) // bob lingers
		time.Sleep(2 * time.Second)
		watcher.expect("~:room.* -room.a/bob")
		r.hub.TokenRevoked("token of ann")
		watcher.after(time.Second, "~:room.* -room.a/ann") // at once

		for _, name := range []string{"a", "b", "c"} {
			c := r.connectAs(name)
			c.answer("JOIN::room.b", "OK:JOIN:~:room.b")
		}
		d := r.connectAs("d")
		d.answer("JOIN::room.b", "ERR:too_many_members:JOIN:~:room.b")
	})
}

// JOIN and WHO count for the limits of a connection.
func TestPresenceLimits(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxSubscriptions = 3 }), func(r *rig) {
		r.setPresence("room.#")
		ann := r.connectAs("ann")
		ann.send("JOIN:t:room.a", "WHO:t:room.*", "SUB:t:x", "WHO:t:room.b", "JOIN:t:room.b", "SUB:t:y")
		time.Sleep(time.Second)
		ann.expectAll("ERR:too_many_subscriptions:WHO:t:room.b", "ERR:too_many_subscriptions:JOIN:t:room.b", "ERR:too_many_subscriptions:SUB:t:y",
			"OK:JOIN:t:room.a", "OK:WHO:t:room.*", "OK:SUB:t:x", "t:room.* again +room.a/ann")
		ann.send("LEAVE:t:room.a", "WHO:t:room.b")
		time.Sleep(2 * time.Second)
		ann.expectAll("OK:LEAVE:t:room.a", "OK:WHO:t:room.b", "t:room.b again", "t:room.* -room.a/ann")
	})
}

// Who is revoked and does not read its close is not present until its connection is cut.
func TestPresenceOfRevoked(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.setPresence("room.#")
		ann, bob := r.connectAs("ann"), r.watching("bob", "WHO:t:room.*")
		ann.ask("JOIN:t:room.a")
		bob.after(time.Second, "t:room.* +room.a/ann")
		ann.block() // until it is cut
		r.hub.TokenRevoked("token of ann")
		bob.after(closeGrace/4, "t:room.* -room.a/ann")
	})
}

// A token store holds locks while it reports a revocation, which therefore waits for no
// session's change of subscriptions.
func TestRevocationWaitsForNothing(t *testing.T) {
	r := newRig(t, fastLimits())
	defer r.close()
	one, two, revoked := r.connectAs("ann"), r.connectAs("ann"), make(chan struct{})
	one.subscribing.Lock()
	two.subscribing.Lock()
	go func() {
		defer close(revoked)
		r.hub.TokenRevoked("token of ann")
	}()
	select {
	case <-revoked:
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
	for _, c := range []*client{one, two} {
		c.subscribing.Unlock()
		<-c.Done()
	}
	<-revoked
}

// A reload ends what no presence contains any more, and says so.
func TestPresenceReload(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.setPresence("room.#", "hall")
		ann := r.connectAs("ann")
		ann.send("JOIN:t:room.a", "JOIN:t:hall", "WHO:t:room.a", "WHO:t:hall")
		time.Sleep(time.Second)
		ann.take()
		ended := func(channel string) {
			t.Helper()
			time.Sleep(time.Second)
			// Her watch may see her leave before it ends.
			got := slices.DeleteFunc(ann.take(), func(text string) bool { return text == "t:"+channel+" -"+channel+"/ann" })
			if want := []string{"ERR:no_presence:JOIN:t:" + channel, "ERR:no_presence:WHO:t:" + channel}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		r.setPresence("hall")
		ended("room.a")
		r.setPresence()
		ended("hall")
		ann.answer("WHO:t:hall", "ERR:bad_request")
		r.setPresence("room.#")
		ann.send("WHO:t:room.a")
		ann.after(time.Second, "OK:WHO:t:room.a", "t:room.a again")
	})
}

// memberHook notes who joins and leaves.
type memberHook struct{ told []string }

func (h *memberHook) Joined(m hook.Member) { h.told = append(h.told, "+"+m.Channel+"/"+m.Subject) }
func (h *memberHook) Left(m hook.Member)   { h.told = append(h.told, "-"+m.Channel+"/"+m.Subject) }

func TestPresenceHooks(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := new(memberHook)
		r.hub.SetHooks([]NamedHook{{"members", h}})
		r.setPresence("room.#")
		ann, again, bob := r.connectAs("ann"), r.connectAs("ann"), r.connectAs("bob")
		for _, c := range []*client{ann, again, bob} {
			c.send("JOIN:t:room.a")
		}
		ann.send("LEAVE:t:room.a")
		again.send("LEAVE:t:room.a")
		bob.Session.Close(wire.CloseNormal, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		equal(t, "told", fmt.Sprint(h.told), "[+room.a/ann +room.a/bob -room.a/ann -room.a/bob]")

		// A reload without the presence ends its members, and so does the end of the edge.
		h.told = nil
		for _, c := range []*client{ann, again} {
			c.send("JOIN:t:room.b")
		}
		r.setPresence("hall.#")
		ann.send("JOIN:t:hall.a")
		again.send("JOIN:t:hall.b")
		again.Session.Close(wire.CloseNormal, "") // it lingers
		synctest.Wait()
		ann.Session.Close(wire.CloseNormal, "")
		must(t, r.hub.Close())
		slices.Sort(h.told[4:])
		equal(t, "told", fmt.Sprint(h.told), "[+room.b/ann -room.b/ann +hall.a/ann +hall.b/ann -hall.a/ann -hall.b/ann]")
	})
}

// Hooks that allow subscriptions are asked about a JOIN and a WHO, which are not in effect before, and
// are told that these are invalid.
func TestHooksAllowPresence(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		decide := make(chan error)
		h := &recordingHook{subscribe: func(context.Context, hook.Subscription) error { return <-decide }}
		r.withHooks(h)
		r.setPresence("room.#")
		ann := r.connectAs("ann")
		h.take()
		for _, step := range []struct{ line, refused string }{
			{"JOIN:t:room.a", "ERR:permission_denied:JOIN:t:room.a"},
			{"WHO:t:room.*", "ERR:permission_denied:WHO:t:room.*"},
			{"WHO:t:room.*:count", "ERR:permission_denied:WHO:t:room.*"},
		} {
			ann.send(step.line, "PING")
			ann.after(time.Second, "PONG") // which does not wait
			decide <- hook.Deny("not now")
			ann.after(time.Second, step.refused)
		}
		expectCalls(t, h, "presence? t:room.a", "presence? t:room.*", "presence? t:room.*")
		all, err := pattern.Parse("#")
		must(t, err)
		if list, _ := r.hub.Members(presence.Query{Tenant: "t", Pattern: all, Limit: 1}); len(list) > 0 {
			t.Errorf("%v is there", list)
		}

		// What concerns the same channel is handled in order, and what is repeated asks nobody.
		ann.send("JOIN:t:room.a", "WHO:t:room.a", "LEAVE:t:room.a", "JOIN:t:room.a")
		ann.expect()
		for range 3 {
			decide <- nil
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		got := ann.take()
		if lines := strings.Join(got, " "); strings.Count(lines, "OK:JOIN:t:room.a") != 2 || strings.Count(lines, "OK:LEAVE") != 1 || !strings.Contains(got[len(got)-1], "+room.a/ann") {
			t.Errorf("got %q", got)
		}
		ann.send("JOIN:t:room.a")
		synctest.Wait()
		ann.expect("OK:JOIN:t:room.a")
		expectCalls(t, h, "presence? t:room.a", "presence? t:room.a", "presence? t:room.a")

		// The session ends, and the presence goes, while hooks are asked.
		bob, eve := r.connectAs("bob"), r.connectAs("eve")
		bob.send("JOIN:t:room.a")
		eve.send("JOIN:t:room.a")
		synctest.Wait()
		bob.Session.Close(wire.CloseNormal, "")
		r.setPresence()
		for range 2 {
			decide <- nil
			synctest.Wait()
		}
		if got := eve.take(); !slices.Contains(got, "ERR:no_presence:JOIN:t:room.a") {
			t.Errorf("got %q", got)
		}
	})
}
