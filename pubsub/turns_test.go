package pubsub

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// Who waits for a turn gets it in order, what was accepted ahead of what was sent now, which comes, too; who does
// not wait any more leaves its place; and as many go on as there are turns now.
func TestOrderOfTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		var order []string
		var mu sync.Mutex
		wait := func(name string, accepted bool, canceled <-chan struct{}) {
			go func() {
				if all.take(1, accepted, canceled, nil) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, name)
				}
			}()
			synctest.Wait()
		}
		equal(t, "the first one has a turn", all.tryTake(1), true)
		equal(t, "and the second one", all.tryTake(1), false)
		left := make(chan struct{})
		wait("left", false, left)
		wait("sent", false, nil)
		wait("also", false, nil)
		for range maxAhead + 1 {
			wait("accepted", true, nil)
		}
		close(left)
		synctest.Wait()
		var want []string
		for range maxAhead {
			want = append(want, "accepted")
		}
		want = append(want, "sent", "accepted")
		for range want {
			all.giveBack(1)
			synctest.Wait()
		}
		equal(t, "order", fmt.Sprint(order), fmt.Sprint(want))
		wait("more", false, nil)
		all.giveBack(3) // there are more now
		synctest.Wait()
		equal(t, "taken", all.taken.Load(), 2)
		all.giveBack(1)
		all.giveBack(1)
		equal(t, "left", all.taken.Load(), 0)
	})
}

// busyClient notes how many are written to at the same time.
type busyClient struct {
	*tryClient
	now, most *atomic.Int32
}

func (c *busyClient) TryWrite(msgs []Outgoing) (bool, error) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return c.tryClient.TryWrite(msgs)
}

// What an issuer that is over its share has in many tenants, and only has to be handed on, takes turns: out of a
// history, or from another edge.
func TestAcceptedTakesTurns(t *testing.T) {
	const tenants, subscribers = 16, chunk + 1
	for name, handOn := range map[string]func(r *rig, tenant string){
		"history": func(r *rig, tenant string) {
			hs := r.hub.currentHistories()
			q, err := r.hub.acquireSequencer(hs, hs.set.Find("chat"), tenant)
			must(r, err)
			q.push(&handing{tenant: tenant, channel: []byte("chat.a"), position: wire.Position{N: 1}})
		},
		"another edge": func(r *rig, tenant string) {
			r.hub.Go(func() { r.hub.Receive(Message{Tenant: []byte(tenant), Channel: []byte("chat.a"), Remote: true}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			withStore(t, with(func(l *Limits) { l.TenantShare = 99 }), memory.New(), func(r *rig) {
				r.hub.SetIssuers(testIssuers{true})
				var now, most atomic.Int32
				for i := range tenants {
					for j := range subscribers {
						id := Identity{TokenID: fmt.Sprint(i, " ", j), Issuer: "a."}
						c, err := r.attach(id, Client{Transport: "test"}, func(c *client) Transport {
							return &busyClient{&tryClient{client: c, takes: 10 * time.Microsecond}, &now, &most}
						})
						must(t, err)
						c.send(fmt.Sprintf("SUB:a.%d:chat.a", i))
					}
				}
				synctest.Wait()
				a, b := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
				r.issuersCome(a.token, b.token)
				defer r.atWork(r.hub.issuerCPU(b.token))()
				l := r.hub.issuerCPU(a.token)
				r.hub.chargeAt(l, r.hub.now(), maxLoadDebt*time.Duration(processors()))
				before := r.hub.Deliveries()
				for i := range tenants {
					handOn(r, fmt.Sprint("a.", i))
				}
				for r.hub.Deliveries()-before < tenants*subscribers {
					time.Sleep(time.Second)
				}
				if n := int(most.Load()); n == 0 || n > l.most {
					t.Errorf("%d are written to at the same time, with %d turns", n, l.most)
				}
				synctest.Wait()
				equal(t, "turns taken", l.turns.taken.Load(), 0)
			})
		})
	}
}

// What a broker hands to the hub while it publishes is a part of what is published, and waits for no other turn.
func TestPublishTakesOneTurn(t *testing.T) {
	withIssuers(t, true, with(func(l *Limits) { l.TenantShare, l.IssuerShare = 1, 1 }), func(r *rig) {
		a, b := r.connectIssued("a.", "a"), r.connectIssued("b.", "b")
		a.ok("SUB:a.1:x")
		r.issuersCome(a.token, b.token)
		a.publishAs(wire.OneRandom, "a.1", "x", "1")
		a.expect("a.1/x=1 [x]")
	})
}
