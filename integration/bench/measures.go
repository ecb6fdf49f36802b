package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// The groups of measures that -scenarios chooses from.
const (
	groupFanout        = "fanout"
	groupTLS           = "tls"
	groupWebTransport  = "webtransport"
	groupLatency       = "latency"
	groupRooms         = "rooms"
	groupIdle          = "idle"
	groupStalled       = "stalled"
	groupTenant        = "tenant"
	groupIssuer        = "issuer"
	groupPatterns      = "patterns"
	groupCrowd         = "crowd"
	groupCaps          = "caps"
	groupHop           = "hop"
	groupSubscriptions = "subscriptions"
	groupHistories     = "histories"
)

var groups = []string{groupFanout, groupTLS, groupWebTransport, groupLatency, groupRooms, groupIdle,
	groupStalled, groupTenant, groupIssuer, groupPatterns, groupCrowd, groupCaps, groupHop, groupSubscriptions, groupHistories}

var servers = []string{floorQueue, floorEqual, floorEach, natsServer, natsPair, mochiMQTT, socketIO, millrace, millraceNATS, millraceHop,
	millraceOther, millraceKept, millraceDisk}

// scale sizes the runs; the tests make it small.
type scale struct {
	Rounds      int           `json:"rounds"`
	Duration    time.Duration `json:"duration_ns"`
	FairTime    time.Duration `json:"fair_time_ns"` // of a run beside a disturbance, if that is longer
	Warmup      time.Duration `json:"warmup_ns"`
	Settle      time.Duration `json:"settle_ns"`
	CapTime     time.Duration `json:"cap_time_ns"`   // of measuring a cap
	CapWarmup   time.Duration `json:"cap_warmup_ns"` // before it: the first second is not capped
	CapSizes    []int         `json:"cap_sizes"`     // KB/s
	Subscribers int           `json:"subscribers"`
	Rooms       int           `json:"rooms"`
	Connections int           `json:"connections"` // idle
	Crowd       int           `json:"crowd"`       // subscribers of the large channel
	Attackers   int           `json:"attackers"`   // subscribers of a channel of another master token

	SubscriptionConnections int `json:"subscription_connections"`
	SubscriptionsEach       int `json:"subscriptions_each"`
}

var fullScale = scale{
	Rounds: 3, Duration: 5 * time.Second, FairTime: 500 * time.Second / latencyRate, Warmup: time.Second, Settle: 5 * time.Second,
	CapTime: 10 * time.Second, CapWarmup: 3 * time.Second, CapSizes: []int{8, 128, 2048, 16384},
	Subscribers: 1000, Rooms: 200, Connections: 5000, Crowd: 10000, Attackers: 5000,
	SubscriptionConnections: 1000, SubscriptionsEach: 100,
}

// A measure is a column's source: one scenario over one transport.
type measure struct {
	key       string
	group     string
	transport string
	servers   []string
	options   loadgen.Options
}

const (
	latencyRate = 50   // messages/s
	hopRate     = 1000 // messages/s, in the group hop
	// webTransportShare is how many of the idle connections are opened over
	// WebTransport, which takes more than ten times as long.
	webTransportShare = 0.2
)

// measures returns what the table needs, in the order of a round.
func measures(s scale) []measure {
	var (
		everybody = []string{floorQueue, floorEqual, floorEach, natsServer, mochiMQTT, socketIO, millrace}
		unequal   = []string{floorQueue, floorEach, natsServer, mochiMQTT, socketIO, millrace}
		overTLSes = []string{floorQueue, floorEqual, natsServer, millrace}
		ours      = []string{millrace}
		list      []measure
	)
	add := func(key, group, transport string, servers []string, scenario string, set func(o *loadgen.Options)) {
		o := loadgen.Defaults(scenario)
		o.Subscribers, o.Rooms, o.Connections = s.Subscribers, s.Rooms, s.Connections
		o.Duration, o.Warmup, o.Settle = s.Duration, s.Warmup, s.Settle
		o.Rate = latencyRate
		if set != nil {
			set(&o)
		}
		list = append(list, measure{key, group, transport, servers, o})
	}
	windows := []int{128, 16, 1}
	window := func(w int) func(o *loadgen.Options) { return func(o *loadgen.Options) { o.Window = w } }
	for _, w := range windows {
		add(fmt.Sprintf("fanout-%d", w), groupFanout, overPlain, everybody, loadgen.Fanout, window(w))
	}
	add("tls-128", groupTLS, overTLS, overTLSes, loadgen.Fanout, window(128))
	for _, w := range windows {
		if w != 128 {
			add(fmt.Sprintf("tls-%d", w), groupWebTransport, overTLS, ours, loadgen.Fanout, window(w))
		}
		add(fmt.Sprintf("webtransport-%d", w), groupWebTransport, overWebTransport, ours, loadgen.Fanout, window(w))
	}
	add("latency", groupLatency, overPlain, unequal, loadgen.Latency, nil)
	add("rooms", groupRooms, overPlain, unequal, loadgen.Rooms, nil)
	add("idle", groupIdle, overPlain, unequal, loadgen.Idle, nil)
	add("idle-tls", groupIdle, overTLS, []string{floorQueue, floorEach, natsServer, millrace}, loadgen.Idle, nil)
	add("idle-webtransport", groupIdle, overWebTransport, ours, loadgen.Idle, func(o *loadgen.Options) {
		o.Connections = int(math.Ceil(float64(o.Connections) * webTransportShare))
	})
	kept := []string{millrace, millraceOther, millraceKept, millraceDisk}
	add("histories-128", groupHistories, overPlain, kept, loadgen.Fanout, window(128))
	add("histories-16", groupHistories, overPlain, []string{millrace, millraceKept}, loadgen.Fanout, func(o *loadgen.Options) {
		o.Window, o.Publishers = 128, 16
	})
	add("histories-latency", groupHistories, overPlain, kept, loadgen.Latency, nil)
	// All processes of a server share the servers' core.
	hop := []string{natsServer, natsPair, millrace, millraceNATS, millraceHop}
	for _, subscribers := range []int{1, min(100, s.Subscribers)} {
		add(fmt.Sprintf("hop-%d", subscribers), groupHop, overPlain, hop, loadgen.Fanout, func(o *loadgen.Options) {
			o.Window, o.Subscribers = 128, subscribers
		})
		add(fmt.Sprintf("hop-latency-%d", subscribers), groupHop, overPlain, hop, loadgen.Latency, func(o *loadgen.Options) {
			o.Subscribers, o.Rate = subscribers, hopRate
		})
	}
	return list
}

