package operations

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/version"
	"github.com/millrace/millrace/wire"
)

func tokenOperation(operation, outcome string) string {
	return fmt.Sprintf("millrace_token_operations_total{operation=%s,outcome=%s}", operation, outcome)
}

func refusedHandshake(status int, code string) string {
	return fmt.Sprintf("millrace_handshakes_refused_total{code=%s,status=%d}", code, status)
}

// Each call of the token administration is counted once, by what became of it.
func TestMetricsOfTokens(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.MetricsCaddyfile)
	want := harness.Samples{}
	for series, value := range e.Metrics() {
		if strings.HasPrefix(series, "millrace_token_operations_total{") {
			if want[series] = 0; value != 0 {
				t.Errorf("%s starts at %v", series, value)
			}
		}
	}
	if len(want) != 12*3 {
		t.Errorf("%d series of token operations", len(want))
	}

	token := e.Issue(harness.AllowAll("room"))
	e.Issue(harness.AllowAll("room"))
	e.Rest("POST", "/v1/get-token", e.Master, "{}").Problem(t, 400, "invalid_body")
	e.Rest("POST", "/v1/get-token", "MT_x", "{}").Problem(t, 401, "bad_master_token")
	e.Refresh(e.Master, token.TokenID, harness.In(2*time.Hour)).Decode(t, 200, new(harness.Object))
	e.Refresh(e.Master, harness.UnknownID, harness.In(time.Hour)).Problem(t, 404, "unknown_token")
	e.Revoke(e.Master, token.Token).Decode(t, 200, new(harness.Object))
	e.Rest("GET", "/v1/tokens", e.Master, nil).Decode(t, 200, new(harness.Object))
	e.Rest("GET", "/v1/tokens?limit=0", e.Master, nil).Problem(t, 400, "invalid_body")
	e.Rest("GET", "/v1/nothing", e.Master, nil).Problem(t, 404, "not_found") // not counted

	id := e.AdminCLI("token", "issue", "--tenant", "other", "--sub", "#", "--quiet").Want(0, "AT_", "").Out[3:35]
	e.AdminCLI("token", "list").Want(0, "", "")
	e.AdminCLI("token", "refresh", id, "--expires-in", "2h").Want(0, "", "")
	e.AdminCLI("token", "revoke", id).Want(0, "", "")
	e.AdminCLI("token", "revoke", harness.UnknownID).Want(1, "", "")
	master := e.AdminCLI("master-token", "create", "--name", "m", "--quiet").Want(0, "MT_", "").Out[3:35]
	e.AdminCLI("master-token", "list").Want(0, "", "")
	e.AdminCLI("master-token", "update", master, "--name", "n").Want(0, "", "")
	e.AdminCLI("master-token", "rotate", master).Want(0, "", "")
	e.AdminCLI("master-token", "delete", master).Want(0, "", "")
	e.AdminCLI("master-token", "delete", master).Want(1, "", "")
	e.AdminCLI("connections").Want(0, "", "") // not counted

	maps.Copy(want, harness.Samples{
		tokenOperation("issue", "done"): 3, tokenOperation("issue", "refused"): 2,
		tokenOperation("refresh", "done"): 2, tokenOperation("refresh", "refused"): 1,
		tokenOperation("revoke", "done"): 2, tokenOperation("revoke", "refused"): 1,
		tokenOperation("list", "done"): 2, tokenOperation("list", "refused"): 1,
		tokenOperation("master_create", "done"): 1, tokenOperation("master_list", "done"): 1,
		tokenOperation("master_update", "done"): 1, tokenOperation("master_rotate", "done"): 1,
		tokenOperation("master_delete", "done"): 1, tokenOperation("master_delete", "refused"): 1,
	})
	e.ExpectMetrics(want)
	e.Reload(strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 8s", 1))
	e.ExpectMetrics(want)
}

