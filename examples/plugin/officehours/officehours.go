// Package officehours is a hook that lets clients publish in office hours alone.
package officehours

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the time zones, for machines that have none

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

func init() { caddy.RegisterModule(new(Hook)) }

// Hook refuses what clients of this edge publish outside of office hours. They may stay
// connected and subscribed.
type Hook struct {
	// From is when office hours begin, as on a clock with 24 hours: `9:00`. Default:
	// `9:00`.
	From string `json:"from,omitempty"`
	// To is when they end, up to `24:00`. Before From, it is on the next day, and the
	// hours after midnight belong to the day before. Default: `17:00`.
	To string `json:"to,omitempty"`
	// Days that have office hours: `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`, and
	// ranges of them like `mon-fri` or `sat-mon`. Default: `mon-fri`.
	Days []string `json:"days,omitempty"`
	// TimeZone of the hours and days, as in the IANA time zone database, `Local` for
	// that of the machine. Default: `UTC`.
	TimeZone string `json:"time_zone,omitempty"`
	// Tenants whose messages keep office hours. Default: all.
	Tenants []string `json:"tenants,omitempty"`

	// Static after Provision, so that calls may be concurrent.
	from, to int // minutes after midnight
	days     [7]bool
	zone     *time.Location
	tenants  map[string]bool // empty: all
	refusal  error
	now      func() time.Time // nil: time.Now
}

// CaddyModule implements [caddy.Module].
func (*Hook) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.hooks.office_hours", New: func() caddy.Module { return new(Hook) }}
}

// Provision implements [caddy.Provisioner].
func (h *Hook) Provision(caddy.Context) error {
	if err := args.Resolve(h); err != nil {
		return err
	}
	if h.From == "" {
		h.From = "9:00"
	}
	if h.To == "" {
		h.To = "17:00"
	}
	if len(h.Days) == 0 {
		h.Days = []string{"mon-fri"}
	}
	if h.TimeZone == "" {
		h.TimeZone = "UTC"
	}
	if h.now == nil {
		h.now = time.Now
	}
	var err error
	if h.from, err = parseClock(h.From); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if h.to, err = parseClock(h.To); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if h.from == h.to {
		return errors.New("from and to: must differ; for whole days they are 0:00 and 24:00")
	}
	if h.from == minutesPerDay {
		return errors.New("from: must be before 24:00")
	}
	if h.days, err = parseDays(h.Days); err != nil {
		return fmt.Errorf("days: %w", err)
	}
	if h.zone, err = time.LoadLocation(h.TimeZone); err != nil {
		return fmt.Errorf("time_zone: must be a name like Europe/Berlin, UTC or Local: %w", err)
	}
	h.tenants = map[string]bool{}
	for _, name := range h.Tenants {
		if err := wire.CheckTenant(name); err != nil {
			return fmt.Errorf("tenants: %q: %w", name, err)
		}
		h.tenants[name] = true
	}
	h.refusal = hook.Deny(fmt.Sprintf("publishing is allowed %s from %s to %s, %s", strings.Join(h.Days, " "), h.From, h.To, h.TimeZone))
	return nil
}

// AuthorizePublish implements [hook.PublishAuthorizer].
func (h *Hook) AuthorizePublish(_ hook.Client, p hook.Publication) error {
	if len(h.tenants) > 0 && !h.tenants[p.Tenant] || h.open(h.now()) {
		return nil
	}
	return h.refusal
}

// open reports whether t is in office hours.
func (h *Hook) open(t time.Time) bool {
	t = t.In(h.zone)
	minute, day := t.Hour()*60+t.Minute(), t.Weekday()
	if h.from < h.to {
		return h.days[day] && h.from <= minute && minute < h.to
	}
	yesterday := (day + 6) % 7
	return h.days[day] && h.from <= minute || h.days[yesterday] && minute < h.to
}

var (
	_ hook.PublishAuthorizer = (*Hook)(nil)
	_ caddy.Provisioner      = (*Hook)(nil)
	_ caddyfile.Unmarshaler  = (*Hook)(nil)
)
