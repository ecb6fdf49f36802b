package operations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// counted is a link that counts what the client sends and receives. Several links may
// share a trafficCount.
type counted struct {
	harness.Link
	*trafficCount
}

type trafficCount struct {
	mu                sync.Mutex
	bytesIn, bytesOut int            // from the edge's side
	frames, lines     int            // that clients got
	errors            map[string]int // of the lines, by code
}

func (c counted) Write(kind int, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytesIn += len(message)
	return c.Link.Write(kind, message)
}

func (c counted) Read() (int, []byte, error) {
	kind, message, err := c.Link.Read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if _, frames := c.Link.(harness.WebSocket); frames {
			c.bytesIn += 2 // the client's close code, in a frame like a ping's
		}
		return kind, message, err
	}
	c.bytesOut += len(message)
	if kind == harness.AsFrame {
		c.frames++
		return kind, message, nil
	}
	c.lines++
	if rest, ok := strings.CutPrefix(string(message), "ERR:"); ok {
		code, _, _ := strings.Cut(rest, ":")
		c.errors[code]++
	}
	return kind, message, nil
}

// Metrics returns the metrics of an edge whose clients are all counted here.
func (c *trafficCount) Metrics() harness.Samples {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := harness.Samples{
		"millrace_bytes_in_total":                    float64(c.bytesIn),
		"millrace_bytes_out_total":                   float64(c.bytesOut),
		"millrace_messages_out_total{kind=delivery}": float64(c.frames),
		"millrace_messages_out_total{kind=control}":  float64(c.lines),
		"millrace_queue_bytes":                       0,
	}
	for _, row := range wire.Codes {
		s["millrace_refusals_total{code="+string(row.Code)+"}"] = float64(c.errors[string(row.Code)])
	}
	return s
}

// Count adds a session to those that are counted.
func (c *trafficCount) Count(s *harness.Socket) *harness.Socket {
	s.Link = counted{s.Link, c}
	return s
}

// What sessions over both transports send and get is counted to the byte, and
// goes on being counted over reloads.
func TestMetricsOfSessions(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.MetricsCaddyfile)
	all := &trafficCount{errors: map[string]int{}}
	published, delivered := 0, 0
	gauges := func(connections, subscriptions int) harness.Samples {
		return harness.Samples{
			"millrace_connections{transport=websocket}":    float64(connections),
			"millrace_connections{transport=webtransport}": float64(connections),
			"millrace_subscriptions":                       float64(subscriptions),
		}
	}
	expect := func(g harness.Samples) harness.Samples {
		t.Helper()
		want := all.Metrics()
		maps.Copy(want, g)
		want["millrace_messages_in_total"] = float64(published)
		want["millrace_deliveries_total"] = float64(delivered)
		for _, reason := range []string{"queue_full", "disconnect", "closed"} {
			want["millrace_deliveries_dropped_total{reason="+reason+"}"] = 0
		}
		return e.ExpectMetrics(want)
	}
	expect(gauges(0, 0))

	token := e.Issue(harness.AllowAll("room"))
	type pair struct{ pub, sub *harness.Socket }
	var pairs []pair
	for _, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr, Far: nil}
		open := func() *harness.Socket {
			s, _ := c.Open(harness.Handshake{Token: token.Token})
			s = all.Count(s)
			s.Ping()
			return s
		}
		p := pair{open(), open()}
		p.sub.Subscribe("paint.room", tr.Name, tr.Name+".>")
		pairs = append(pairs, p)
	}
	expect(gauges(2, 4))

	exchange := func() {
		t.Helper()
		for i, p := range pairs {
			for n := range 10 {
				text := strings.Repeat("x", n*100)
				p.pub.Publish("paint.room", conformance.Transports[i].Name+".secret", text)
				p.sub.ExpectDeliver("paint.room", conformance.Transports[i].Name+".secret", text, conformance.Transports[i].Name+".>")
			}
			p.pub.Publish("paint.room", "nobody", "hears this")
			published, delivered = published+11, delivered+10
			p.pub.Ping()

			p.pub.SendLine("JUNK")
			p.pub.ExpectText("ERR:bad_request")
			p.pub.SendLine("SUB:paint.other:x")
			p.pub.ExpectText("ERR:permission_denied:SUB:paint.other:x")
			p.pub.Publish("paint.other", "x", "")
			p.pub.ExpectText("ERR:permission_denied:PUB:paint.other:x")
			p.pub.Publish("paint.room", "x..y", "")
			p.pub.ExpectText("ERR:bad_channel")
		}
	}
	exchange()
	before := expect(gauges(2, 4))
	for _, drain := range []string{"drain 8s", "drain 9s"} {
		e.Reload(strings.Replace(harness.MetricsCaddyfile, "drain 7s", drain, 1))
		expect(gauges(2, 4))
		exchange()
		expect(gauges(2, 4))
	}
	after := expect(gauges(2, 4))
	if a, b := before["millrace_messages_in_total"], after["millrace_messages_in_total"]; b != 3*a {
		t.Errorf("%v messages before two reloads, %v after", a, b)
	}
	checkLatency(t, after, delivered)

	for _, p := range pairs {
		p.sub.SendLine("UNSUB:paint.room:nothing")
		p.sub.ExpectText("OK:UNSUB:paint.room:nothing")
		p.pub.Close()
	}
	expect(gauges(1, 4))
	e.Revoke(e.Master, token.Token).Decode(t, 200, new(harness.Object))
	for _, p := range pairs {
		p.sub.ExpectText("ERR:token_revoked")
		p.sub.ExpectClose(wire.CloseForbidden)
	}
	expect(gauges(0, 0))
}