// Each refused handshake is counted once, over both transports, and so is each
// AUTH line; what is no handshake is not.
func TestMetricsOfHandshakes(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.MetricsCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	want := harness.Samples{}
	for series := range e.Metrics() {
		if strings.HasPrefix(series, "millrace_handshakes_refused_total{") {
			want[series] = 0
		}
	}
	if len(want) < 20 {
		t.Errorf("%d series of refused handshakes", len(want))
	}
	for _, tr := range conformance.Transports {
		c := &harness.Stage{T: t, Edge: e, Transport: tr, Far: nil}
		for _, row := range []struct {
			h      harness.Handshake
			status int
			code   string
		}{
			{harness.Handshake{Token: "AT_x"}, 401, "unauthorized"},
			{harness.Handshake{Token: c.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}})}, 403, "ip_not_allowed"},
			{harness.Handshake{Token: c.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}})}, 403, "origin_not_allowed"},
			{harness.Handshake{Token: c.Limited(harness.Object{"allow_regions": []string{"US"}})}, 403, "region_not_allowed"},
			{harness.Handshake{Token: c.Limited(harness.Object{"allow_protocols": []string{c.Other}})}, 403, "protocol_not_allowed"},
			{harness.Handshake{Protocols: []string{"at." + token}}, 400, "bad_handshake"},
		} {
			_, refused := c.Open(row.h)
			refused.Problem(t, row.status, row.code)
			want[refusedHandshake(row.status, row.code)]++
		}
	}
	for message, code := range map[string]wire.CloseCode{
		"AUTH:AT_x": wire.CloseUnauthorized,
		"AUTH:" + e.Limited(harness.Object{"allow_regions": []string{"US"}}): wire.CloseForbidden,
	} {
		s := e.MustOpenWebTransport(harness.Handshake{})
		s.SendLine(message)
		if _, _, err := s.Read(); err != nil {
			t.Fatal(err)
		}
		s.ExpectClose(code)
	}
	want[refusedHandshake(401, "unauthorized")]++
	want[refusedHandshake(403, "region_not_allowed")]++

	e.Rest("POST", "/ws", token, nil).Problem(t, 405, "method_not_allowed")
	want[refusedHandshake(405, "method_not_allowed")]++
	e.Do(harness.Call{Method: "GET", URL: e.HttpsURL("/wt")}).Problem(t, 405, "method_not_allowed")
	want[refusedHandshake(405, "method_not_allowed")]++
	e.Rest("GET", "/ws", token, nil).Problem(t, 426, "upgrade_required")
	want[refusedHandshake(426, "upgrade_required")]++
	e.Rest("GET", "/ws?token="+token, "", nil).Problem(t, 400, "token_in_url")
	want[refusedHandshake(400, "token_in_url")]++

	e.Rest("POST", "/ping", "", nil).Problem(t, 405, "method_not_allowed")
	e.Rest("GET", "/WS", "", nil).Problem(t, 404, "not_found")
	e.Rest("GET", "/v1/tokens", "MT_x", nil).Problem(t, 401, "bad_master_token")
	e.Dial(token).Close()
	for series := range e.ExpectMetrics(want) {
		if _, known := want[series]; !known && strings.HasPrefix(series, "millrace_handshakes_refused_total{") {
			t.Errorf("%s was not there from the start", series)
		}
	}
	e.Reload(strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 8s", 1))
	e.ExpectMetrics(want)
}

// Loads are counted by whether the hub was kept; a drain and the broker show; both
// endpoints show the same.
func TestMetricsOfTheEdge(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.MetricsCaddyfile)
	want := harness.Samples{
		"millrace_reloads_total{hub=kept}": 0, "millrace_reloads_total{hub=new}": 1,
		"millrace_broker_up{broker=memory}": 1, "millrace_draining": 0,
	}
	got := e.ExpectMetrics(want)
	var builds []string
	for series := range got {
		if strings.HasPrefix(series, "millrace_build_info{") {
			builds = append(builds, series)
		}
	}
	if len(builds) != 1 || !strings.Contains(builds[0], "caddy=v2.") || !strings.Contains(builds[0], "goversion="+runtime.Version()) ||
		!strings.Contains(builds[0], "version="+version.Number()) || got[builds[0]] != 1 {
		t.Errorf("got %q", builds)
	}
	if edges := e.OverlayEdges(); len(edges) != 1 || edges[0].Status.Version != version.Number() {
		t.Errorf("the list of edges has %+v, want the version %s", edges, version.Number())
	}
	harness.WantVersion(t, e.Cli("", "version"))
	harness.WantVersion(t, e.Cli("", "--version"))
	for range 2 {
		e.Reload(strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 8s", 1))
		e.Reload(harness.MetricsCaddyfile)
		want["millrace_reloads_total{hub=kept}"] += 2
		e.ExpectMetrics(want)
	}
	if out, err := e.TryReload(strings.Replace(harness.MetricsCaddyfile, "drain 7s", "drain 1s", 1)); err == nil {
		t.Errorf("a wrong configuration was loaded: %s", out)
	}
	e.ExpectMetrics(want)
	e.Reload(strings.Replace(harness.MetricsCaddyfile, "{{.Store}}", "badger {{.Dir}}/others", 1))
	want["millrace_reloads_total{hub=new}"]++
	e.ExpectMetrics(want)
	if admin, site := e.Metrics(), e.Scrape(e.HttpURL("/metrics")); !maps.Equal(admin, site) {
		t.Errorf("the admin endpoint shows\n%v\nthe site\n%v", admin, site)
	}

	e.AdminCLI("drain").Want(0, "", "")
	want["millrace_draining"] = 1
	e.ExpectMetrics(want)
	_, refused := e.Open(harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
	refused.Problem(t, 503, "draining")
	want[refusedHandshake(503, "draining")] = 1
	e.ExpectMetrics(want)
}

// A site shows the metrics of an edge without an admin endpoint, too.
func TestMetricsWithoutAdmin(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.MetricsCaddyfile, "admin localhost:{{.Admin}}", "admin off", 1))
	got := e.Scrape(e.HttpURL("/metrics"))
	if got["millrace_broker_up{broker=memory}"] != 1 || got["millrace_reloads_total{hub=new}"] != 1 {
		t.Errorf("got %v", got)
	}
}

// An edge that stops shows that it drains, to the end.
func TestMetricsWhileStopping(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.MetricsCaddyfile)
	s := e.Dial(e.Issue(harness.AllowAll("room")).Token)
	s.Ping()
	e.Terminate()
	s.ExpectText("RECONNECT")
	e.ExpectMetrics(harness.Samples{"millrace_draining": 1, "millrace_reloads_total{hub=new}": 1})
	s.Close()
	e.Stop()
}
