package pubsub

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// Clients that ask for senders get them with whatever is delivered, and others get what they
// got before, byte by byte.
func TestSender(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		asks, plain, streams := r.connectAs("asks", "sender"), r.connect("plain"), r.connectStreams("streams")
		ann, nobody := r.connectAs("ann"), r.connect("nobody")
		for _, c := range []*client{asks, plain} {
			c.ask("SUB:t:a.*", "SUB:t:a.b", "SUB:t:one")
		}
		streams.send("FEATURES:sender")
		streams.stream("SUB:U:t:a.b", "SUB:U:t:a.#")
		streams.expect("FEATURES:link,sender")
		own := []*testStream{streams.own(0), streams.own(1)}
		for _, s := range own {
			s.inner.take()
		}
		for _, c := range []struct {
			from *client
			want string
		}{{ann, ` from "ann"`}, {nobody, ` from ""`}} {
			c.from.publish("t", "a.b", "x")
			asks.expect("t/a.b=x [a.* a.b]" + c.want)
			plain.expect("t/a.b=x [a.* a.b]")
			if want := "0100017400" + "03612e62" + "0000000178" + "0002" + "0003612e2a" + "0003612e62"; hex.EncodeToString(plain.frame) != want {
				t.Errorf("a client that asks for nothing got %x, want %s", plain.frame, want)
			}
			own[0].inner.expect("t/a.b=x [a.b]" + c.want)
			own[1].inner.expect("t/a.b=x [a.#]" + c.want)
			c.from.publish("t", "a.c", "y") // matches one pattern of each
			asks.expect("t/a.c=y [a.*]" + c.want)
			plain.expect("t/a.c=y [a.*]")
			own[1].inner.expect("t/a.c=y [a.#]" + c.want)
			for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
				plain.send("UNSUB:t:one")
				c.from.publishAs(d, "t", "one", "z")
				asks.expect("t/one=z [one]" + c.want)
				plain.ask("SUB:t:one")
			}
		}
		// What other edges have accepted.
		for _, d := range []wire.Delivery{wire.Broadcast, wire.OneNearest} {
			plain.ask("UNSUB:t:one")
			r.hub.Receive(Message{Tenant: []byte("t"), Channel: []byte("one"), Payload: []byte("far"), Sender: []byte("bob"), Delivery: d})
			asks.expect(`t/one=far [one] from "bob"`)
		}
		// It is turned on from the line on, and stays on.
		plain.send("SUB:t:one", "FEATURES:of_later,sender")
		plain.expect("FEATURES:link,sender", "OK:SUB:t:one")
		plain.send("FEATURES", "FEATURES:link")
		plain.expect("FEATURES:link,sender", "FEATURES:link,sender")
		ann.publish("t", "one", "last")
		plain.expect(`t/one=last [one] from "ann"`)
	})
}

// A message is encoded once for each variant that is in use and each set of patterns, and
// queues are charged for its sender.
func TestSenderIsEncodedOnce(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		ann := r.connectAs("ann")
		kinds := map[string][]*client{}
		for _, features := range []string{"link", "sender"} {
			for i := range 2 {
				c := r.connectAs(fmt.Sprint(features, i), features)
				c.send("SUB:t:a", "SUB:t:b")
				if i == 1 {
					c.send("SUB:t:b*")
				}
				c.take()
				kinds[features] = append(kinds[features], c)
			}
		}
		queued := func(c *client) *frame { // the newest
			c.Session.mu.Lock()
			defer c.Session.mu.Unlock()
			l := &c.queue.mainLane
			return l.items[len(l.items)-1].frame
		}
		var release []func()
		for _, list := range kinds {
			for _, c := range list {
				release = append(release, c.block())
			}
		}
		ann.publish("t", "a", "first") // hangs in the writers
		synctest.Wait()
		for channel, same := range map[string]bool{"a": true, "b": false} {
			ann.publish("t", channel, "x")
			synctest.Wait()
			plain, sender := queued(kinds["link"][0]), queued(kinds["sender"][0])
			if (plain == queued(kinds["link"][1])) != same || (sender == queued(kinds["sender"][1])) != same {
				t.Errorf("on %s, frames are shared by those who get the same: not %v", channel, same)
			}
			if same && (plain.holders != 2 || sender.holders != 2) {
				t.Errorf("the frames are held by %d and %d queues, want 2 and 2", plain.holders, sender.holders)
			}
			if got, want := sender.cost()-plain.cost(), 1+1+len("ann"); got != want {
				t.Errorf("a sender costs a queue %d bytes, want %d", got, want)
			}
		}
		for _, f := range release {
			f()
		}
	})
}

