package pubsub

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/hook"
)

// Frames with positions count for the memory of all queues, and wait in the history when
// there is no room.
func TestKeptQueueMemory(t *testing.T) {
	limits := fastLimits()
	limits.QueueMemory = 256 << 10
	withHistory(t, limits, func(r *rig) {
		p := r.connect("p")
		var clients []*client
		var releases []func()
		for i := range 8 {
			c := r.connect(fmt.Sprint(i))
			c.ask("RSUB:t:chat.a:now", "RSUB:t:chat.*:now")
			releases = append(releases, c.block())
			clients = append(clients, c)
		}
		for range 200 {
			p.publish("t", "chat.a", strings.Repeat("x", 1000))
			synctest.Wait()
			if n := r.hub.queuedBytes.Load(); n > int64(limits.QueueMemory) {
				t.Fatalf("%d bytes in queues", n)
			}
		}
		if m := r.hub.Metrics(); m.Behind == 0 || len(m.SlowDisconnects) > 0 && m.SlowDisconnects["queue_memory"] > 0 {
			t.Errorf("%d behind", m.Behind)
		}
		for i, release := range releases {
			release()
			if got := clients[i].take(); len(got) != 400 {
				t.Errorf("client %d got %d messages", i, len(got))
			}
		}
		equal(t, "bytes in empty queues", r.hub.queuedBytes.Load(), 0)
	}, func(d *history.Definition) { d.Limits.Messages = 1000 })
}

func TestRsubHooks(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		h := &recordingHook{subscribe: func(_ context.Context, s hook.Subscription) error {
			if s.Pattern == "chat.no" {
				return hook.Deny("no")
			}
			return nil
		}}
		r.withHooks(h)
		c := r.connect("a")
		c.answer("RSUB:t:chat.no:now", "ERR:permission_denied:RSUB:t:chat.no")
		c.answer("RSUB:t:chat.a:now", "OK:RSUB:t:chat.a:@0:complete")
		c.ok("UNSUB:t:chat.a")
		c.ok("SUB:t:chat.b")
		expectCalls(t, h, "subscribe? t:chat.no positions", "subscribe? t:chat.a positions",
			"subscribed t:chat.a positions", "unsubscribed t:chat.a positions", "subscribe? t:chat.b", "subscribed t:chat.b")
	})
}
