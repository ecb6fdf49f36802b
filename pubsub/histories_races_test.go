package pubsub

import (
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
)

// No client is notified of a position while the message that stands there is on its way to it:
// the message would not come any more.
func TestPositionsWhileHandedOn(t *testing.T) {
	store := &stuckStore{Store: memory.New()}
	withStore(t, fastLimits(), store, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now")
		store.stuck = true
		p.publish("t", "chat.a", "1")
		time.Sleep(positionEvery - 100*time.Millisecond)
		defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
		r.debtor("t", 200*time.Millisecond) // so handing on takes until the next turn is over
		store.unstick()
		c.after(150 * time.Millisecond)
		time.Sleep(2 * positionEvery)
		c.expect("t/chat.a=1 [chat.a] @1")
	})
}

// A subscription that begins while a reload takes its history away ends, too; one that is still
// there goes on.
func TestRsubDuringReload(t *testing.T) {
	definition := func(change ...func(*history.Definition)) []history.Definition {
		return []history.Definition{chat(change...)}
	}
	for name, c := range map[string]struct {
		definitions []history.Definition
		other       bool // another store
		goesOn      bool
	}{
		"none":           {},
		"other channels": {definitions: definition(func(d *history.Definition) { d.Channels = []string{"live.#"} })},
		"another name":   {definitions: definition(func(d *history.Definition) { d.Name = "other" })},
		"another store":  {definitions: definition(), other: true},
		"other limits":   {definitions: definition(func(d *history.Definition) { d.Limits.Messages = 7 }), goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := &changedStore{Store: memory.New()}
			withStore(t, fastLimits(), store, func(r *rig) {
				client := r.connect("a")
				store.beforeHead = func() {
					var next history.Store = store
					if c.other {
						next = memory.New()
					}
					if err := r.hub.SetHistories(setOf(t, c.definitions...), next); err != nil {
						t.Error(err)
					}
				}
				client.send("RSUB:t:chat.a:now")
				if c.goesOn {
					client.expect("OK:RSUB:t:chat.a:@0:complete")
					r.connect("b").publish("t", "chat.a", "1")
					client.expect("t/chat.a=1 [chat.a] @1")
					return
				}
				client.expect("OK:RSUB:t:chat.a:@0:complete", "ERR:no_history:RSUB:t:chat.a")
				equal(t, "sequencers are left", len(r.hub.sequencers.list()), 0)
			})
		})
	}
}
