package pubsub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// Who wants it is told once of each change of the link, and nobody else.
func TestLinkWatch(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		watcher, other, asks := r.connect("a"), r.connect("b"), r.connect("c")
		watcher.answer("FEATURES:of_later,link", "FEATURES:link,sender")
		asks.answer("FEATURES", "FEATURES:link,sender")
		r.broker.link(false)
		r.broker.link(false)
		synctest.Wait()
		watcher.expect("LINK:down")
		watcher.send("FEATURES:link") // repeated
		watcher.expect("FEATURES:link,sender")

		late := r.connect("d")
		late.send("FEATURES:link")
		late.expect("LINK:down", "FEATURES:link,sender") // the state before the answer
		r.broker.link(true)
		synctest.Wait()
		watcher.expect("LINK:up")
		late.expect("LINK:up")
		late.Session.Close(wire.CloseNormal, "")
		synctest.Wait()
		for range 100 { // what is over before it is told need not be
			r.broker.link(false)
			r.broker.link(true)
		}
		time.Sleep(time.Second)
		if n := len(watcher.take()); n%2 != 0 || n > 200 {
			t.Errorf("%d lines for 100 short losses", n)
		}
		other.expect()
		asks.expect()
		equal(t, "sessions are told", len(r.hub.linkWatch.sessions), 1)
	})
}
