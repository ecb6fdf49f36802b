// Package audit is the hook `audit`: it writes down who connected and was refused, and
// which operations on tokens were called.
package audit

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/pubsub/hook"
)

func init() { caddy.RegisterModule(new(Audit)) }

// Audit writes one structured record for each connection that begins, ends or is
// refused, and for each operation on tokens or of an operator, to the logger `pubsub.hooks.audit`. Caddy's
// global option `log` sends that to a file of its own. No record holds a secret.
type Audit struct {
	// MaxRefusals is how many refusals of strangers a second get a record: of connections
	// and operations without a valid master token, and as many again of logins that come too
	// fast. The others are counted in one record, since strangers cause them at will. A wrong
	// password always gets one. From 1 to 100000. Default, and zero: 100.
	MaxRefusals int `json:"max_refusals,omitempty"`

	log *zap.Logger
	now func() time.Time

	mu       sync.Mutex // guards what follows
	refusals budget
	logins   budget // that come too fast: refused connections do not keep them out
}

// budget is how many refusals of a second get a record.
type budget struct {
	second   time.Time // that is counted
	recorded int       // refusals in it that got a record
	omitted  uint64    // refusals that got no record since the last one that counts these
}

const defaultMaxRefusals = 100

// CaddyModule implements [caddy.Module].
func (*Audit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.hooks.audit", New: func() caddy.Module { return new(Audit) }}
}

// Provision implements [caddy.Provisioner].
func (a *Audit) Provision(ctx caddy.Context) error {
	a.log, a.now = ctx.Logger(), time.Now
	if a.MaxRefusals == 0 {
		a.MaxRefusals = defaultMaxRefusals
	}
	if a.MaxRefusals < 1 || a.MaxRefusals > 100_000 {
		return fmt.Errorf("max_refusals: must be from 1 to 100000")
	}
	return nil
}

// Cleanup implements [caddy.CleanerUpper].
func (a *Audit) Cleanup() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refusals.recordOmitted(a.log)
	a.logins.recordOmitted(a.log)
	return nil
}

// Connected implements [hook.ConnectObserver].
func (a *Audit) Connected(c hook.Client) { a.log.Info("connected", connection(c)...) }

// Disconnected implements [hook.DisconnectObserver].
func (a *Audit) Disconnected(c hook.Client, d hook.Disconnection) {
	a.log.Info("disconnected", append(connection(c),
		zap.Uint16("close_code", uint16(d.Code)), zap.String("reason", d.Reason), zap.Duration("after", d.After))...)
}

func connection(c hook.Client) []zap.Field {
	fields := []zap.Field{
		zap.Uint64("connection", c.ID), zap.String("token_id", c.TokenID), zap.Strings("tenants", c.Tenants),
		address(c.IP), zap.String("transport", c.Transport),
	}
	if c.Subject != "" {
		fields = append(fields, zap.String("subject", c.Subject))
	}
	if c.Info != nil {
		fields = append(fields, zap.Reflect("info", c.Info))
	}
	return fields
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
	if !a.mayRecord(&a.refusals) {
		return
	}
	fields := []zap.Field{
		zap.String("code", r.Code), zap.Int("status", r.Status), zap.String("token_id", r.TokenID),
		address(r.IP), zap.String("transport", r.Transport),
	}
	if r.Subject != "" {
		fields = append(fields, zap.String("subject", r.Subject))
	}
	a.log.Info("refused", fields...)
}

// mayRecord counts a refusal, and reports whether it gets a record.
func (a *Audit) mayRecord(b *budget) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := a.now().Truncate(time.Second); !second.Equal(b.second) {
		b.recordOmitted(a.log)
		b.second, b.recorded = second, 0
	}
	if b.recorded >= a.MaxRefusals {
		b.omitted++
		return false
	}
	b.recorded++
	return true
}

// recordOmitted counts the refusals that got no record. The caller holds the mutex.
func (b *budget) recordOmitted(log *zap.Logger) {
	if b.omitted > 0 {
		log.Info("refused, without records of their own", zap.Uint64("count", b.omitted))
		b.omitted = 0
	}
}

// isRecorded reports whether an operation gets a record. Those that somebody with a right to
// them caused do, and so do wrong passwords, which are checked one after the other.
func (a *Audit) isRecorded(o hook.Operation) bool {
	switch {
	case o.Code == "too_many_attempts":
		return a.mayRecord(&a.logins)
	case o.Actor == "" && o.Code != "bad_credentials":
		return a.mayRecord(&a.refusals)
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
//	}
func (a *Audit) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the hook's name
	return args.Block(d, map[string]*int{"max_refusals": &a.MaxRefusals}, func(string) (int, error) {
		return args.Number(d, args.Count)
	})
}

var (
	_ caddy.Provisioner       = (*Audit)(nil)
	_ caddy.CleanerUpper      = (*Audit)(nil)
	_ caddyfile.Unmarshaler   = (*Audit)(nil)
	_ hook.ConnectObserver    = (*Audit)(nil)
	_ hook.DisconnectObserver = (*Audit)(nil)
	_ hook.RefusalObserver    = (*Audit)(nil)
	_ hook.OperationObserver  = (*Audit)(nil)
)