// checkLatency requires a histogram of some writes, at most as many as there were
// deliveries, in seconds.
func checkLatency(t *testing.T, s harness.Samples, deliveries int) {
	t.Helper()
	const name = "millrace_publish_write_seconds"
	count, sum := s[name+"_count"], s[name+"_sum"]
	if count < 1 || count > float64(deliveries) || sum <= 0 || sum/count > harness.WaitTimeout.Seconds() {
		t.Errorf("%v writes took %v s, for %d deliveries", count, sum, deliveries)
	}
	type bucket struct{ le, count float64 }
	var buckets []bucket
	for series, value := range s {
		if le, ok := strings.CutPrefix(series, name+"_bucket{le="); ok {
			bound, err := strconv.ParseFloat(strings.TrimSuffix(le, "}"), 64)
			if err != nil {
				t.Fatal(err)
			}
			buckets = append(buckets, bucket{bound, value})
		}
	}
	slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	if len(buckets) < 5 || buckets[len(buckets)-1].count != count ||
		!slices.IsSortedFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.count, b.count) }) {
		t.Errorf("got the buckets %v of %v writes", buckets, count)
	}
}

// dropped is the count of deliveries that were dropped for a reason.
func dropped(s harness.Samples, reason string) float64 {
	return s["millrace_deliveries_dropped_total{reason="+reason+"}"]
}

// accounted awaits that nothing waits, and that what was queued was written or
// dropped.
func accounted(e *harness.Edge) harness.Samples {
	e.T.Helper()
	return e.AwaitMetrics(func(s harness.Samples) string {
		sum := s["millrace_messages_out_total{kind=delivery}"] + dropped(s, "queue_full") + dropped(s, "disconnect") + dropped(s, "closed")
		if sum == s["millrace_deliveries_total"] && s["millrace_queue_bytes"] == 0 {
			return ""
		}
		return fmt.Sprintf("%v deliveries were written or dropped in %v", sum, s)
	})
}

