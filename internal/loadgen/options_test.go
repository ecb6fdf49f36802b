package loadgen

import (
	"errors"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	for _, scenario := range Scenarios() {
		if err := Defaults(scenario).Check(); err != nil {
			t.Errorf("the defaults of %s: %v", scenario, err)
		}
	}
	for _, tt := range []struct {
		scenario, want string
		change         func(*Options)
	}{
		{"flood", "scenario: must be one of fanout, latency, rooms, idle", nil},
		{Fanout, "window: must be from 1 to", func(o *Options) { o.Window = 0 }},
		{Fanout, "burst: must be from 1 to", func(o *Options) { o.Burst = -1 }},
		{Fanout, "subscribers: must be from 1 to", func(o *Options) { o.Subscribers = 0 }},
		{Latency, "subscribers: must be from 1 to", func(o *Options) { o.Subscribers = 0 }},
		{Latency, "rate: must be above 0", func(o *Options) { o.Rate = 0 }},
		{Rooms, "payload: must be from 24 to", func(o *Options) { o.Payload = 23 }},
		{Rooms, "members: must be from 1 to", func(o *Options) { o.Members = 0 }},
		{Rooms, "rooms: must be so few", func(o *Options) { o.Rooms, o.Members = 2000, 2000 }},
		{Rooms, "member-rate: must be above 0", func(o *Options) { o.MemberRate = -1 }},
		{Idle, "connections: must be from 1 to", func(o *Options) { o.Connections = 0 }},
		{Idle, "settle: must be from 0", func(o *Options) { o.Settle = -1 }},
		{Fanout, "duration: must be above 0", func(o *Options) { o.Duration = 0 }},
		{Fanout, "warmup: must be from 0", func(o *Options) { o.Warmup = -1 }},
		{Fanout, "dialers: must be from", func(o *Options) { o.Dialers = -1 }},
		{Fanout, "server-pid: must be from 0", func(o *Options) { o.PID = -1 }},
	} {
		o := Defaults(tt.scenario)
		if tt.change != nil {
			tt.change(&o)
		}
		r, err := Run(t.Context(), &broker{}, o)
		var option *OptionError
		if r != nil || !errors.As(err, &option) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v and %v, want %q", tt.scenario, r, err, tt.want)
		}
	}
}
