package pubsub

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// positionsHook notes what it is asked, and refuses chat.no.
type positionsHook struct {
	mu    sync.Mutex
	asked []string
}

func (h *positionsHook) AuthorizeSubscribe(_ context.Context, _ hook.Client, s hook.Subscription) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, fmt.Sprintf("%s %v", s.Pattern, s.Positions))
	if s.Pattern == "chat.no" {
		return hook.Deny("no")
	}
	return nil
}

func (h *positionsHook) note(what string, s hook.Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, fmt.Sprintf("%s %s %v", what, s.Pattern, s.Positions))
}

func (h *positionsHook) Subscribed(_ hook.Client, s hook.Subscription)   { h.note("+", s) }
func (h *positionsHook) Unsubscribed(_ hook.Client, s hook.Subscription) { h.note("-", s) }

func TestRsubHooks(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		h := new(positionsHook)
		r.hub.SetHooks([]NamedHook{{"h", h}})
		c := r.connect("a")
		c.answer("RSUB:t:chat.no:now", "ERR:permission_denied:RSUB:t:chat.no")
		c.answer("RSUB:t:chat.a:now", "OK:RSUB:t:chat.a:@0:complete")
		c.ok("UNSUB:t:chat.a")
		c.ok("SUB:t:chat.b")
		h.mu.Lock()
		defer h.mu.Unlock()
		equal(t, "asked", strings.Join(h.asked, ", "),
			"chat.no true, chat.a true, + chat.a true, - chat.a true, chat.b false, + chat.b false")
	})
}
