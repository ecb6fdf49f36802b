package app

import (
	"flag"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/webhook"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
	"github.com/millrace/millrace/wire"
)

var update = flag.Bool("update", false, "write what comes out into the golden file")

// fixed is a collector that shows one snapshot.
type fixed struct{ *snapshot }

func (fixed) Describe(to chan<- *prometheus.Desc)   { hubCollector{}.Describe(to) }
func (f fixed) Collect(to chan<- prometheus.Metric) { f.collect(to) }

// filled has another number in each place.
func filled() *snapshot {
	storing := true
	s := &snapshot{draining: true, writable: true, broker: "memory", byTenant: true, storing: &storing}
	s.replicas.current, s.replicas.all = 61, 123
	s.quorum = &guest.Quorum{Leader: "a", Needed: 40, Running: 164, Members: []guest.Member{{State: guest.MemberLeader}, {State: guest.MemberOffline}}}
	s.kept = map[string]historyUsage{"chat": {81, 82}, "prices": {83, 84}}
	s.histories = historiesOf(85)
	s.Metrics = pubsub.Metrics{
		Connections:   map[string]int{"websocket": 1, "webtransport": 2},
		Limited:       map[string]int{"ingress": 41, "egress": 42},
		Subscriptions: 3, QueuedBytes: 4, QueueMemory: 16, Patterns: 16, Paused: 17 * time.Second,
		MessagesIn: 5, BytesIn: 6, Deliveries: 7, LinesOut: 8, FramesOut: 9, PresenceOut: 19, BytesOut: 10,
		Stored: 71, Repeated: 72, Replayed: 73, FellBehind: 74, Gaps: 75, Behind: 76,
		Presence: &presence.Stats{Members: 91, OwnMembers: 92, Watchers: 93, Edges: 94, Asked: 95},
		Linked:   true, HookFaults: 18, Unsent: 14, Missed: 15, Rejected: 16,
		Dropped: map[string]uint64{}, SlowDisconnects: map[string]uint64{}, Refused: map[wire.Code]uint64{},
		WriteLatency: pubsub.Histogram{
			Bounds: []time.Duration{time.Millisecond, time.Second}, Counts: []uint64{20, 300, 4000}, Sum: 1500 * time.Millisecond,
		},
		Tenants: map[string]pubsub.TenantMetrics{
			"b":                 {MessagesIn: 31, Deliveries: 32, Paused: 37 * time.Second},
			"a.x":               {MessagesIn: 33, Deliveries: 34, Paused: 38 * time.Second},
			pubsub.OtherTenants: {MessagesIn: 35, Deliveries: 36, Paused: 39 * time.Second},
		},
	}
	for i, reason := range pubsub.DropReasons {
		s.Dropped[reason] = uint64(11 + i)
	}
	for i, reason := range pubsub.SlowReasons {
		s.SlowDisconnects[reason] = uint64(51 + i)
	}
	for i, row := range wire.Codes {
		s.Refused[row.Code] = uint64(101 + i)
	}
	return s
}

// gather is what a scrape of these gets, from a registry like Caddy's.
func gather(t *testing.T, collectors ...prometheus.Collector) []*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// gatherAll has every family of ours.
func gatherAll(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	return gather(t, slices.Concat([]prometheus.Collector{fixed{filled()}}, processMetrics, webhook.Collectors())...)
}

