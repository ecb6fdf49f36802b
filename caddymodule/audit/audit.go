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
// refused, and for each operation on tokens, to the logger `pubsub.hooks.audit`. Caddy's
// global option `log` sends that to a file of its own. No record holds a secret.
type Audit struct {
	// MaxRefusals is how many refusals of strangers a second get a record, of connections
	// and of operations without a valid master token; the others are counted in one, since
	// strangers cause them at will. From 1 to 100000. Default, and
	// zero: 100.
	MaxRefusals int `json:"max_refusals,omitempty"`

	log *zap.Logger
	now func() time.Time

	mu       sync.Mutex // guards what follows
	second   time.Time  // that is counted
	recorded int        // refusals in it that got a record
	omitted  uint64     // refusals that got no record since the last one that counts these
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
	a.recordOmitted()
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
	return []zap.Field{
		zap.Uint64("connection", c.ID), zap.String("token_id", c.TokenID), zap.Strings("tenants", c.Tenants),
		address(c.IP), zap.String("transport", c.Transport),
	}
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
	if !a.mayRecordRefusal() {
		return
	}
	a.log.Info("refused", zap.String("code", r.Code), zap.Int("status", r.Status), zap.String("token_id", r.TokenID),
		address(r.IP), zap.String("transport", r.Transport))
}

// mayRecordRefusal counts a refusal, and reports whether it gets a record.
func (a *Audit) mayRecordRefusal() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := a.now().Truncate(time.Second); !second.Equal(a.second) {
		a.recordOmitted()
		a.second, a.recorded = second, 0
	}
	if a.recorded >= a.MaxRefusals {
		a.omitted++
		return false
	}
	a.recorded++
	return true
}

// recordOmitted counts the refusals that got no record. The caller holds a.mu.
func (a *Audit) recordOmitted() {
	if a.omitted > 0 {
		a.log.Info("refused, without records of their own", zap.Uint64("count", a.omitted))
		a.omitted = 0
	}
}

// Operated implements [hook.OperationObserver].
func (a *Audit) Operated(o hook.Operation) {
	if o.Actor == "" && !a.mayRecordRefusal() { // of a stranger
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
	a.log.Info("token operation", fields...)
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
