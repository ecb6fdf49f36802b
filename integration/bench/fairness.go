package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/millrace/millrace/internal/loadgen"
)

// A fair is a measurement of Millrace with and without a disturbance that it must
// withstand, in turns.
type fair struct {
	group string
	edge  edgeOptions
	// options of the measured run; both runs are the same.
	options  loadgen.Options
	variants []variant
	// heap is how much memory the disturbance may take, bytes.
	heap int
	// limit bounds the disturbed p99, ms; 0: ratio times the undisturbed one.
	limit float64
	ratio float64 // 0: fairRatio
}

// A variant is a disturbance, and the token that it uses.
type variant struct {
	name    string
	tenant  string
	ingress int // KB/s; 0: the edge's default
	disturb disturbJob
	over    string // transport; empty: overPlain
	mark    bool   // otherwise it is shown only for comparison
	other   bool   // its token is of the other master token
	reload  bool   // the configuration is reloaded meanwhile
}

const (
	fairRatio    = 1.10
	issuerRatio  = 1.20
	otherPrefix  = "other."
	sendQueue    = 1 << 20 // bytes: the edge's default
	stalledFill  = 32 << 20
	noisyTenant  = "noisy"
	noisyCap     = 512 // KB/s
	noisyPayload = 1000
	crowdRate    = 5 // messages/s
)

