// Package audit is the hook `audit`: it writes down who connected and was refused, and
// which operations on tokens were called.
package audit

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

func init() { caddy.RegisterModule(new(Audit)) }

// Audit writes one structured record for each connection that begins, ends or is
// refused, for publishes and subscriptions that are refused, and for each operation on tokens or of an operator, to the logger `pubsub.hooks.audit`. Caddy's
// global option `log` sends that to a file of its own. No record holds a secret.
type Audit struct {
	// MaxRefusals is how many refusals of strangers a second get a record: of connections
	// and operations without a valid master token; as many again of clients with a valid token,
	// and of logins that come too fast. A network, or an issuer, has half of these at most, a part
	// of it, such as a tenant, half of that, and so on. The others are counted in one record, since
	// they are caused at will. A wrong password always gets one. From 1 to 100000. Default, and
	// zero: 100.
	MaxRefusals int `json:"max_refusals,omitempty"`
	// Connections says whether connections that begin and end get records: `on` or `off`.
	// Clients cause these at will, those with a token. Default, and empty: `on`.
	Connections string `json:"connections,omitempty"`

	log *zap.Logger
	now func() time.Time

	refusals refusals.Budget
	logins   refusals.Budget // that come too fast: refused connections do not keep them out
}

const (
	defaultMaxRefusals = 100

	on, off = "on", "off" // of Connections
)

// CaddyModule implements [caddy.Module].
func (*Audit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.hooks.audit", New: func() caddy.Module { return new(Audit) }}
}

// Provision implements [caddy.Provisioner].
func (a *Audit) Provision(ctx caddy.Context) error {
	a.log, a.now = ctx.Logger(), time.Now
	if err := args.Resolve(a); err != nil {
		return err
	}
	if a.MaxRefusals == 0 {
		a.MaxRefusals = defaultMaxRefusals
	}
	if a.MaxRefusals < 1 || a.MaxRefusals > 100_000 {
		return fmt.Errorf("max_refusals: must be from 1 to 100000")
	}
	if a.Connections != "" && a.Connections != on && a.Connections != off {
		return fmt.Errorf("connections: must be on or off")
	}
	a.refusals.Max, a.logins.Max = a.MaxRefusals, a.MaxRefusals
	return nil
}

// Cleanup implements [caddy.CleanerUpper].
func (a *Audit) Cleanup() error {
	a.recordOmitted(a.refusals.Omitted())
	a.recordOmitted(a.logins.Omitted())
	return nil
}

// Connected implements [hook.ConnectObserver].
func (a *Audit) Connected(c hook.Client) {
	if a.Connections != off {
		a.log.Info("connected", connection(c)...)
	}
}

// Disconnected implements [hook.DisconnectObserver].
func (a *Audit) Disconnected(c hook.Client, d hook.Disconnection) {
	if a.Connections == off {
		return
	}
	a.log.Info("disconnected", append(connection(c),
		zap.Uint16("close_code", uint16(d.Code)), zap.String("reason", d.Reason), zap.Duration("after", d.After))...)
}

func connection(c hook.Client) []zap.Field {
	fields := []zap.Field{
		zap.Uint64("connection", c.ID), zap.String("token_id", c.TokenID), zap.Strings("tenants", c.Tenants),
		address(c.IP), zap.String("transport", c.Transport),
	}
	fields = appendID(fields, c.ConnectionID)
	if c.Subject != "" {
		fields = append(fields, zap.String("subject", c.Subject))
	}
	if c.Info != nil {
		fields = append(fields, zap.Reflect("info", c.Info))
	}
	return fields
}

// appendID appends the field of a connection id, if there is one.
func appendID(fields []zap.Field, id wire.ConnectionID) []zap.Field {
	if id == 0 {
		return fields
	}
	return append(fields, zap.Stringer("connection_id", id))
}

// address is the field of an address; empty: it is not known.
func address(ip netip.Addr) zap.Field {
	if !ip.IsValid() {
		return zap.String("ip", "")
	}
	return zap.String("ip", ip.String())
}

// Refused implements [hook.RefusalObserver].
func (a *Audit) Refused(r hook.RefusedClient) {
	of := refusals.OfAddress(r.IP)
	if r.Verified {
		of = refusals.OfToken(r.Issuer, r.Tenants, r.TokenID)
	}
	if !a.mayRecord(&a.refusals, of) {
		return
	}
	fields := []zap.Field{
		zap.String("code", r.Code), zap.Int("status", r.Status), zap.String("token_id", r.TokenID),
		address(r.IP), zap.String("transport", r.Transport),
	}
	a.log.Info("refused", because(appendID(fields, r.ConnectionID), r.Subject, r.Reason, r.Rule)...)
}

