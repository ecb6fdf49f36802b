package pubsub

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// fewRights are rights that name what they allow.
type fewRights struct{ allRights }

func (fewRights) CanPublish(_, channel []byte) bool            { return string(channel) != "no" }
func (fewRights) CanReadPresence(string, pattern.Pattern) bool { return false }
func (fewRights) ExplainDenied(string, string, string) string  { return "" }
func (fewRights) Denial(action, tenant, _ string) (wire.DenialKind, []string) {
	if tenant == "u" {
		return wire.DeniedTenants, []string{"t", "t2"}
	}
	return wire.DeniedRules, []string{action, "x"}
}

// Who asks for it is told what the token allows, or that a hook refuses, with each kind of command; and others
// what they were told before.
func TestDenialsSayWhy(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		r.setPresence("#")
		r.hub.SetHooks([]NamedHook{{"office", new(deniedHook)}})
		plain, c := r.connect("plain"), r.connectAs("c", "reasons", "connection_id")
		c.client.ConnectionID = 7
		for _, each := range []*client{plain, c} {
			each.identity.Rights = fewRights{}
		}
		publish := func(confirm bool, channel string) string {
			return string(wire.AppendPublish(nil, wire.Publish{Confirm: confirm, ID: 9, Tenant: []byte("t"), Channel: []byte(channel)}))
		}
		for message, want := range map[string]string{
			"SUB:t:no.a": "SUB:t:no.a|:allowed=sub,x", "SUB:u:no.a": "SUB:u:no.a|:tenants=t,t2", "RSUB:t:no.a:now": "RSUB:t:no.a|:allowed=rsub,x",
			"JOIN:t:no.a": "JOIN:t:no.a|:allowed=join,x", "WHO:t:no.a": "WHO:t:no.a|:allowed=who,x", "WHO:t:no.a:count": "WHO:t:no.a|:allowed=sub,x",
			publish(false, "no"): "PUB:t:no|:allowed=pub,x", publish(true, "no"): "PUB:9|:allowed=pub,x",
			publish(false, "hooked"): "PUB:t:hooked|:by=hook", publish(true, "hooked"): "PUB:9|:by=hook",
		} {
			context, why, _ := strings.Cut(want, "|")
			for _, each := range []*client{plain, c} {
				line := "ERR:permission_denied:" + context
				if each == c {
					line += why + ":connection=0000000000000007"
				}
				if wire.IsFrame([]byte(message)) {
					each.HandleFrame([]byte(message))
				} else {
					each.HandleLine([]byte(message))
				}
				each.expect(line)
			}
		}
	})
}

// A GAP says why, to who asks for it.
func TestGapsSayWhy(t *testing.T) {
	for why, c := range map[string]struct {
		change func(*history.Definition)
		lose   func(r *rig)
		from   func(at string) string
	}{
		"expired": {change: func(d *history.Definition) { d.Limits.Messages = 2 }},
		"purged": {lose: func(r *rig) {
			_, err := r.hub.histories.Load().store.Purge("chat", "t", "")
			must(r.T, err)
		}},
		"lost": {from: func(at string) string { return "0123456789abcdef" + at[16:] }},
	} {
		t.Run(why, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*history.Definition) {}
			}
			withHistory(t, fastLimits(), func(r *rig) {
				asks, plain, p := r.connectAs("asks", "reasons"), r.connect("plain"), r.connect("p")
				at := position(t, plain.ask("RSUB:t:chat.a:now"))
				plain.ask("UNSUB:t:chat.a")
				p.numbers(5)
				synctest.Wait()
				if c.lose != nil {
					c.lose(r)
				}
				if c.from != nil {
					at = c.from(at)
				}
				for client, want := range map[*client]string{plain: "", asks: why} {
					client.send("RSUB:t:chat.a:" + at)
					client.expectGap(want)
				}
			}, change)
		})
	}
}

// So does one for what was too late, and one at an edge that has not received as much as another one.
func TestGapsSayWhyLater(t *testing.T) {
	limits := fastLimits()
	limits.DefaultEgressKB = 8
	withHistory(t, limits, func(r *rig) {
		c, p := r.connectAs("c", "reasons"), r.connect("p")
		c.send("RSUB:t:chat.a:now")
		p.repeat(100, "t", "chat.a", strings.Repeat("x", 1000))
		time.Sleep(20 * time.Second)
		c.expectGap("late")
	}, func(d *history.Definition) { d.MaxLag = 5 * time.Second })
	withEdges(t, fastLimits(), func(a, b *rig, views []*view) {
		c, p := b.connectAs("c", "reasons"), a.connect("p")
		p.numbers(2)
		head, err := views[1].Head("chat", "t")
		must(t, err)
		head.N += 5
		c.send("RSUB:t:chat.a:" + head.String())
		c.expectGap("behind")
		views[1].beginAnew(0)
		c.expectGap("lost")
	})
}

// expectGap requires that a GAP has come, with a reason; empty: with none.
func (c *client) expectGap(why string) {
	c.rig.Helper()
	got := c.take()
	if !slices.ContainsFunc(got, func(text string) bool {
		line, err := wire.ParseServerLine([]byte(text))
		return err == nil && line.Kind == wire.KindGap && string(line.Reason) == why
	}) {
		c.rig.Errorf("no GAP with the reason %q in %q", why, got)
	}
}
