package pubsub

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

// Explainer is [Rights] that can say why they do not allow something. The action is a verb of the
// protocol in lower case, or pub.
type Explainer interface {
	// ExplainDenied says it to operators.
	ExplainDenied(action, tenant, channel string) (reason string)
	// Denial says it to a client with the feature reasons: see [wire.AppendDenial].
	Denial(action, tenant, channel string) (kind wire.DenialKind, names []string)
}

// refusalLines is how many refusals of a second the log has, of strangers and of those with a
// token each.
const refusalLines = 10

// Refused keeps that a client got no session, logs it, and tells the hooks.
func (h *Hub) Refused(r hook.RefusedClient) {
	r.Issuer = h.sharedIssuer(r.Issuer)
	of := refusals.OfAddress(r.IP)
	if r.Verified {
		of = refusals.OfToken(r.Issuer, r.Tenants, r.TokenID)
	}
	h.noteRefusal("connection refused", refusals.Refusal{
		ConnectionID: r.ConnectionID, Action: "connect", Status: r.Status, Code: r.Code, Reason: r.Reason, Rule: r.Rule,
		TokenID: r.TokenID, Subject: r.Subject, Verified: r.Verified, IP: r.IP, Transport: r.Transport,
	}, of)
	runHooks(h, h.hooks.Load().refused, func(o hook.RefusalObserver) { o.Refused(r) })
}

// Refusals returns what was refused last, newest first, at most limit, and whether there is more.
func (h *Hub) Refusals(f refusals.Filter, limit int) (list []refusals.Refusal, more bool) {
	f.Network = unmapPrefix(f.Network)
	return h.refusals.List(f, limit)
}

// noteRefusal keeps and logs a refusal, for which somebody pays. Of what it logs see [refusals.Budget].
func (h *Hub) noteRefusal(what string, r refusals.Refusal, of []string) {
	r.Time = time.Now()
	r.Reason, r.Rule = refusals.Cut(r.Reason), refusals.Cut(r.Rule)
	h.refusals.Add(keptRefusal(r), of)
	if !h.log.Core().Enabled(zapcore.InfoLevel) {
		return
	}
	ok, omitted := h.refusalLines.Take(r.Time, of)
	if omitted > 0 {
		h.log.Info("refused, without lines of their own", zap.Uint64("count", omitted))
	}
	if !ok {
		return
	}
	fields := []zap.Field{zap.Stringer("connection_id", r.ConnectionID)}
	for _, f := range []struct{ key, value string }{
		{"token_id", r.TokenID}, {"subject", r.Subject}, {"transport", r.Transport}, {"action", r.Action}, {"tenant", r.Tenant}, {"channel", r.Channel},
		{"code", r.Code}, {"reason", r.Reason}, {"rule", r.Rule},
	} {
		if f.value != "" {
			fields = append(fields, zap.String(f.key, f.value))
		}
	}
	if r.IP.IsValid() {
		fields = append(fields, zap.Stringer("ip", r.IP))
	}
	h.log.Info(what, fields...)
}

// keptRefusal is a refusal whose strings hold nothing else in memory, such as a request.
func keptRefusal(r refusals.Refusal) refusals.Refusal {
	for _, text := range []*string{&r.TokenID, &r.Subject, &r.Tenant, &r.Channel, &r.Reason, &r.Rule} {
		*text = strings.Clone(*text)
	}
	return r
}

// deny notes that the client was refused a publish or a subscription: by a hook, or for want of a
// right. It answers nothing.
func (s *Session) deny(action, tenant, channel string, by *HookRefusal) {
	if !s.token.denials.take(s.hub.now()) {
		return
	}
	d := hook.Denial{Action: action, Tenant: tenant, Channel: channel, Code: wire.CodePermissionDenied}
	if by != nil {
		d.Code, d.Reason = by.Code, cmp.Or(oneLine(by.Reason), "a hook of the edge refuses it")
		if by.Hook != "" {
			d.Rule = "hook " + by.Hook
		}
	} else {
		s.allows(func(r Rights) bool {
			d.Reason = "the token does not allow it"
			if e, ok := r.(Explainer); ok {
				d.Reason = e.ExplainDenied(action, tenant, channel)
			}
			return false
		})
	}
	d.Reason = refusals.Cut(d.Reason)
	client := s.hookClient()
	s.hub.noteRefusal("request refused", refusals.Refusal{
		ConnectionID: client.ConnectionID, Action: action, Code: string(d.Code), Reason: d.Reason, Rule: d.Rule,
		TokenID: client.TokenID, Subject: client.Subject, Verified: true, IP: client.IP, Transport: client.Transport,
		Tenant: tenant, Channel: channel,
	}, refusals.OfToken(client.Issuer, client.Tenants, client.TokenID))
	runHooks(s.hub, s.hub.hooks.Load().denied, func(o hook.DenialObserver) { o.Denied(client, d) })
}

// denyCommand notes that the client was refused a command, and answers it.
func (s *Session) denyCommand(c *command, by *HookRefusal) {
	verb, code := c.verb.String(), wire.CodePermissionDenied
	if by != nil {
		code = by.Code
	}
	action := strings.ToLower(verb)
	s.deny(action, c.key.tenant, c.key.pattern, by)
	if c.count {
		action = "sub" // whose right it takes
	}
	s.rejectWith(code, s.appendDenial(wire.AppendErr(nil, code, verb, c.key.tenant, c.key.pattern), action, c.key.tenant, c.key.pattern, by))
}

// denyPublish is denyCommand for a publish.
func (s *Session) denyPublish(p wire.Publish, by *HookRefusal) {
	tenant, channel, code := string(p.Tenant), string(p.Channel), wire.CodePermissionDenied
	if by != nil {
		code = by.Code
	}
	s.deny("pub", tenant, channel, by)
	o := outcome{code: code}
	if s.tellsReasons.Load() {
		line := wire.AppendErrPub(nil, code, p.ID)
		if !p.Confirm {
			line = wire.AppendErr(nil, code, "PUB", tenant, channel)
		}
		o.line = s.appendDenial(line, "pub", tenant, channel, by)
	}
	s.answerPublish(p, o)
}

// appendDenial appends to an ERR line why the client was refused, if that is for want of a right or by a hook
// and the client has asked for it.
func (s *Session) appendDenial(line []byte, action, tenant, channel string, by *HookRefusal) []byte {
	switch {
	case !s.tellsReasons.Load() || by != nil && by.Code != wire.CodePermissionDenied:
		return line
	case by != nil:
		return wire.AppendDenial(line, wire.DeniedBy, deniedByHook)
	}
	s.allows(func(r Rights) bool {
		if e, ok := r.(Explainer); ok {
			kind, names := e.Denial(action, tenant, channel)
			line = wire.AppendDenial(line, kind, names)
		}
		return false
	})
	return line
}

var deniedByHook = []string{"hook"}

// What is noted of the denials of a token: a client that has no right may ask for it without end.
const (
	denialBurst = 16
	denialEvery = time.Second
)

// denialBudget bounds the denials of a token that are noted. Safe for concurrent use.
type denialBudget struct {
	mu   sync.Mutex
	free time.Duration // on the hub's clock, from when on the burst is whole
}

func (b *denialBudget) take(now time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free > now+(denialBurst-1)*denialEvery {
		return false
	}
	b.free = max(b.free, now) + denialEvery
	return true
}