// because appends whose refusal it was, and why.
func because(fields []zap.Field, subject, reason, rule string) []zap.Field {
	for _, f := range []struct{ key, value string }{{"subject", subject}, {"reason", refusals.Cut(reason)}, {"rule", refusals.Cut(rule)}} {
		if f.value != "" {
			fields = append(fields, zap.String(f.key, f.value))
		}
	}
	return fields
}

// Denied implements [hook.DenialObserver].
func (a *Audit) Denied(c hook.Client, d hook.Denial) {
	if !a.mayRecord(&a.refusals, refusals.OfToken(c.Issuer, c.Tenants, c.TokenID)) {
		return
	}
	fields := []zap.Field{
		zap.String("action", d.Action), zap.String("tenant", d.Tenant), zap.String("channel", d.Channel), zap.String("code", string(d.Code)),
		zap.Uint64("connection", c.ID), zap.String("token_id", c.TokenID), address(c.IP), zap.String("transport", c.Transport),
	}
	a.log.Info("denied", because(appendID(fields, c.ConnectionID), c.Subject, d.Reason, d.Rule)...)
}

// mayRecord counts a refusal, and reports whether it gets a record.
func (a *Audit) mayRecord(b *refusals.Budget, of []string) bool {
	ok, omitted := b.Take(a.now(), of)
	a.recordOmitted(omitted)
	return ok
}

// recordOmitted counts the refusals that got no record.
func (a *Audit) recordOmitted(n uint64) {
	if n > 0 {
		a.log.Info("refused, without records of their own", zap.Uint64("count", n))
	}
}

// isRecorded reports whether an operation gets a record. Those that somebody with a right to
// them caused do, and so do wrong passwords, which are checked one after the other.
func (a *Audit) isRecorded(o hook.Operation) bool {
	switch {
	case o.Code == "too_many_attempts":
		return a.mayRecord(&a.logins, refusals.OfAddress(o.IP))
	case o.Actor == "" && o.Code != "bad_credentials":
		return a.mayRecord(&a.refusals, refusals.OfAddress(o.IP))
	}
	return true
}

// Operated implements [hook.OperationObserver].
func (a *Audit) Operated(o hook.Operation) {
	if !a.isRecorded(o) {
		return
	}
	fields := []zap.Field{zap.String("operation", o.Name), zap.String("actor", o.Actor), address(o.IP), zap.Int("status", o.Status)}
	if o.Code != "" {
		fields = append(fields, zap.String("code", o.Code))
	}
	if o.TokenID != "" {
		fields = append(fields, zap.String("token_id", o.TokenID))
	}
	if len(o.Tenants) > 0 {
		fields = append(fields, zap.Strings("tenants", o.Tenants))
	}
	if !o.ExpiresAt.IsZero() {
		fields = append(fields, zap.Time("expires_at", o.ExpiresAt))
	}
	if o.Name == "revoke_subject" && o.Subject != "" {
		fields = append(fields, zap.Int("revoked", o.Revoked))
	}
	for _, f := range []struct{ key, value string }{{"subject", o.Subject}, {"operator", o.Operator}, {"history", o.History}, {"pattern", o.Pattern}, {"edge", o.Edge}} {
		if f.value != "" {
			fields = append(fields, zap.String(f.key, f.value))
		}
	}
	if o.Connection != 0 {
		fields = append(fields, zap.Uint64("connection", o.Connection))
	}
	message := "token operation"
	switch o.Name {
	case "login", "logout", "confirm", "live_tail", "disconnect", "drain", "member_remove", "history_read", "history_purge":
		message = "operation"
	}
	a.log.Info(message, fields...)
}

// UnmarshalCaddyfile sets up the hook from Caddyfile tokens. Syntax:
//
//	hook audit {
//		max_refusals <count a second>
//		connections  on|off
//	}
func (a *Audit) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the hook's name
	return args.Block(d, map[string]*string{"connections": &a.Connections, "max_refusals": new(string)}, func(option string) (text string, err error) {
		if option == "max_refusals" {
			a.MaxRefusals, err = args.Number(d, args.Count)
			return "", err
		}
		if text, err = args.One(d); err == nil && text != on && text != off {
			err = d.Err("connections: must be on or off")
		}
		return text, err
	})
}

var (
	_ caddy.Provisioner       = (*Audit)(nil)
	_ caddy.CleanerUpper      = (*Audit)(nil)
	_ caddyfile.Unmarshaler   = (*Audit)(nil)
	_ hook.ConnectObserver    = (*Audit)(nil)
	_ hook.DisconnectObserver = (*Audit)(nil)
	_ hook.RefusalObserver    = (*Audit)(nil)
	_ hook.DenialObserver     = (*Audit)(nil)
	_ hook.OperationObserver  = (*Audit)(nil)
)
