package integration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/wire"
)

// counted is a link that counts what the client sends and receives. Several links may
// share a trafficCount.
type counted struct {
	link
	*trafficCount
}

type trafficCount struct {
	mu                sync.Mutex
	bytesIn, bytesOut int            // from the edge's side
	frames, lines     int            // that clients got
	errors            map[string]int // of the lines, by code
}

func (c counted) write(kind int, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytesIn += len(message)
	return c.link.write(kind, message)
}

func (c counted) read() (int, []byte, error) {
	kind, message, err := c.link.read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if _, frames := c.link.(webSocket); frames {
			c.bytesIn += 2 // the client's close code, in a frame like a ping's
		}
		return kind, message, err
	}
	c.bytesOut += len(message)
	if kind == asFrame {
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

// metrics returns the metrics of an edge whose clients are all counted here.
func (c *trafficCount) metrics() samples {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := samples{
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

// count adds a session to those that are counted.
func (c *trafficCount) count(s *socket) *socket {
	s.link = counted{s.link, c}
	return s
}

// What sessions over both transports send and get is counted to the byte, and
// goes on being counted over reloads.
func TestMetricsOfSessions(t *testing.T) {
	t.Parallel()
	e := startEdge(t, metricsCaddyfile)
	all := &trafficCount{errors: map[string]int{}}
	published, delivered := 0, 0
	gauges := func(connections, subscriptions int) samples {
		return samples{
			"millrace_connections{transport=websocket}":    float64(connections),
			"millrace_connections{transport=webtransport}": float64(connections),
			"millrace_subscriptions":                       float64(subscriptions),
		}
	}
	expect := func(g samples) samples {
		t.Helper()
		want := all.metrics()
		maps.Copy(want, g)
		want["millrace_messages_in_total"] = float64(published)
		want["millrace_deliveries_total"] = float64(delivered)
		for _, reason := range []string{"queue_full", "disconnect", "closed"} {
			want["millrace_deliveries_dropped_total{reason="+reason+"}"] = 0
		}
		return e.expectMetrics(want)
	}
	expect(gauges(0, 0))

	token := e.issue(allowAll("room"))
	type pair struct{ pub, sub *socket }
	var pairs []pair
	for _, tr := range transports {
		c := &stage{t, e, tr, nil}
		open := func() *socket {
			s, _ := c.open(handshake{Token: token.Token})
			s = all.count(s)
			s.ping()
			return s
		}
		p := pair{open(), open()}
		p.sub.subscribe("paint.room", tr.name, tr.name+".>")
		pairs = append(pairs, p)
	}
	expect(gauges(2, 4))

	exchange := func() {
		t.Helper()
		for i, p := range pairs {
			for n := range 10 {
				text := strings.Repeat("x", n*100)
				p.pub.publish("paint.room", transports[i].name+".secret", text)
				p.sub.expectDeliver("paint.room", transports[i].name+".secret", text, transports[i].name+".>")
			}
			p.pub.publish("paint.room", "nobody", "hears this")
			published, delivered = published+11, delivered+10
			p.pub.ping()

			p.pub.sendLine("JUNK")
			p.pub.expectText("ERR:bad_request")
			p.pub.sendLine("SUB:paint.other:x")
			p.pub.expectText("ERR:permission_denied:SUB:paint.other:x")
			p.pub.publish("paint.other", "x", "")
			p.pub.expectText("ERR:permission_denied:PUB:paint.other:x")
			p.pub.publish("paint.room", "x..y", "")
			p.pub.expectText("ERR:bad_channel")
		}
	}
	exchange()
	before := expect(gauges(2, 4))
	for _, drain := range []string{"drain 8s", "drain 9s"} {
		e.reload(strings.Replace(metricsCaddyfile, "drain 7s", drain, 1))
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
		p.sub.sendLine("UNSUB:paint.room:nothing")
		p.sub.expectText("OK:UNSUB:paint.room:nothing")
		p.pub.close()
	}
	expect(gauges(1, 4))
	e.revoke(e.master, token.Token).decode(t, 200, new(object))
	for _, p := range pairs {
		p.sub.expectText("ERR:token_revoked")
		p.sub.expectClose(wire.CloseForbidden)
	}
	expect(gauges(0, 0))
}

// checkLatency requires a histogram of some writes, at most as many as there were
// deliveries, in seconds.
func checkLatency(t *testing.T, s samples, deliveries int) {
	t.Helper()
	const name = "millrace_publish_write_seconds"
	count, sum := s[name+"_count"], s[name+"_sum"]
	if count < 1 || count > float64(deliveries) || sum <= 0 || sum/count > waitTimeout.Seconds() {
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
func (s samples) dropped(reason string) float64 {
	return s["millrace_deliveries_dropped_total{reason="+reason+"}"]
}

// accounted awaits that nothing waits, and that what was queued was written or
// dropped.
func (e *edge) accounted() samples {
	e.t.Helper()
	return e.awaitMetrics(func(s samples) string {
		sum := s["millrace_messages_out_total{kind=delivery}"] + s.dropped("queue_full") + s.dropped("disconnect") + s.dropped("closed")
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
	e := startEdge(t, slowCaddyfile("drop"))
	for _, tr := range transports {
		c := &stage{t, e, tr, nil}
		e.reload(slowCaddyfile("drop"))
		before := e.accounted()
		publisher, slow, fast := startFlood(c)
		full := e.metrics()
		if full.dropped("queue_full") <= before.dropped("queue_full") || full["millrace_queue_bytes"] < 32<<10 || full["millrace_queue_bytes"] > 69632+1024 {
			t.Errorf("%s: with a full queue: %v", tr.name, full)
		}
		slow.must(slow.cut())
		publisher.close()
		fast.close()
		after := e.accounted()
		if n := after["millrace_deliveries_total"] - before["millrace_deliveries_total"]; n != 2*flood {
			t.Errorf("%s: %v deliveries, want %d", tr.name, n, 2*flood)
		}
		if after.dropped("closed") <= before.dropped("closed") || after.dropped("disconnect") != before.dropped("disconnect") {
			t.Errorf("%s: after a slow client left: %v", tr.name, after)
		}

		e.reload(slowCaddyfile("disconnect"))
		publisher, slow, fast = startFlood(c)
		publisher.close()
		fast.close()
		slow.must(slow.cut())
		e.expectMetrics(samples{"millrace_connections{transport=" + tr.name + "}": 0})
		last := e.accounted()
		if last.dropped("disconnect") <= after.dropped("disconnect") || last.dropped("queue_full") != after.dropped("queue_full") {
			t.Errorf("%s: after a slow client was disconnected: %v", tr.name, last)
		}
		const refused = "millrace_refusals_total{code=slow_consumer}"
		if last[refused] != after[refused]+1 {
			t.Errorf("%s: %v clients were told that they are slow, want 1 more than %v", tr.name, last[refused], after[refused])
		}
	}
}

// Tenants have series of their own only where that is switched on, at most as
// many as it says and one for all others.
func TestMetricsOfTenants(t *testing.T) {
	t.Parallel()
	withTenants := strings.Replace(metricsCaddyfile, "drain 7s", "drain 7s\n\t\tmetrics {\n\t\t\ttenants 2\n\t\t}", 1)
	e := startEdge(t, withTenants)
	s := e.dial(e.issue(allowAll("a", "b", "c", "d")).Token)
	for _, tenant := range []string{"paint.a", "paint.a", "paint.b", "paint.c", "paint.d"} {
		s.publish(tenant, "x", "")
	}
	s.ping()
	for _, tenant := range []string{"paint.a", "paint.d"} {
		s.subscribe(tenant, "x")
		s.publish(tenant, "x", "")
		s.expectDeliver(tenant, "x", "", "x")
	}
	want := samples{
		"millrace_tenant_messages_in_total{tenant=paint.a}": 3,
		"millrace_tenant_messages_in_total{tenant=paint.b}": 1,
		"millrace_tenant_messages_in_total{tenant=(other)}": 3,
		"millrace_tenant_deliveries_total{tenant=paint.a}":  1,
		"millrace_tenant_deliveries_total{tenant=paint.b}":  0,
		"millrace_tenant_deliveries_total{tenant=(other)}":  1,
	}
	tenants := func(s samples) (series []string) {
		for name := range s {
			if strings.HasPrefix(name, "millrace_tenant_") {
				series = append(series, name)
			}
		}
		return series
	}
	if got := tenants(e.expectMetrics(want)); len(got) != len(want) {
		t.Errorf("got the series %q", got)
	}
	e.reload(strings.Replace(withTenants, "drain 7s", "drain 8s", 1))
	e.expectMetrics(want)
	e.reload(metricsCaddyfile)
	if got := tenants(e.metrics()); got != nil {
		t.Errorf("without the option, got the series %q", got)
	}
}