// fairness returns the rows below the table.
func fairness(s scale) []fair {
	options := loadgen.Defaults(loadgen.Latency)
	options.Subscribers, options.Duration, options.Warmup, options.Rate = s.Subscribers, max(s.Duration, s.FairTime), s.Warmup, latencyRate
	small := options
	small.Subscribers = min(10, s.Subscribers)

	// The cost of a message of the noisy tenant, as capJob.cost.
	message := float64(2 + len(noisyTenant) + 2 + len("noise") + noisyPayload + messageCost)
	atCap := noisyCap * kilobyte / message
	noise := func(publishers int, rate float64) disturbJob {
		return disturbJob{Channel: "noise", Subscribers: 10, Publishers: publishers, Payload: noisyPayload, Rate: rate}
	}
	guests := min(64, s.Attackers/10)  // tenants of another master token
	keptEach := max(1, s.Attackers/50) // subscribers in each of them
	crowd := func(over string) variant {
		return variant{
			name:  fmt.Sprintf("another master token with %d subscribers of one channel over %s", s.Attackers, overNames[over]),
			other: true, over: over, mark: true,
			disturb: disturbJob{Channel: "noise", Tenants: manyTenants(1), Subscribers: s.Attackers, Publishers: guests, Payload: 128},
		}
	}
	return []fair{
		{group: groupStalled, options: options, heap: sendQueue, variants: []variant{{
			name: "one of the subscribers never reads", tenant: tenant, mark: true,
			disturb: disturbJob{Channel: "fill", Stalled: 1, Fill: stalledFill},
		}}},
		{group: groupTenant, options: options, variants: []variant{
			{name: "another tenant at its token's cap", tenant: noisyTenant, ingress: noisyCap, disturb: noise(1, 0.95*atCap)},
			{name: "another tenant at ten times its token's cap", tenant: noisyTenant, ingress: noisyCap, disturb: noise(1, 10*atCap), mark: true},
		}},
		{group: groupTenant, options: options, edge: edgeOptions{Bandwidth: []string{fmt.Sprintf("tenant_ingress %d", noisyCap)}},
			variants: []variant{
				{name: "another tenant at its tenant cap", tenant: noisyTenant, disturb: noise(10, 0.095*atCap)},
				{name: "another tenant at ten times its tenant cap", tenant: noisyTenant, disturb: noise(10, atCap), mark: true},
			}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix}, ratio: issuerRatio, variants: []variant{
			{
				name: fmt.Sprintf("another master token with %d tenants in one token, as much as the edge reads", guests), mark: true, other: true,
				disturb: disturbJob{
					Channel: "noise", Tenants: manyTenants(guests), Subscribers: 10 * guests, Publishers: guests, Payload: noisyPayload,
				},
			},
			{
				name: fmt.Sprintf("another master token with %d tenants and 128 patterns in each", guests), mark: true, other: true,
				disturb: disturbJob{
					Channel: "bench.noise", Tenants: manyTenants(guests), Patterns: manyPatterns(128), PatternsEach: guests, Publishers: guests, Payload: 128,
				},
			},
		}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix, Limits: []string{"issuer_share 100"}}, ratio: issuerRatio,
			variants: []variant{{
				name: fmt.Sprintf("the same %d tenants without shares of issuers", guests), other: true,
				disturb: disturbJob{
					Channel: "noise", Tenants: manyTenants(guests), Subscribers: 10 * guests, Publishers: guests, Payload: noisyPayload,
				},
			}}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix, History: "bench.#", HistoryStore: "memory"}, ratio: issuerRatio,
			variants: []variant{{
				name: fmt.Sprintf("another master token with %d tenants whose replays find nothing", guests), mark: true, other: true,
				disturb: disturbJob{Channel: "bench.noise", Tenants: manyTenants(guests), Searchers: guests, Stored: 3 * s.Attackers / 5},
			}}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix, Presence: "#"}, ratio: issuerRatio, variants: []variant{{
			name: fmt.Sprintf("a reload while another master token has %d publishers in one tenant", 3*guests), other: true, reload: true,
			disturb: disturbJob{Channel: "noise", Tenants: manyTenants(1), Subscribers: 100, Publishers: 3 * guests, Payload: noisyPayload},
		}}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix}, ratio: issuerRatio, variants: []variant{crowd(overTLS)}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix}, ratio: issuerRatio, variants: []variant{crowd(overWebTransport)}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix, History: "noise", HistoryStore: "memory"}, ratio: issuerRatio,
			variants: []variant{{
				name: fmt.Sprintf("another master token with %d tenants whose kept channels have %d subscribers each", guests, keptEach), mark: true, other: true,
				disturb: disturbJob{
					Channel: "noise", Tenants: manyTenants(guests), Subscribers: keptEach * guests, Publishers: guests, Payload: 128,
				},
			}}},
		{group: groupIssuer, options: options, edge: edgeOptions{Another: otherPrefix}, ratio: issuerRatio, variants: []variant{{
			name: fmt.Sprintf("%d clients of another master token that reconnect over TLS again and again", guests), other: true, over: overTLS,
			disturb: disturbJob{Tenants: manyTenants(1), Reconnectors: guests},
		}}},
		{group: groupPatterns, options: options, variants: []variant{{
			name: "one connection with 1,024 subscriptions", tenant: tenant, mark: true,
			disturb: disturbJob{Channel: "none", Patterns: manyPatterns(1024)},
		}}},
		{group: groupCrowd, options: small, limit: 20, variants: []variant{{
			name: fmt.Sprintf("a channel of %d subscribers with %d messages/s", s.Crowd, crowdRate), tenant: tenant, mark: true,
			disturb: disturbJob{Channel: "crowd", Subscribers: s.Crowd, Publishers: 1, Payload: 128, Rate: crowdRate},
		}}},
	}
}

var overNames = map[string]string{overTLS: "TLS", overWebTransport: "WebTransport"}

// manyTenants returns n tenants of the other master token.
func manyTenants(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(otherPrefix, i))
	}
	return list
}

// manyPatterns returns n patterns: some match the channels of the load generator,
// "bench.…", the others match nothing.
func manyPatterns(n int) []string {
	var list []string
	for _, first := range []string{"b*", "be*", "ben*", "benc*", "bench*", "bench", "*"} {
		for _, rest := range []string{".*", ".#", ".>"} {
			list = append(list, first+rest)
		}
	}
	for i := range n {
		list = append(list, fmt.Sprintf("bench.idle.%d.>", i))
	}
	return list[:n]
}

