package pubsub

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// Who asks for it finds their own messages marked, with the key of the publish, and nobody else does: in SUBs
// and RSUBs, to all and to one, and where edges share the history, before and after its answer.
func TestOwn(t *testing.T) {
	test := func(t *testing.T, a, b *rig) {
		c, same, far := a.connectAs("ann", "own"), a.connectAs("ann", "own"), b.connectAs("ann", "own", "sender")
		for _, each := range []*client{c, same, far} {
			each.send("SUB:t:#", "RSUB:t:chat.a:now")
			each.take()
		}
		c.confirmed(7, "k", "chat.a", "1")
		for at, want := range map[*client]string{
			c: `OK:PUB:7:@1|t/chat.a=1 [#] own "k"|t/chat.a=1 [chat.a] @1 own "k"`, same: "t/chat.a=1 [#]|t/chat.a=1 [chat.a] @1",
			far: `t/chat.a=1 [#] from "ann"|t/chat.a=1 [chat.a] @1 from "ann"`,
		} {
			equal(t, "of a kept channel", strings.Join(slices.Sorted(slices.Values(at.takeShort())), "|"), want)
		}
		c.confirmed(8, "k", "chat.a", "again") // is not stored
		equal(t, "of a repeat", strings.Join(c.takeShort(), "|"), "OK:PUB:8:@1")
		c.publish("t", "other", "2")
		c.expect(`t/other=2 [#] own ""`)
		same.expect("t/other=2 [#]")
		far.take()
		same.ask("UNSUB:t:#")
		far.ask("UNSUB:t:#")
		for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
			c.publishAs(d, "t", "other", "3")
			c.expect(`t/other=3 [#] own ""`)
		}
		c.send("FEATURES:work_queue", "SUB:t:jobs", "CREDIT:t:jobs:1")
		c.publishAs(wire.OneNearest, "t", "jobs", "4")
		c.expect("FEATURES:link,sender,history,work_queue", "OK:SUB:t:jobs", `t/jobs=4 [# jobs] to one own ""`)
		c.ask("UNSUB:t:chat.a")
		c.answer("RSUB:t:chat.a:last", "t/chat.a=1 [chat.a] @1", "OK:RSUB:t:chat.a:@1:complete") // from the store
		equal(t, "marks that are left", a.hub.ownMarks.len(), 0)
	}
	t.Run("an edge", func(t *testing.T) { withHistory(t, fastLimits(), func(r *rig) { test(t, r, r) }) })
	t.Run("edges with a history", func(t *testing.T) {
		withEdges(t, fastLimits(), func(a, b *rig, _ []*view) { test(t, a, b) })
	})
}

// Marks of publishes that may still come are bounded, for a session and after it.
func TestOwnUnsettled(t *testing.T) {
	withEdges(t, fastLimits(), func(a, _ *rig, views []*view) {
		c := a.connectAs("ann", "own")
		c.send("SUB:t:#")
		m, marks := &a.hub.ownMarks, []uint64{}
		for range 10 * maxUnsettled {
			e := &keptPublish{session: c.Session, channelHash: channelHash([]byte("t"), []byte("chat.a"))}
			m.add(e)
			marks = append(marks, e.Mark)
			m.settle(e, true)
		}
		equal(t, "marks", m.len(), maxUnsettled)
		last := marks[len(marks)-1]
		c.take()
		receive := func(channel string, mark uint64) {
			views[0].follower.Received("chat", "t", history.Kept{Position: wire.Position{Epoch: 1, N: 1, T: 1}, Channel: channel, Mark: mark})
		}
		receive("chat.a", last)
		c.expect(`t/chat.a= [#] own ""`)
		receive("chat.b", last) // of another edge, which has seen the mark
		receive("chat.a", marks[0])
		receive("chat.a", 12345)
		c.expect("t/chat.b= [#]", "t/chat.a= [#]", "t/chat.a= [#]")
		c.Session.Close(wire.CloseNormal, "")
		time.Sleep(time.Second)
		equal(t, "marks after the session", m.len(), 0)
	})
}

func (m *ownMarks) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.of)
}
