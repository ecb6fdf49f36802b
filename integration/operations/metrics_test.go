package operations

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/version"
	"github.com/millrace/millrace/wire"
)

// What happens to an edge is counted, once, and goes on being counted over reloads. Package
// app has where each count of a hub is shown, how calls about tokens count, and that all series
// are there from the start; package problem has the refusals.
func TestMetrics(t *testing.T) {
	t.Parallel()
	withTenants := strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 7s\n\t\tmetrics {\n\t\t\ttenants 1\n\t\t}", 1)
	e := harness.StartEdge(t, withTenants)
	want := harness.Samples{"millrace_broker_up{broker=memory}": 1, "millrace_draining": 0, "millrace_reloads_total{hub=new}": 1}
	e.ExpectMetrics(want)
	token := e.Issue(harness.AllowAll("room", "hall"))
	var open []*harness.Socket
	for i, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr}
		_, a := c.Open(harness.Handshake{Token: "AT_x"})
		a.Problem(t, 401, "unauthorized")
		s := c.Dial(token.Token)
		s.Subscribe("paint.room", tr.Name)
		for range 5 {
			s.Publish("paint.room", tr.Name, "0123456789")
			s.ExpectDeliver("paint.room", tr.Name, "0123456789", tr.Name)
		}
		s.SendLine("nonsense")
		s.ExpectText("ERR:bad_request")
		open = append(open, s)
		n := float64(i + 1)
		maps.Copy(want, harness.Samples{
			"millrace_connections{transport=" + tr.Name + "}": 1, "millrace_subscriptions": n,
			"millrace_messages_in_total": 5 * n, "millrace_deliveries_total": 5 * n, "millrace_queue_bytes": 0,
			"millrace_messages_out_total{kind=delivery}": 5 * n, "millrace_refusals_total{code=bad_request}": n,
			"millrace_tenant_messages_in_total{tenant=paint.room}":            5 * n,
			"millrace_handshakes_refused_total{code=unauthorized,status=401}": n,
		})
		e.ExpectMetrics(want)
	}
	s := e.MustOpenWebTransport(harness.Handshake{})
	s.SendLine("AUTH:AT_x")
	s.ExpectText("ERR:unauthorized")
	want["millrace_handshakes_refused_total{code=unauthorized,status=401}"]++
	e.Rest("POST", "/v1/get-token", "MT_x", "{}").Problem(t, 401, "bad_master_token")
	e.AdminCLI("token", "issue", "--tenant", "other", "--quiet").Want(0, "AT_", "")
	want["millrace_token_operations_total{operation=issue,outcome=done}"] = 2
	want["millrace_token_operations_total{operation=issue,outcome=refused}"] = 1
	for n := range 2 { // the second tenant is one of the others
		open[0].Publish("paint.hall", "x", "")
		open[0].Ping()
		want["millrace_messages_in_total"]++
		want["millrace_tenant_messages_in_total{tenant=(other)}"]++
		e.Reload(strings.Replace(withTenants, "drain 7s", fmt.Sprintf("drain %ds", 8-n), 1))
		want["millrace_reloads_total{hub=kept}"]++
		e.ExpectMetrics(want)
	}
	if out, err := e.TryReload(strings.Replace(withTenants, "drain 7s", "drain 1s", 1)); err == nil {
		t.Errorf("a wrong configuration was loaded: %s", out)
	}
	e.ExpectMetrics(want)
	admin, site := e.Metrics(), e.Scrape(e.HttpURL("/metrics"))
	build := func(series string) bool {
		return strings.HasPrefix(series, "millrace_build_info{caddy=v2.") && strings.Contains(series, "goversion="+runtime.Version()) &&
			strings.Contains(series, "version="+version.Number())
	}
	if !maps.Equal(admin, site) || !slices.ContainsFunc(slices.Collect(maps.Keys(site)), build) {
		t.Errorf("the admin endpoint shows\n%v\nthe site\n%v", admin, site)
	}

	e.Revoke(e.Master, token.Token).Decode(t, 200, new(harness.Object))
	for i, s := range open {
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
		want["millrace_connections{transport="+conformance.Transports[i].Name+"}"] = 0
	}
	want["millrace_refusals_total{code=token_revoked}"], want["millrace_subscriptions"] = 2, 0
	last := e.Dial(e.Issue(harness.AllowAll("room")).Token)
	want["millrace_token_operations_total{operation=issue,outcome=done}"]++
	want["millrace_connections{transport=websocket}"], want["millrace_draining"] = 1, 1
	e.Terminate() // and shows that it drains, to the end
	last.ExpectText(wire.LineReconnect)
	e.ExpectMetrics(want)
	last.Close()
	e.Stop()
}

// Metrics need no admin endpoint.
func TestMetricsOfSites(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.MetricsCaddyfile, "admin localhost:{{.Admin}}", "admin off", 1))
	if got := e.Scrape(e.HttpURL("/metrics")); got["millrace_broker_up{broker=memory}"] != 1 {
		t.Errorf("got %v", got)
	}
}