// disturbed runs all rounds of f, on one edge: each disturbance next to a run without one.
func (r *runner) disturbed(ctx context.Context, f fair) error {
	if showsWaits(f.group) {
		f.edge.Counted = 1 // the measured tenant: it publishes first
	}
	var e *edge
	var to target
	start := func() (err error) {
		if e, err = r.startEdge(ctx, f.edge); err != nil {
			return err
		}
		to, err = e.reach(ctx, overPlain, tenant, 0, 0)
		return err
	}
	defer func() {
		if e != nil {
			e.kill() // a stop would wait for clients that vanished
		}
	}()
	if err := start(); err != nil {
		return err
	}
	rows := make([]fairRow, len(f.variants))
	for i, v := range f.variants {
		rows[i] = fairRow{Group: f.group, Name: v.name, Mark: v.mark, LimitMs: f.limit, Ratio: cmp.Or(f.ratio, fairRatio), HeapLimit: f.heap}
	}
	defer func() { r.report.Fairness = append(r.report.Fairness, rows...) }()
	for range r.scale.Rounds {
		for i, v := range f.variants {
			quiet := r.load(ctx, f.options, to, served{child: e.child})
			if quiet.Void != "" { // so the edge may not count its tenant
				rows[i].add(quiet, run{}, fairExtra{})
				continue
			}
			heap, err := e.liveHeap(ctx)
			if err != nil {
				return err
			}
			noisy, extra, err := r.beside(ctx, e, v, f, to)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			extra.Heap -= heap
			rows[i].add(quiet, noisy, extra)
			fmt.Fprintf(r.log, "%s: %s, undisturbed %s\n", v.name, noisy.summary(), quiet.summary())
			if !e.isIdle(ctx) { // what follows would be measured beside what the disturbance has left
				e.kill()
				if err := start(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// beside measures during a disturbance.
func (r *runner) beside(ctx context.Context, e *edge, v variant, f fair, to target) (run, fairExtra, error) {
	var extra fairExtra
	var err error
	over := cmp.Or(v.over, overPlain)
	if v.other {
		var token string
		token, err = e.issue(ctx, e.other, v.disturb.Tenants, v.ingress, 0)
		v.disturb.Target = e.target(over, "", token)
	} else {
		v.disturb.Target, err = e.reach(ctx, over, v.tenant, v.ingress, 0)
	}
	if err != nil {
		return run{}, extra, err
	}
	d, err := startLoad(r.disturbs, job{Disturb: &v.disturb})
	if err != nil {
		return run{}, extra, err
	}
	defer d.kill()
	if a, err := d.answer(ctx, 0); err != nil || a.Error != "" { // it is set up
		return run{}, extra, fmt.Errorf("the disturbance: %w", cmp.Or(err, errors.New(a.Error)))
	}
	// What the set-up has left is collected before: on one processor that takes up to a second with thousands of
	// connections and comes once in a minute or more, so whether it is in the measured time is chance.
	if _, err := e.liveHeap(ctx); err != nil {
		return run{}, extra, err
	}
	if v.reload {
		if extra.Reload, err = e.reload(ctx); err != nil {
			return run{}, extra, err
		}
	}
	before, err := e.waited(ctx, to.Tenant)
	if err != nil {
		return run{}, extra, err
	}
	result := r.load(ctx, f.options, to, served{child: e.child}, d.pid())
	after, err := e.waited(ctx, to.Tenant)
	if err != nil {
		return run{}, extra, err
	}
	extra.Waited = after - before
	if extra.Heap, err = e.liveHeap(ctx); err != nil {
		return run{}, extra, err
	}
	d.in.Close()
	a, err := d.answer(ctx, 0)
	if err != nil || a.Error != "" {
		return run{}, extra, fmt.Errorf("the disturbance: %w", cmp.Or(err, errors.New(a.Error)))
	}
	extra.effect = a.Did
	return result, extra, nil
}