// A message that is matched again, since subscriptions changed meanwhile, is of the variant
// that the client wants.
func TestSenderOfRematch(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connectAs("asks", "sender")
		c.ask("SUB:t:a")
		p := publication{tenant: []byte("t"), channel: []byte("a"), sender: []byte("ann")}
		c.Session.mu.Lock()
		f := c.rematch(&p)
		c.Session.mu.Unlock()
		if d, err := wire.DecodeDeliver(f.data); err != nil || !d.HasSender || string(d.Sender) != "ann" {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// A subject that is no sender is ignored, whatever the store of tokens says.
func TestSenderOfBadSubject(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connectAs("asks", "sender")
		c.ask("SUB:t:a")
		for _, subject := range []string{strings.Repeat("u", wire.MaxSender+1), "a\nb", "\xff"} {
			r.connectAs(subject).publish("t", "a", "x")
			c.expect(`t/a=x [a] from ""`)
		}
		longest := strings.Repeat("u", wire.MaxSender)
		r.connectAs(longest).publish("t", "a", "x")
		c.expect(`t/a=x [a] from "` + longest + `"`)
	})
}

// Nothing that a client sends changes whose its messages are.
func TestSenderCannotBeForged(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, mallory, ann := r.connectAs("asks", "sender"), r.connectAs("mallory", "sender"), r.connectAs("ann")
		c.ask("SUB:t:#", "RSUB:t:chat.#:now")
		deliver := wire.AppendDeliverFields(nil, &wire.Deliver{HasSender: true, Sender: []byte("ann"), Tenant: []byte("t"), Channel: []byte("a"), Payload: []byte("x"), Patterns: []string{"#"}})
		stored := wire.AppendDeliverFields(nil, &wire.Deliver{Stored: true, HasSender: true, Sender: []byte("ann"), Tenant: []byte("t"), Channel: []byte("chat.a"), Payload: []byte("x"), Patterns: []string{"chat.#"}})
		refused := [][]byte{deliver, stored, wire.AppendDeliver(nil, []byte("t"), []byte("a"), nil, []string{"#"})}
		for _, version := range []byte{2, 3} { // delivery bytes with further bits, and fields in front of what a version has
			refused = append(refused,
				append([]byte{version, 0x80}, deliver[2:]...), append([]byte{version, 0x02 | 0x80}, deliver[2:]...), append([]byte{version, 3}, "\x03ann"...))
		}
		for _, frame := range refused {
			mallory.Ready(time.Hour)
			mallory.HandleFrame(frame)
			mallory.expect("ERR:bad_frame")
			mallory.send("SUB:t:x") // the row of broken messages ends
			mallory.take()
		}
		for i, publish := range []wire.Publish{
			{Payload: deliver}, {Payload: []byte("\x03ann")}, {Tagged: true, Payload: stored}, {Tagged: true, Delivery: wire.OneNearest, Payload: deliver},
			{Tagged: true, Delivery: wire.OneRandom, Payload: deliver}, {Confirm: true, ID: 1, Payload: stored},
		} {
			publish.Tenant = []byte("t")
			for _, channel := range []string{"ann", "a.from.ann", "chat.ann"} {
				publish.Channel = []byte(channel)
				if publish.Confirm && strings.HasPrefix(channel, "chat.") {
					publish.Key = []byte("ann")
				}
				mallory.Ready(time.Hour)
				mallory.HandleFrame(wire.AppendPublish(nil, publish))
				got := c.take()
				kept := strings.HasPrefix(channel, "chat.") && publish.Delivery == wire.Broadcast
				if len(got) == 0 || kept != (len(got) == 2) {
					t.Fatalf("%d on %s: got %q", i, channel, got)
				}
				for _, message := range got {
					if !strings.HasSuffix(message, ` from "mallory"`) {
						t.Errorf("%d on %s: got %q", i, channel, message)
					}
				}
			}
		}
		// A frame that is too long for its names is one of nothing else.
		mallory.Ready(time.Hour)
		mallory.HandleFrame(append([]byte{0, 1, 't', 0, 1, 'a'}, deliver...))
		c.expect(fmt.Sprintf("t/a=%s [#] from \"mallory\"", deliver))
		// A line names features, not people.
		mallory.send("FEATURES:sender,ann", "FEATURES:ann")
		mallory.ask("FEATURES:sender:ann", "FEATURES:sender=ann")
		mallory.publish("t", "a", "y")
		c.expect(`t/a=y [#] from "mallory"`)
		// Of two connections each has its own.
		ann.publish("t", "a", "z")
		mallory.publish("t", "a", "z")
		c.expect(`t/a=z [#] from "ann"`, `t/a=z [#] from "mallory"`)
	})
}