func exposed(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	var text strings.Builder
	for _, f := range gather(t, c) {
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// Every count goes to its place, as the golden file shows.
func TestMetricsOfHub(t *testing.T) {
	const file = "testdata/metrics.txt"
	got := exposed(t, fixed{filled()})
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A hub that has counted nothing shows the same series, at zero; those of tenants,
// histories and presence are there only where they are switched on.
func TestMetricsStartAtZero(t *testing.T) {
	series := func(s *snapshot) (lines []string) {
		for line := range strings.Lines(exposed(t, fixed{s})) {
			if strings.HasPrefix(line, "millrace_") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return lines
	}
	full := filled()
	full.WriteLatency = pubsub.Histogram{}
	full.Tenants = nil
	full.replicas.all, full.storing, full.quorum = 0, nil, nil // of edges with NATS alone
	var want []string
	for _, line := range series(full) {
		name, _, _ := strings.Cut(line, " ")
		want = append(want, name+" 0")
	}
	zero := &snapshot{broker: "memory", byTenant: true, kept: map[string]historyUsage{"chat": {}, "prices": {}}, histories: historiesOf(0)}
	zero.Presence = new(presence.Stats)
	for _, without := range []struct {
		prefix string
		set    func()
	}{
		{"none", func() {}}, {"millrace_tenant_", func() { zero.byTenant = false }},
		{"millrace_history_", func() { zero.kept, zero.histories = nil, nil }}, {"millrace_presence_", func() { zero.Presence = nil }},
	} {
		without.set()
		want = slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, without.prefix) })
		if got := series(zero); !slices.Equal(got, want) {
			t.Errorf("without %s: got %q\nwant %q", without.prefix, got, want)
		}
	}
}

// The names and types keep to the conventions of Prometheus.
func TestMetricsLint(t *testing.T) {
	problems, err := promlint.NewWithMetricFamilies(gatherAll(t)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The label of the tenants without a name of their own is no tenant.
func TestOtherTenants(t *testing.T) {
	if wire.CheckTenant(pubsub.OtherTenants) == nil {
		t.Errorf("%q is a legal tenant", pubsub.OtherTenants)
	}
}

// The current hub is shown, with what its configuration says, and its state.
func TestMetricsOfTheHubInForce(t *testing.T) {
	if newSnapshot() != nil {
		t.Error("there is a hub before any has started")
	}
	a, b := newMetricsApp(t), newMetricsApp(t)
	a.limits.MetricTenants = 1 // by which it is told
	for _, app := range []*App{a, b} {
		startedApps.add(app)
		if s := newSnapshot(); s.byTenant != (app == a) || s.draining || !s.Linked || s.broker != "memory" {
			t.Errorf("got %+v", s)
		}
	}
	b.running.Hub.Linked(false)
	if newSnapshot().Linked {
		t.Error("a broken link does not show")
	}
	if !newSnapshot().writable {
		t.Error("the store has room, and does not show it")
	}
	b.running.edge.store.Store.(*brittleStore).full = true
	if newSnapshot().writable {
		t.Error("a full store does not show")
	}
	b.running.Hub.Drain()
	if !newSnapshot().draining {
		t.Error("a drain does not show")
	}
	startedApps.remove(b)
	if s := newSnapshot(); !s.byTenant || s.draining {
		t.Error("the hub that is in effect again does not show")
	}
	startedApps.remove(a)
	if newSnapshot() != nil {
		t.Error("there is a hub after all have stopped")
	}
}

// brittleStore can lose its room.
type brittleStore struct {
	tokenstore.Store
	full bool
}

func (s *brittleStore) Writable() bool { return !s.full }

func newMetricsApp(t *testing.T) *App {
	broker := memory.New()
	hub := pubsub.NewHub(broker, pubsub.DefaultLimits(), zap.NewNop())
	t.Cleanup(func() {
		if err := hub.Close(); err != nil {
			t.Error(err)
		}
	})
	store := &sharedStore{Store: &brittleStore{Store: storetest.NewMemory()}}
	return &App{broker: new(guest.MemoryBroker), running: &Running{Hub: hub, edge: &edge{hub: hub, broker: broker, store: store}}}
}

// Each call is counted by its outcome, unless it is no operation on tokens.
func TestCountTokenCall(t *testing.T) {
	for status, outcome := range map[int]string{200: "done", 400: "refused", 404: "refused", 500: "failed", 503: "failed"} {
		count := func() float64 { return counted(t, tokenCalls.WithLabelValues("list", outcome)) }
		before := count()
		CountTokenCall("list", status)
		if count() != before+1 {
			t.Errorf("%d is not counted as %s", status, outcome)
		}
	}
	before := exposed(t, tokenCalls)
	CountTokenCall("", http.StatusOK)
	if exposed(t, tokenCalls) != before {
		t.Error("what is no operation is counted")
	}
}

func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// historiesOf are those of the snapshots, with figures from one on; 0: all are.
func historiesOf(from int) map[string]historyState {
	all := map[string]historyState{}
	for i, name := range []string{"chat", "prices"} {
		d := new(history.Definition)
		if from > 0 {
			n := from + 4*i
			d.Version, d.Limits = n, history.Limits{Messages: n + 1, Age: time.Duration(n+2) * time.Second, Size: int64(n + 3)}
		}
		all[name] = historyState{history.State{Configured: d, Effective: d}, from > 0, from > 0}
	}
	return all
}
