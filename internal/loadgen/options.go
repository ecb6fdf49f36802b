package loadgen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Defaults returns options with which a run ends within about 15 s on a laptop;
// PID and Progress are not set.
func Defaults(scenario string) Options {
	return Options{
		Scenario:    scenario,
		Subscribers: 1000, Publishers: 1, Window: 128, Burst: 16, Payload: 128,
		Duration: 8 * time.Second, Warmup: time.Second,
		Rate:  50,
		Rooms: 200, Members: 10, MemberRate: 2,
		Connections: 1000, Settle: 5 * time.Second,
		Dialers: defaultDialers,
	}
}

const (
	// MinPayload is the smallest Options.Payload, bytes: a message carries its
	// run, publisher, number and time.
	MinPayload = 24
	// MaxPayload is the largest, bytes: the most that an edge can be configured to accept.
	MaxPayload = 16 << 20

	maxConnections = 1_000_000
	maxPublishers  = 1000
	maxWindow      = 1 << 20
	maxTime        = time.Hour
	defaultDialers = 16

	defaultPatience = 5 * time.Second
)

// An OptionError says which option is invalid, and what is allowed.
type OptionError struct {
	Option  string // as the command line spells it, without dashes
	Allowed string
}

func (e *OptionError) Error() string { return e.Option + ": must be " + e.Allowed }

// Check returns nil, or an *OptionError for what Run would refuse.
func (o Options) Check() error {
	if !slices.Contains(Scenarios(), o.Scenario) {
		return &OptionError{"scenario", "one of " + strings.Join(Scenarios(), ", ")}
	}
	counts := []struct {
		option        string
		value, lo, hi int
		scenarios     string
	}{
		{"subscribers", o.Subscribers, 1, maxConnections, Fanout + Latency},
		{"publishers", o.Publishers, 1, maxPublishers, Fanout},
		{"window", o.Window, 1, maxWindow, Fanout},
		{"burst", o.Burst, 1, maxWindow, Fanout},
		{"payload", o.Payload, MinPayload, MaxPayload, Fanout + Latency + Rooms},
		{"rooms", o.Rooms, 1, maxConnections, Rooms},
		{"members", o.Members, 1, maxConnections, Rooms},
		{"connections", o.Connections, 1, maxConnections, Idle},
		{"dialers", o.Dialers, 0, 10_000, o.Scenario},
		{"server-pid", o.PID, 0, math.MaxInt32, o.Scenario},
	}
	for _, c := range counts {
		if strings.Contains(c.scenarios, o.Scenario) && (c.value < c.lo || c.value > c.hi) {
			return &OptionError{c.option, fmt.Sprintf("from %d to %d", c.lo, c.hi)}
		}
	}
	for _, rate := range []struct {
		option   string
		value    float64
		scenario string
	}{{"rate", o.Rate, Latency}, {"member-rate", o.MemberRate, Rooms}} {
		if rate.scenario == o.Scenario && !(rate.value > 0 && rate.value <= 1e6) { // also NaN
			return &OptionError{rate.option, "above 0 and at most 1000000 messages/s"}
		}
	}
	switch {
	case o.Scenario == Rooms && o.Rooms*o.Members > maxConnections:
		return &OptionError{"rooms", fmt.Sprintf("so few that rooms times members is at most %d", maxConnections)}
	case o.Scenario != Idle && (o.Duration <= 0 || o.Duration > maxTime):
		return &OptionError{"duration", "above 0 and at most 1h"}
	case o.Warmup < 0 || o.Warmup > maxTime:
		return &OptionError{"warmup", "from 0 to 1h"}
	case o.Settle < 0 || o.Settle > maxTime:
		return &OptionError{"settle", "from 0 to 1h"}
	}
	return nil
}

// Thousands writes n with commas: 1,234,567.
func Thousands(n int64) string { return humanize.Comma(n) }
