package pubsub

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// takeTurns takes the turns of a tenant that is over its share, so that all its clients wait,
// until they are given back.
func (r *rig) takeTurns(tenant string) (giveBack func()) {
	r.company()
	a := r.hub.cpuAccountOf([]byte(tenant))
	for range a.most {
		equal(r, "there is a turn", a.turns.tryTake(a.most), true)
	}
	return func() {
		for range a.most {
			a.turns.giveBack(a.most)
		}
	}
}

// A reload does not wait for clients whose tenant is over its share, whatever these wait with.
func TestReloadWaitsForNoClient(t *testing.T) {
	const each = 20
	for _, line := range []string{
		"SUB:t:room.new", "UNSUB:t:room.old", "RSUB:t:chat.new:now", "UNSUB:t:chat.old",
		"JOIN:t:room.new", "LEAVE:t:room.old", "WHO:t:room.new", "UNWHO:t:room.old",
	} {
		for _, hooked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/hooks=%v", line, hooked), func(t *testing.T) {
				withHistory(t, fastLimits(), func(r *rig) {
					if hooked {
						r.hub.SetHooks([]NamedHook{{"asked", &recordingHook{}}})
					}
					r.crowd("t", "room.old", 0)
					var clients []*client
					for i := range each {
						c := r.connectAs(fmt.Sprint(i))
						c.ask("SUB:t:room.old", "RSUB:t:chat.old:now", "JOIN:t:room.old", "WHO:t:room.old")
						clients = append(clients, c)
					}
					giveBack := r.takeTurns("t")
					for _, c := range clients {
						c.readers.Go(func() { c.HandleLine([]byte(line)) })
					}
					synctest.Wait()
					for _, c := range clients {
						if !c.subscribing.TryLock() { // for which a reload would wait, outside of virtual time
							giveBack()
							t.Error("a client waits with its lock held")
							return
						}
						c.subscribing.Unlock()
					}
					done := make(chan time.Duration, 1)
					go func() {
						done <- r.took(func() {
							r.setPresence()
							must(r, r.hub.SetHistories(nil, nil))
						})
					}()
					time.Sleep(time.Minute)
					giveBack()
					equal(t, "time that the reload took", <-done, 0)
					synctest.Wait()
					for _, c := range clients {
						if c.take() == nil {
							t.Fatal("a client was told nothing")
						}
					}
				})
			})
		}
	}
}

// A hub that is closed hands on what was published before, but waits for no tenant's share: its
// clients have left.
func TestCloseWaitsForNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, fastLimits())
		must(t, r.hub.SetHistories(setOf(t, chat()), memory.New()))
		r.connect("a")
		hs := r.hub.currentHistories()
		var rivals sync.WaitGroup
		rivals.Go(func() { // messages of both tenants are handled meanwhile
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				r.company()
				r.debtor("t", maxLoadDebt)
			}
		})
		time.Sleep(time.Second)
		for i := range 1000 {
			q, err := r.hub.acquireSequencer(hs, hs.set.Find("chat"), "t")
			must(t, err)
			q.push(&handing{tenant: "t", channel: []byte("chat.a"), position: wire.Position{N: uint64(i + 1)}})
		}
		if took := r.took(r.close); took > DefaultLimits().Drain+closeGrace {
			t.Errorf("took %v", took)
		}
		rivals.Wait()
	})
}
