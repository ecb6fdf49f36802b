package pubsub

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// beginAnew gives a view's history another epoch, in which it stands at the number 2.
func (v *view) beginAnew(base uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.epoch, v.base = 7, base
	v.follower.Skipped("chat", wire.Position{Epoch: 7, N: 2, T: 1})
}

// A skip of the epoch before says nothing in the next one.
func TestSharedHistoryBeginsAnewAfterASkip(t *testing.T) {
	withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
		c, p, v := b.connect("c"), a.connect("p"), views[1]
		v.set(true)
		p.numbers(5)
		c.send("RSUB:t:chat.a:now") // it is not live
		time.Sleep(100 * time.Millisecond)
		head, err := views[0].Head("chat", "t")
		must(t, err)
		v.follower.Skipped("chat", head)
		v.set(false)
		c.after(2*time.Second, "OK:RSUB:t:chat.a:@5:complete")
		v.beginAnew(3)
		c.expect("GAP:t:chat.a:@2")
		v.set(true) // it falls behind
		p.publish("t", "chat.a", "5")
		v.follower.Skipped("chat", wire.Position{Epoch: 7, N: 3, T: 1})
		v.set(false)
		c.after(2*time.Second, "t/chat.a=5 [chat.a] @3")
		p.publish("t", "chat.a", "6")
		c.expect("t/chat.a=6 [chat.a] @4")
	})
}

// A subscription begins in the epoch in which its first page is read.
func TestSharedHistoryBeginsAnewBeforeTheFirstPage(t *testing.T) {
	for _, from := range []string{"last", "last.2", "1"} {
		t.Run(from, func(t *testing.T) {
			withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
				c, p := b.connect("c"), a.connect("p")
				p.numbers(5)
				v := views[1]
				v.mu.Lock()
				v.beforeRead = func() { v.epoch, v.base = 7, 3 }
				v.mu.Unlock()
				if from == "1" {
					from = wire.Position{Epoch: 1, N: 1, T: 1}.String()
				}
				c.send("RSUB:t:chat.a:" + from)
				time.Sleep(10 * time.Second)
				got := c.takeShort()
				if n := len(got); n == 0 || !strings.HasPrefix(got[n-1], "OK:RSUB:t:chat.a:@2:gap") || !slices.Contains(got, "GAP:t:chat.a:@2") {
					t.Errorf("got %q", got)
				}
				p.publish("t", "chat.a", "after")
				c.expect("t/chat.a=after [chat.a] @3")
			})
		})
	}
}

// What was found out before a history started over is no position in it.
func TestPositionOfTheEpochBefore(t *testing.T) {
	withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
		c, p := b.connect("c"), a.connect("p")
		p.numbers(5)
		c.ask("RSUB:t:chat.a:now")
		old, err := views[1].Head("chat", "t")
		must(t, err)
		views[1].beginAnew(3)
		c.expect("GAP:t:chat.a:@2")
		for _, q := range b.hub.sequencers.list() {
			for _, m := range q.members() {
				m.session.tellPosition(m.sub.resumable, 1, old)
			}
		}
		p.publish("t", "chat.a", "after")
		c.expect("t/chat.a=after [chat.a] @3")
	})
}
