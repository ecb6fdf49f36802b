package pubsub

import (
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// slowRights take a second to refuse anything.
type slowRights struct{}

func (slowRights) refuse() bool {
	time.Sleep(time.Second)
	return false
}

func (r slowRights) CanPublish(_, _ []byte) bool                      { return r.refuse() }
func (r slowRights) CanSubscribe(_ string, _ pattern.Pattern) bool    { return r.refuse() }
func (r slowRights) CanReadPresence(_ string, _ pattern.Pattern) bool { return r.refuse() }

// What a large right costs where it refuses is paid for by a tenant of its token, whichever tenant
// the command names, and the next command waits until it is.
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
		t.Run(name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { l.TenantShare = 1 }), func(r *rig) {
				must(r, r.hub.SetHistories(setOf(t, chat()), memory.New()))
				r.setPresence("#")
				r.company()
				id := Identity{TokenID: "a", RightBytes: largeRight, Tenants: []string{"loud", "also"}}
				c, err := r.attach(id, Client{Transport: "test"}, func(c *client) Transport { return c })
				must(r, err)
				c.identity.Rights = slowRights{}
				c.Ready(time.Hour)
				command(c)
				debt := r.hub.debt(r.hub.cpuAccountOf([]byte("loud")), r.hub.now())
				if debt == 0 {
					t.Error("nothing is charged")
				}
				r.company()
				if took := r.took(func() { command(c) }); took < time.Second+debt/2 {
					t.Errorf("the next one took %v, with a debt of %v", took, debt)
				}
				equal(t, "debt of the tenant that was named", r.hub.debt(r.hub.cpuAccountOf([]byte("victim")), r.hub.now()), 0)
			})
		})
	}
}
