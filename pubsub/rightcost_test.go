package pubsub

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// slowRights take a while to decide.
type slowRights struct {
	takes time.Duration
	allow bool
}

func (r slowRights) decide() bool {
	time.Sleep(r.takes)
	return r.allow
}

func (r slowRights) CanPublish(_, _ []byte) bool                      { return r.decide() }
func (r slowRights) CanSubscribe(_ string, _ pattern.Pattern) bool    { return r.decide() }
func (r slowRights) CanReadPresence(_ string, _ pattern.Pattern) bool { return r.decide() }

func (r *rig) connectWith(rights Rights, size int, tenants ...string) *client {
	id := Identity{TokenID: "a", RightBytes: size, Tenants: tenants}
	c, err := r.attach(id, Client{Transport: "test"}, func(c *client) Transport { return c })
	must(r, err)
	c.identity.Rights = rights
	c.Ready(time.Hour)
	return c
}

// paid is what a tenant was charged just now, in processor time, with a share of 1 %.
func (r *rig) paid(tenant string) time.Duration {
	paidUntil := time.Duration(r.hub.cpuAccountOf([]byte(tenant)).paidUntil.Load())
	return (paidUntil - r.hub.now() + loadCredit) * time.Duration(processors()) / 100
}

// What a right costs where it refuses is paid for by a tenant of its token, whichever tenant the
// command names, and the next command waits until it is.
func TestRefusalsArePaidFor(t *testing.T) {
	publish := func(v wire.Publish) func(*client) {
		v.Tenant, v.Channel = []byte("victim"), []byte("chat.a")
		return func(c *client) { c.HandleFrame(wire.AppendPublish(nil, v)) }
	}
	line := func(text string) func(*client) { return func(c *client) { c.HandleLine([]byte(text)) } }
	for name, command := range map[string]func(*client){
		"publish": publish(wire.Publish{}), "confirmed publish": publish(wire.Publish{Confirm: true}),
		"SUB": line("SUB:victim:chat.a"), "RSUB": line("RSUB:victim:chat.a:last"),
		"SUB of a stream": func(c *client) { c.HandleStreamLine([]byte("SUB:D:victim:chat.a\n")) },
		"JOIN":            line("JOIN:victim:a"), "WHO": line("WHO:victim:a"), "WHO count": line("WHO:victim:a:count"),
	} {
		for _, size := range []int{1000, 60_000} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
					must(r, r.hub.SetHistories(setOf(t, chat()), memory.New()))
					r.setPresence("#")
					takes := time.Duration(6 * size)
					c := r.connectWith(slowRights{takes: takes}, size, "loud", "also")
					r.company()
					defer r.atWork(r.hub.cpuAccountOf([]byte("one")))()
					command(c)
					synctest.Wait() // for the answer
					if paid := r.paid("loud"); paid < takes-owedStep || paid > takes+2*owedStep {
						t.Errorf("%v are charged, of %v", paid, takes)
					}
					debt := time.Duration(0)
					for i := 0; i < 1000 && debt == 0; i++ { // with more processors it takes more
						command(c)
						debt = r.hub.debt(r.hub.cpuAccountOf([]byte("loud")), r.hub.now())
					}
					if debt == 0 {
						t.Error("nothing is charged")
					}
					if took := r.took(func() { command(c) }); took < debt-minDebt {
						t.Errorf("the next one took %v, with a debt of %v", took, debt)
					}
					equal(t, "debt of the tenant that was named", r.hub.debt(r.hub.cpuAccountOf([]byte("victim")), r.hub.now()), 0)
				})
			})
		}
	}
}

// A right is paid for also where it allows, in full, but makes its tenants no company of each other.
func TestAllowedIsPaidFor(t *testing.T) {
	for size, takes := range map[int]time.Duration{1000: lookLimit / 2, 60_000: 3 * lookLimit} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testAllowedIsPaidFor(t, size, takes) })
	}
}

func testAllowedIsPaidFor(t *testing.T, size int, takes time.Duration) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		c := r.connectWith(slowRights{takes, true}, size, "first", "second")
		publish := func() { c.publish("second", "a", "x") }
		stop := r.atWork(r.hub.cpuAccountOf([]byte("one")))
		publish()
		if paid := r.paid("second"); paid < takes {
			t.Errorf("%v are charged, of %v", paid, takes)
		}
		took := takes
		for i := 0; took == takes && i < 1000; i++ {
			took = r.took(publish)
		}
		stop()
		if took == takes {
			t.Error("no publish waited, with company")
		}
		for begin := time.Now(); time.Since(begin) < 2*rivalTime; {
			publish()
		}
		equal(t, "time of a publish, alone", r.took(publish), takes)
	})
}

// What it took to read a right is its first tenant's to pay.
func TestChargeRight(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
		r.company()
		r.hub.ChargeRight([]string{"first", "second"}, "", time.Second)
		for tenant, owes := range map[string]bool{"first": true, "second": false} {
			equal(t, tenant+" is in debt", r.hub.debt(r.hub.cpuAccountOf([]byte(tenant)), r.hub.now()) > 0, owes)
		}
	})
}
