package officehours

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// parse returns a hook as the edge has it, or the error with which it would not start.
func parse(text string) (*Hook, error) {
	h := new(Hook)
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
		return nil, err
	}
	return h, h.Provision(caddy.Context{})
}

const berlin = `office_hours {
	from 9:00
	to 17:30
	days mon-fri
	time_zone Europe/Berlin
}`

const night = `office_hours {
	from 22:00
	to 6:00
	days fri sat
}`

func TestAuthorizePublish(t *testing.T) {
	for _, c := range []struct {
		name, config, now string
		open              bool
	}{
		{"a minute before", berlin, "2026-01-05T07:59:59Z", false},
		{"the first moment", berlin, "2026-01-05T08:00:00Z", true},
		{"the last moment", berlin, "2026-01-05T16:29:59Z", true},
		{"the end", berlin, "2026-01-05T16:30:00Z", false},
		{"in summer the zone is an hour ahead", berlin, "2026-07-06T07:00:00Z", true},
		{"and ends an hour before", berlin, "2026-07-06T15:30:00Z", false},
		{"Friday", berlin, "2026-01-09T12:00:00Z", true},
		{"Saturday", berlin, "2026-01-10T12:00:00Z", false},
		{"Sunday", berlin, "2026-01-11T12:00:00Z", false},
		{"Monday there, Sunday here", "office_hours {\n\ttime_zone Pacific/Auckland\n}", "2026-01-04T21:00:00Z", true},
		{"over midnight, Friday evening", night, "2026-01-09T22:00:00Z", true},
		{"over midnight, Saturday before dawn", night, "2026-01-10T05:59:00Z", true},
		{"over midnight, Saturday morning", night, "2026-01-10T06:00:00Z", false},
		{"over midnight, Sunday before dawn", night, "2026-01-11T03:00:00Z", true},
		{"over midnight, Sunday evening", night, "2026-01-11T23:00:00Z", false},
		{"over midnight, Friday before dawn", night, "2026-01-09T03:00:00Z", false},
		{"whole days", "office_hours {\n\tfrom 0:00\n\tto 24:00\n\tdays sat-mon\n}", "2026-01-11T23:59:59Z", true},
		{"the defaults", "office_hours", "2026-01-05T16:59:59Z", true},
		{"after the defaults", "office_hours", "2026-01-05T17:00:00Z", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := parse(c.config)
			if err != nil {
				t.Fatal(err)
			}
			now, err := time.Parse(time.RFC3339, c.now)
			if err != nil {
				t.Fatal(err)
			}
			h.now = func() time.Time { return now }
			err = h.AuthorizePublish(hook.Client{}, hook.Publication{Tenant: "t", Channel: "a"})
			if (err == nil) != c.open {
				t.Errorf("at %s: %v, want open: %v", c.now, err, c.open)
			}
			var refusal *hook.Refusal
			if err != nil && (!errors.As(err, &refusal) || refusal.Code != wire.CodePermissionDenied) {
				t.Errorf("it refuses with %v", err)
			}
		})
	}
}

func TestReason(t *testing.T) {
	h, err := parse(berlin)
	if err != nil {
		t.Fatal(err)
	}
	if want := "permission_denied: publishing is allowed mon-fri from 9:00 to 17:30, Europe/Berlin"; h.refusal.Error() != want {
		t.Errorf("got %q, want %q", h.refusal, want)
	}
}

func TestTenants(t *testing.T) {
	h, err := parse("office_hours {\n\ttenants paint.eu paint.us\n}")
	if err != nil {
		t.Fatal(err)
	}
	h.now = func() time.Time { return time.Date(2026, 1, 11, 12, 0, 0, 0, time.UTC) } // a Sunday
	for tenant, want := range map[string]bool{"paint.eu": false, "paint.us": false, "paint": true, "games": true} {
		if err := h.AuthorizePublish(hook.Client{}, hook.Publication{Tenant: tenant}); (err == nil) != want {
			t.Errorf("tenant %s: %v, want allowed: %v", tenant, err, want)
		}
	}
}

func TestClockOfTheMachine(t *testing.T) {
	h, err := parse("office_hours {\n\tfrom 0:00\n\tto 24:00\n\tdays sun-sat\n\ttime_zone Local\n}")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AuthorizePublish(hook.Client{}, hook.Publication{Tenant: "t"}); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for option, want := range map[string]string{
		"from 25:00":          `from: must be a time from 0:00 to 24:00, as 17:30, and is "25:00"`,
		"from 24:00":          "from: must be before 24:00",
		"from 9":              "from: must be a time",
		"to 9:60":             "to: must be a time",
		"to 24:01":            "to: must be a time",
		"to 9:00":             "from and to: must differ; for whole days they are 0:00 and 24:00",
		"days monday":         `days: must be of sun, mon, tue, wed, thu, fri, sat, or ranges like mon-fri, and one is "monday"`,
		"days mon-":           "days: must be of",
		"days mon-tue-wed":    "days: must be of",
		"time_zone Berlin":    "time_zone: must be a name like Europe/Berlin, UTC or Local",
		"tenants paint not,t": `tenants: "not,t"`,
		"hours 9-17":          "unknown option hours of hook office_hours; allowed: from, to, days, time_zone, tenants",
		"from":                "wrong argument count",
		"from 9:00 10:00":     "wrong argument count",
		"days":                "wrong argument count",
	} {
		if _, err := parse("office_hours {\n\t" + option + "\n}"); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: error %v, want %s", option, err, want)
		}
	}
	if _, err := parse("office_hours 9:00"); err == nil {
		t.Error("an argument behind the name was taken")
	}
}
