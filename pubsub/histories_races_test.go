package pubsub

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// No client is told of a position while the message that stands there is on its way to it:
// the message would not come any more.
func TestPositionsWhileHandedOn(t *testing.T) {
	store := &stuckStore{Store: memory.New()}
	withStore(t, fastLimits(), store, func(r *rig) {
		c, p := r.connect("a"), r.connect("b")
		c.ask("RSUB:t:chat.a:now")
		store.stuck = true
		p.publish("t", "chat.a", "1")
		time.Sleep(positionEvery - 100*time.Millisecond)
		r.company()
		r.debtor("t", 200*time.Millisecond) // so handing on takes until the next turn is over
		store.unstick()
		time.Sleep(150 * time.Millisecond)
		c.expect()
		time.Sleep(2 * positionEvery)
		c.expect("t/chat.a=1 [chat.a] @1")
	})
}

// headStore is a store in which something happens when a subscription begins.
type headStore struct {
	*memory.Store
	happens func()
}

func (s *headStore) Head(name, tenant string) (wire.Position, error) {
	if f := s.happens; f != nil {
		s.happens = nil
		f()
	}
	return s.Store.Head(name, tenant)
}

// A subscription that begins while a reload takes its history away ends, too.
func TestRsubDuringReload(t *testing.T) {
	for name, reload := range map[string]func(r *rig, store history.Store) error{
		"none": func(r *rig, _ history.Store) error { return r.hub.SetHistories(nil, nil) },
		"other channels": func(r *rig, store history.Store) error {
			return r.hub.SetHistories(setOf(r.T, chat(func(d *history.Definition) { d.Channels = []string{"live.#"} })), store)
		},
		"another name": func(r *rig, store history.Store) error {
			return r.hub.SetHistories(setOf(r.T, chat(func(d *history.Definition) { d.Name = "other" })), store)
		},
		"another store": func(r *rig, _ history.Store) error { return r.hub.SetHistories(setOf(r.T, chat()), memory.New()) },
	} {
		t.Run(name, func(t *testing.T) {
			store := &headStore{Store: memory.New()}
			withStore(t, fastLimits(), store, func(r *rig) {
				c := r.connect("a")
				store.happens = func() {
					must(t, reload(r, store))
				}
				c.send("RSUB:t:chat.a:now")
				synctest.Wait()
				c.expect("OK:RSUB:t:chat.a:@0:complete", "ERR:no_history:RSUB:t:chat.a")
				equal(t, "sequencers are left", len(r.hub.sequencers.list()), 0)
			})
		})
	}
	// One that is still there goes on.
	store := &headStore{Store: memory.New()}
	withStore(t, fastLimits(), store, func(r *rig) {
		c := r.connect("a")
		store.happens = func() {
			must(t, r.hub.SetHistories(setOf(t, chat(func(d *history.Definition) { d.Limits.Messages = 7 })), store))
		}
		c.answer("RSUB:t:chat.a:now", "OK:RSUB:t:chat.a:@0:complete")
		r.connect("b").publish("t", "chat.a", "1")
		c.expect("t/chat.a=1 [chat.a] @1")
	})
}