// Every delivery that was queued and did not get to its client is counted with
// its reason.
func TestMetricsOfSlowConsumers(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.SlowCaddyfile("drop"))
	for _, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr, Far: nil}
		e.Reload(conformance.SlowCaddyfile("drop"))
		before := accounted(e)
		publisher, slow, fast := conformance.StartFlood(c)
		full := e.Metrics()
		if dropped(full, "queue_full") <= dropped(before, "queue_full") || full["millrace_queue_bytes"] < 32<<10 || full["millrace_queue_bytes"] > 69632+1024 {
			t.Errorf("%s: with a full queue: %v", tr.Name, full)
		}
		slow.Must(slow.Cut())
		publisher.Close()
		fast.Close()
		after := accounted(e)
		if n := after["millrace_deliveries_total"] - before["millrace_deliveries_total"]; n != 2*conformance.Flood {
			t.Errorf("%s: %v deliveries, want %d", tr.Name, n, 2*conformance.Flood)
		}
		if dropped(after, "closed") <= dropped(before, "closed") || dropped(after, "disconnect") != dropped(before, "disconnect") {
			t.Errorf("%s: after a slow client left: %v", tr.Name, after)
		}

		e.Reload(conformance.SlowCaddyfile("disconnect"))
		publisher, slow, fast = conformance.StartFlood(c)
		publisher.Close()
		fast.Close()
		slow.Must(slow.Cut())
		e.ExpectMetrics(harness.Samples{"millrace_connections{transport=" + tr.Name + "}": 0})
		last := accounted(e)
		if dropped(last, "disconnect") <= dropped(after, "disconnect") || dropped(last, "queue_full") != dropped(after, "queue_full") {
			t.Errorf("%s: after a slow client was disconnected: %v", tr.Name, last)
		}
		const refused = "millrace_refusals_total{code=slow_consumer}"
		if last[refused] != after[refused]+1 {
			t.Errorf("%s: %v clients were told that they are slow, want 1 more than %v", tr.Name, last[refused], after[refused])
		}
	}
}

// Tenants have series of their own only where that is switched on, at most as
// many as it says and one for all others.
func TestMetricsOfTenants(t *testing.T) {
	t.Parallel()
	withTenants := strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 7s\n\t\tmetrics {\n\t\t\ttenants 2\n\t\t}", 1)
	e := harness.StartEdge(t, withTenants)
	s := e.Dial(e.Issue(harness.AllowAll("a", "b", "c", "d")).Token)
	for _, tenant := range []string{"paint.a", "paint.a", "paint.b", "paint.c", "paint.d"} {
		s.Publish(tenant, "x", "")
	}
	s.Ping()
	for _, tenant := range []string{"paint.a", "paint.d"} {
		s.Subscribe(tenant, "x")
		s.Publish(tenant, "x", "")
		s.ExpectDeliver(tenant, "x", "", "x")
	}
	want := harness.Samples{
		"millrace_tenant_messages_in_total{tenant=paint.a}": 3,
		"millrace_tenant_messages_in_total{tenant=paint.b}": 1,
		"millrace_tenant_messages_in_total{tenant=(other)}": 3,
		"millrace_tenant_deliveries_total{tenant=paint.a}":  1,
		"millrace_tenant_deliveries_total{tenant=paint.b}":  0,
		"millrace_tenant_deliveries_total{tenant=(other)}":  1,
	}
	tenants := func(s harness.Samples) (series []string) {
		for name := range s {
			if strings.HasPrefix(name, "millrace_tenant_") {
				series = append(series, name)
			}
		}
		return series
	}
	if got := tenants(e.ExpectMetrics(want)); len(got) != len(want) {
		t.Errorf("got the series %q", got)
	}
	e.Reload(strings.Replace(withTenants, "drain 7s", "drain 8s", 1))
	e.ExpectMetrics(want)
	e.Reload(harness.MetricsCaddyfile)
	if got := tenants(e.Metrics()); got != nil {
		t.Errorf("without the option, got the series %q", got)
	}
}
