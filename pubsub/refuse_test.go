package pubsub

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

// deniedHook notes the denials it hears about, and refuses channels that start with "hooked".
type deniedHook struct{ denied []string }

func (h *deniedHook) Denied(c hook.Client, d hook.Denial) {
	h.denied = append(h.denied, fmt.Sprint(c.ConnectionID, " ", d))
}

func (h *deniedHook) AuthorizePublish(_ hook.Client, p hook.Publication) error {
	if strings.HasPrefix(p.Channel, "hooked") {
		return hook.Deny("office hours")
	}
	return nil
}

// explaining are rights that say why.
type explaining struct{ allRights }

func (explaining) Denial(action, tenant, channel string) (wire.DenialKind, []string) {
	return wire.DeniedRules, []string{action, channel}
}

func (explaining) ExplainDenied(action, tenant, channel string) string {
	return "no rule for " + action + " " + tenant + " " + channel
}

// What an open connection is denied is kept, logged and told to hooks, with the rule that decided,
// but not more than some at first and one a second: also of a client that asks without end.
func TestDenials(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		core, logs := observer.New(zap.InfoLevel)
		r.hub.log = zap.New(core)
		h := new(deniedHook)
		r.hub.SetHooks([]NamedHook{{"office", h}})
		r.hub.SetPresences(nil)
		id := Identity{TokenID: "a", Subject: "ada", Tenants: []string{"t"}}
		from := Client{ConnectionID: 0xab, Transport: "websocket", IP: netip.MustParseAddr("192.0.2.1")}
		c, err := r.attach(id, from, func(c *client) Transport { return c })
		must(t, err)
		c.identity.Rights = explaining{}
		c.ask("SUB:t:no.*", "SUB:t:yes")
		c.HandleFrame(wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("no")}))
		c.HandleFrame(wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("hooked.x")}))
		want := []string{
			"sub t no.* permission_denied no rule for sub t no.* ", "pub t no permission_denied no rule for pub t no ",
			"pub t hooked.x permission_denied office hours hook office",
		}
		list, _ := r.hub.Refusals(refusals.Filter{ConnectionID: 0xab, Subject: "ada"}, 10)
		var got []string
		for _, d := range slices.Backward(list) {
			got = append(got, fmt.Sprint(d.Action, " ", d.Tenant, " ", d.Channel, " ", d.Code, " ", d.Reason, " ", d.Rule))
		}
		equal(t, "kept", strings.Join(got, "\n"), strings.Join(want, "\n"))
		equal(t, "told to the hook", len(h.denied), 3)
		for range 10_000 {
			c.HandleLine([]byte("SUB:t:no.*"))
		}
		if list, _ = r.hub.Refusals(refusals.Filter{}, 1e6); len(list) != denialBurst || len(h.denied) != denialBurst {
			t.Errorf("%d are kept and %d told, want %d", len(list), len(h.denied), denialBurst)
		}
		lines := logs.FilterMessage("request refused").Len()
		if lines == 0 || lines > refusalLines/2 {
			t.Errorf("%d lines of the log", lines)
		}
		time.Sleep(2 * denialEvery)
		c.ask("SUB:t:no.*", "SUB:t:no.*", "SUB:t:no.*")
		equal(t, "told 2 s later", len(h.denied), denialBurst+2)
		fields := logs.FilterMessage("request refused").All()[0].ContextMap()
		for key, value := range map[string]string{"connection_id": "00000000000000ab", "token_id": "a", "subject": "ada", "ip": "192.0.2.1", "reason": "no rule for sub t no.*"} {
			equal(t, key, fmt.Sprint(fields[key]), value)
		}
	})
}

// Who gets no session has a line of the log, and what strangers cause does not keep out that of a
// customer.
func TestRefusedLines(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		core, logs := observer.New(zap.InfoLevel)
		r.hub.log = zap.New(core)
		for i := range 5000 {
			r.hub.Refused(hook.RefusedClient{ConnectionID: wire.ConnectionID(i + 1), Code: "unauthorized", IP: netip.AddrFrom4([4]byte{byte(i), byte(i >> 8), 0, 1})})
		}
		equal(t, "lines of strangers", logs.Len(), refusalLines)
		r.hub.Refused(hook.RefusedClient{ConnectionID: 7, Code: "unauthorized", Reason: "the token is revoked", TokenID: "x", Subject: "ada", Tenants: []string{"t"}, Verified: true})
		equal(t, "the customer's", logs.FilterField(zap.String("subject", "ada")).Len(), 1)
		time.Sleep(time.Second)
		r.hub.Refused(hook.RefusedClient{Code: "unauthorized"})
		equal(t, "the rest is counted", logs.FilterField(zap.Uint64("count", 5000-refusalLines)).Len(), 1)
	})
}

// ERR lines have the connection id for who asks for it, whatever they are about, and for nobody else.
func TestConnectionIDInLines(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		connect := func(id wire.ConnectionID) *client {
			c, err := r.attach(Identity{TokenID: fmt.Sprint(id)}, Client{ConnectionID: id, Transport: "test"}, func(c *client) Transport { return c })
			must(t, err)
			return c
		}
		asks, other := connect(0xab), connect(0xcd)
		asks.answer("FEATURES:link,connection_id", "FEATURES:link,sender,connection_id")
		other.answer("FEATURES:link", "FEATURES:link,sender")
		const id = ":connection=00000000000000ab"
		asks.answer("SUB:t:no", "ERR:permission_denied:SUB:t:no"+id)
		asks.answer("nonsense", "ERR:bad_request"+id)
		other.answer("SUB:t:no", "ERR:permission_denied:SUB:t:no")
		asks.Revoke()
		other.Revoke()
		asks.ends(wire.CloseForbidden, "ERR:token_revoked"+id)
		other.ends(wire.CloseForbidden, "ERR:token_revoked")
	})
}