// A column shows one figure of a measure.
type column struct {
	title   string
	measure string
	show    func(c cell) string
}

var columns = []column{
	{"w=128", "fanout-128", cell.rate},
	{"w=16", "fanout-16", cell.rate},
	{"w=1", "fanout-1", cell.rate},
	{"TLS w=128", "tls-128", cell.rate},
	{"WebTransport w=128", "webtransport-128", cell.rate},
	{"WebTransport w=16", "webtransport-16", cell.rate},
	{"WebTransport w=1", "webtransport-1", cell.rate},
	{"50/s × 1,000: p99", "latency", cell.p99},
	{"rooms 200×10: p99", "rooms", cell.p99},
	{"idle KiB", "idle", cell.memory},
	{"idle KiB, TLS", "idle-tls", cell.memory},
	{"idle KiB, WebTransport", "idle-webtransport", cell.memory},
	{"CPU s / 1,000 handshakes", "idle", cell.handshakes},
	{"histories, w=128", "histories-128", cell.rate},
	{"histories, 16 publishers", "histories-16", cell.rate},
	{"histories, 50/s × 1,000: p99", "histories-latency", cell.p99},
	{"1 subscriber, w=128", "hop-1", cell.hopRate},
	{"1,000/s × 1: p99", "hop-latency-1", cell.p99},
	{"100 subscribers, w=128", "hop-100", cell.hopRate},
	{"1,000/s × 100: p99", "hop-latency-100", cell.p99},
}

// A run is one run of a measure.
type run struct {
	Round      int     `json:"round"`
	Server     string  `json:"server"`
	Measure    string  `json:"measure"`
	Transport  string  `json:"transport"`
	OtherCores float64 `json:"other_cores"` // that all other processes used meanwhile
	// ServersCPU is the CPU time of all processes of the server, for a million deliveries
	// of the whole run.
	ServersCPU  float64         `json:"servers_cpu_seconds_per_million"`
	Void        string          `json:"void,omitempty"`
	Measurement *loadgen.Result `json:"result,omitempty"`
}

// A cell is the runs of one server and measure, in the order of rounds.
type cell []run

// values returns a figure of each run; ok is false if any is void, or if there
// is none.
func (c cell) values(figure func(r *loadgen.Result) float64) (values []float64, ok bool) {
	for _, r := range c {
		if r.Void != "" {
			return nil, false
		}
		values = append(values, figure(r.Measurement))
	}
	return values, len(c) > 0
}

func rate(r *loadgen.Result) float64       { return r.DeliveriesPerSecond }
func cpu(r *loadgen.Result) float64        { return r.ServerCPUSecondsPerMillion }
func p99(r *loadgen.Result) float64        { return r.P99us / 1000 } // ms
func handshakes(r *loadgen.Result) float64 { return r.ServerCPUSecondsPerThousandHandshakes }
func memory(r *loadgen.Result) float64 { // KiB
	if r.ServerBytesPerConnection == nil {
		return math.NaN()
	}
	return *r.ServerBytesPerConnection / 1024
}

// show formats the median of a figure; a void cell says so.
func (c cell) show(figure func(r *loadgen.Result) float64, format func(float64) string) string {
	if len(c) == 0 {
		return "–"
	}
	values, ok := c.values(figure)
	if !ok {
		return "void"
	}
	return format(median(values))
}

func (c cell) rate() string {
	text := c.show(rate, millions)
	if text != "–" && text != "void" {
		text += " (" + c.show(cpu, significant) + ")"
	}
	return text
}

// hopRate is rate with the CPU of all processes.
func (c cell) hopRate() string {
	text := c.show(rate, millions)
	if text != "–" && text != "void" {
		var cpu []float64
		for _, r := range c {
			cpu = append(cpu, r.ServersCPU)
		}
		text += " (" + significant(median(cpu)) + ")"
	}
	return text
}

func (c cell) p99() string {
	return c.show(p99, func(v float64) string { return significant(v) + " ms" })
}
func (c cell) memory() string     { return c.show(memory, significant) }
func (c cell) handshakes() string { return c.show(handshakes, significant) }

// median returns NaN for no values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	switch n := len(sorted); {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (sorted[n/2-1] + sorted[n/2]) / 2
	default:
		return sorted[n/2]
	}
}

func millions(v float64) string { return significant(v/1e6) + " M" }

// significant formats with three digits: 0.0712, 1.34, 51.6, 128.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "?"
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	case a >= 0.09995:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.4f", v)
}
