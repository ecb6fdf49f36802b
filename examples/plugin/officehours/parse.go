package officehours

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

const minutesPerDay = 24 * 60

// clock finds hours and minutes.
var clock = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{2})$`)

// parseClock returns minutes after midnight.
func parseClock(text string) (int, error) {
	if found := clock.FindStringSubmatch(text); found != nil {
		hours, _ := strconv.Atoi(found[1]) // at most two digits each
		minutes, _ := strconv.Atoi(found[2])
		if n := hours*60 + minutes; minutes < 60 && n <= minutesPerDay {
			return n, nil
		}
	}
	return 0, fmt.Errorf("must be a time from 0:00 to 24:00, as 17:30, and is %q", text)
}

// weekdays has the indices of time.Weekday.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func parseDays(list []string) (days [7]bool, err error) {
	for _, text := range list {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		from, to := slices.Index(weekdays, first), slices.Index(weekdays, last)
		if from < 0 || to < 0 {
			return days, fmt.Errorf("must be of %s, or ranges like mon-fri, and one is %q", strings.Join(weekdays, ", "), text)
		}
		days[to] = true
		for day := from; day != to; day = (day + 1) % 7 {
			days[day] = true
		}
	}
	return days, nil
}

// UnmarshalCaddyfile sets up the hook from Caddyfile tokens. Syntax:
//
//	hook office_hours {
//		from      <hours>:<minutes>
//		to        <hours>:<minutes>
//		days      <days...>
//		time_zone <name>
//		tenants   <names...>
//	}
func (h *Hook) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the hook's name
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option, args := d.Val(), d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		one := map[string]*string{"from": &h.From, "to": &h.To, "time_zone": &h.TimeZone}[option]
		switch {
		case one != nil && len(args) > 1:
			return d.ArgErr()
		case one != nil:
			*one = args[0]
		case option == "days":
			h.Days = args
		case option == "tenants":
			h.Tenants = args
		default:
			return d.Errf("unknown option %s of hook office_hours; allowed: from, to, days, time_zone, tenants", option)
		}
	}
	return nil
}