// What is stored is so with its sender: live, from the past, and handed on to SUBs.
func TestSenderHistories(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		live, plain, subs := r.connectAs("live", "sender"), r.connect("plain"), r.connectAs("subs", "sender")
		ann, bob := r.connectAs("ann"), r.connectAs("bob")
		live.send("RSUB:t:chat.*:now")
		plain.send("RSUB:t:chat.*:now", "SUB:t:chat.a")
		subs.send("SUB:t:chat.*")
		at := position(t, live.take())
		plain.take()
		subs.take()
		ann.confirmed(1, "key", "chat.a", "1")
		ann.confirmed(2, "key", "chat.a", "not stored")
		bob.publish("t", "chat.b", "2")
		r.connect("nobody").publish("t", "chat.c", "3")
		ann.expect("OK:PUB:1:@1", "OK:PUB:2:@1")
		live.expect(`t/chat.a=1 [chat.*] @1 from "ann"`, `t/chat.b=2 [chat.*] @2 from "bob"`,
			`t/chat.c=3 [chat.*] @3 from ""`)
		plain.expect("t/chat.a=1 [chat.*] @1", "t/chat.a=1 [chat.a]", "t/chat.b=2 [chat.*] @2", "t/chat.c=3 [chat.*] @3")
		subs.expect(`t/chat.a=1 [chat.*] from "ann"`, `t/chat.b=2 [chat.*] from "bob"`, `t/chat.c=3 [chat.*] from ""`)
		for _, from := range []string{at, "last"} {
			late := r.connectAs("late "+from, "sender")
			late.answer("RSUB:t:chat.*:"+from, `t/chat.a=1 [chat.*] @1 from "ann"`, `t/chat.b=2 [chat.*] @2 from "bob"`,
				`t/chat.c=3 [chat.*] @3 from ""`, "OK:RSUB:t:chat.*:@3:complete")
		}
		late := r.connect("late")
		late.answer("RSUB:t:chat.a:last", "t/chat.a=1 [chat.a] @1", "OK:RSUB:t:chat.a:@3:complete")
		d, err := wire.DecodeDeliver(late.frame)
		d.HasSender, d.Sender = false, nil
		if want := wire.AppendDeliverFields(nil, &d); err != nil || !bytes.Equal(late.frame, want) || late.frame[1] != 1 {
			t.Errorf("a client that asks for nothing got %x, %v", late.frame, err)
		}
	})
}

// Over edges that share a history, and where the feature is turned on while a page is read.
func TestSenderSharedHistory(t *testing.T) {
	withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
		far, ann := b.connectAs("far", "sender"), a.connectAs("ann")
		far.ask("RSUB:t:chat.*:now", "SUB:t:chat.a")
		ann.publish("t", "chat.a", "1")
		got := far.takeShort()
		slices.Sort(got)
		if want := `t/chat.a=1 [chat.*] @1 from "ann"|t/chat.a=1 [chat.a] from "ann"`; strings.Join(got, "|") != want {
			t.Errorf("got %q", got)
		}
		late := b.connect("late")
		views[1].mu.Lock()
		views[1].beforeRead = func() { late.handleLine([]byte("FEATURES:sender")) } // beside the reader
		views[1].mu.Unlock()
		late.answer("RSUB:t:chat.*:last", "FEATURES:link,sender,history", `t/chat.a=1 [chat.*] @1 from "ann"`,
			"OK:RSUB:t:chat.*:@1:complete")
	})
}

// What waits to be handed on counts its sender.
func TestHandingCountsItsSender(t *testing.T) {
	with, without := handing{channel: []byte("c"), sender: []byte("ann")}, handing{channel: []byte("c")}
	equal(t, "what a sender counts for", with.size()-without.size(), len("ann"))
}
