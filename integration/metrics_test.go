package integration

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/millrace/millrace/internal/version"
	"github.com/millrace/millrace/wire"
)

// metricsCaddyfile serves the metrics on the plain HTTP site, too.
var metricsCaddyfile = strings.Replace(defaultCaddyfile, "http://localhost:{{.HTTP}} {",
	"http://localhost:{{.HTTP}} {\n\thandle /metrics {\n\t\tmetrics\n\t}", 1)

// samples are the values of a scrape by series: name{label=value,…}, the labels
// in order.
type samples map[string]float64

// String lists those that are not zero.
func (s samples) String() string {
	var text strings.Builder
	for _, series := range slices.Sorted(maps.Keys(s)) {
		if s[series] != 0 {
			fmt.Fprintf(&text, "\n%s %v", series, s[series])
		}
	}
	return text.String()
}

// scrape reads our metrics from an endpoint, as Prometheus does.
func (e *edge) scrape(url string) samples {
	e.t.Helper()
	got := e.do(call{Method: "GET", URL: url})
	if got.Status != http.StatusOK {
		e.t.Fatalf("GET %s: %d %s", url, got.Status, got.Body)
	}
	secrets := []string{e.master, "AT_", "MT_", "127.0.0.1", "::1", "secret"}
	if !strings.Contains(string(got.Body), "millrace_tenant_") {
		secrets = append(secrets, "paint")
	}
	for _, secret := range secrets {
		if bytes.Contains(got.Body, []byte(secret)) {
			e.t.Errorf("the metrics contain %q:\n%s", secret, got.Body)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(got.Body))
	if err != nil {
		e.t.Fatalf("%v:\n%s", err, got.Body)
	}
	all := samples{}
	for name, family := range families {
		if !strings.HasPrefix(name, "millrace_") {
			continue
		}
		for _, m := range family.GetMetric() {
			all.add(name, m)
		}
	}
	return all
}

func (s samples) add(name string, m *dto.Metric) {
	var labels []string
	for _, l := range m.GetLabel() {
		labels = append(labels, l.GetName()+"="+l.GetValue())
	}
	slices.Sort(labels)
	series := func(name string, more ...string) string {
		if list := append(more, labels...); len(list) > 0 {
			return name + "{" + strings.Join(list, ",") + "}"
		}
		return name
	}
	switch {
	case m.Histogram != nil:
		s[series(name+"_count")] = float64(m.GetHistogram().GetSampleCount())
		s[series(name+"_sum")] = m.GetHistogram().GetSampleSum()
		for _, b := range m.GetHistogram().GetBucket() {
			s[series(name+"_bucket", fmt.Sprintf("le=%g", b.GetUpperBound()))] = float64(b.GetCumulativeCount())
		}
	case m.Counter != nil:
		s[series(name)] = m.GetCounter().GetValue()
	default:
		s[series(name)] = m.GetGauge().GetValue()
	}
}

// metrics are those that the admin endpoint shows now.
func (e *edge) metrics() samples {
	e.t.Helper()
	return e.scrape("http://" + e.adminAddress() + "/metrics")
}

// expectMetrics awaits these values.
func (e *edge) expectMetrics(want samples) samples {
	e.t.Helper()
	return e.awaitMetrics(func(got samples) string {
		var wrong []string
		for _, series := range slices.Sorted(maps.Keys(want)) {
			if value, there := got[series]; !there || value != want[series] {
				wrong = append(wrong, fmt.Sprintf("%s is %v (there: %v), want %v", series, value, there, want[series]))
			}
		}
		return strings.Join(wrong, "\n")
	})
}

// awaitMetrics scrapes until wrong says that nothing is: an edge counts what it
// has written only after a client can read it.
func (e *edge) awaitMetrics(wrong func(samples) string) samples {
	e.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(waitTimeout / 3); ; <-tick.C {
		got := e.metrics()
		what := wrong(got)
		if what == "" {
			return got
		}
		if time.Now().After(end) {
			e.t.Fatalf("the metrics are wrong:\n%s", what)
		}
	}
}

func tokenOperation(operation, outcome string) string {
	return fmt.Sprintf("millrace_token_operations_total{operation=%s,outcome=%s}", operation, outcome)
}

func refusedHandshake(status int, code string) string {
	return fmt.Sprintf("millrace_handshakes_refused_total{code=%s,status=%d}", code, status)
}

// Each call of the token administration is counted once, by what became of it.
func TestMetricsOfTokens(t *testing.T) {
	t.Parallel()
	e := startEdge(t, metricsCaddyfile)
	want := samples{}
	for series, value := range e.metrics() {
		if strings.HasPrefix(series, "millrace_token_operations_total{") {
			if want[series] = 0; value != 0 {
				t.Errorf("%s starts at %v", series, value)
			}
		}
	}
	if len(want) != 12*3 {
		t.Errorf("%d series of token operations", len(want))
	}

	token := e.issue(allowAll("room"))
	e.issue(allowAll("room"))
	e.rest("POST", "/v1/get-token", e.master, "{}").problem(t, 400, "invalid_body")
	e.rest("POST", "/v1/get-token", "MT_x", "{}").problem(t, 401, "bad_master_token")
	e.refresh(e.master, token.TokenID, in(2*time.Hour)).decode(t, 200, new(object))
	e.refresh(e.master, unknownID, in(time.Hour)).problem(t, 404, "unknown_token")
	e.revoke(e.master, token.Token).decode(t, 200, new(object))
	e.rest("GET", "/v1/tokens", e.master, nil).decode(t, 200, new(object))
	e.rest("GET", "/v1/tokens?limit=0", e.master, nil).problem(t, 400, "invalid_body")
	e.rest("GET", "/v1/nothing", e.master, nil).problem(t, 404, "not_found") // not counted

	id := e.admin("token", "issue", "--tenant", "other", "--sub", "#", "--quiet").want(0, "AT_", "").out[3:35]
	e.admin("token", "list").want(0, "", "")
	e.admin("token", "refresh", id, "--expires-in", "2h").want(0, "", "")
	e.admin("token", "revoke", id).want(0, "", "")
	e.admin("token", "revoke", unknownID).want(1, "", "")
	master := e.admin("master-token", "create", "--name", "m", "--quiet").want(0, "MT_", "").out[3:35]
	e.admin("master-token", "list").want(0, "", "")
	e.admin("master-token", "update", master, "--name", "n").want(0, "", "")
	e.admin("master-token", "rotate", master).want(0, "", "")
	e.admin("master-token", "delete", master).want(0, "", "")
	e.admin("master-token", "delete", master).want(1, "", "")
	e.admin("connections").want(0, "", "") // not counted

	maps.Copy(want, samples{
		tokenOperation("issue", "done"): 3, tokenOperation("issue", "refused"): 2,
		tokenOperation("refresh", "done"): 2, tokenOperation("refresh", "refused"): 1,
		tokenOperation("revoke", "done"): 2, tokenOperation("revoke", "refused"): 1,
		tokenOperation("list", "done"): 2, tokenOperation("list", "refused"): 1,
		tokenOperation("master_create", "done"): 1, tokenOperation("master_list", "done"): 1,
		tokenOperation("master_update", "done"): 1, tokenOperation("master_rotate", "done"): 1,
		tokenOperation("master_delete", "done"): 1, tokenOperation("master_delete", "refused"): 1,
	})
	e.expectMetrics(want)
	e.reload(strings.Replace(metricsCaddyfile, "drain 7s", "drain 8s", 1))
	e.expectMetrics(want)
}

// Each refused handshake is counted once, over both transports, and so is each
// AUTH line; what is no handshake is not.
func TestMetricsOfHandshakes(t *testing.T) {
	t.Parallel()
	e := startEdge(t, metricsCaddyfile)
	token := e.issue(allowAll("room")).Token
	want := samples{}
	for series := range e.metrics() {
		if strings.HasPrefix(series, "millrace_handshakes_refused_total{") {
			want[series] = 0
		}
	}
	if len(want) < 20 {
		t.Errorf("%d series of refused handshakes", len(want))
	}
	for _, tr := range transports {
		c := &stage{t, e, tr, nil}
		for _, row := range []struct {
			h      handshake
			status int
			code   string
		}{
			{handshake{Token: "AT_x"}, 401, "unauthorized"},
			{handshake{Token: c.limited(object{"allow_ip_masks": []string{"203.0.113.0/24"}})}, 403, "ip_not_allowed"},
			{handshake{Token: c.limited(object{"allowed_ws_origin": []string{"https://app.example"}})}, 403, "origin_not_allowed"},
			{handshake{Token: c.limited(object{"allow_regions": []string{"US"}})}, 403, "region_not_allowed"},
			{handshake{Token: c.limited(object{"allow_protocols": []string{c.other}})}, 403, "protocol_not_allowed"},
			{handshake{Protocols: []string{"at." + token}}, 400, "bad_handshake"},
		} {
			_, refused := c.open(row.h)
			refused.problem(t, row.status, row.code)
			want[refusedHandshake(row.status, row.code)]++
		}
	}
	for message, code := range map[string]wire.CloseCode{
		"AUTH:AT_x": wire.CloseUnauthorized,
		"AUTH:" + e.limited(object{"allow_regions": []string{"US"}}): wire.CloseForbidden,
	} {
		s := e.mustOpenWebTransport(handshake{})
		s.sendLine(message)
		if _, _, err := s.read(); err != nil {
			t.Fatal(err)
		}
		s.expectClose(code)
	}
	want[refusedHandshake(401, "unauthorized")]++
	want[refusedHandshake(403, "region_not_allowed")]++

	e.rest("POST", "/ws", token, nil).problem(t, 405, "method_not_allowed")
	want[refusedHandshake(405, "method_not_allowed")]++
	e.do(call{Method: "GET", URL: e.httpsURL("/wt")}).problem(t, 405, "method_not_allowed")
	want[refusedHandshake(405, "method_not_allowed")]++
	e.rest("GET", "/ws", token, nil).problem(t, 426, "upgrade_required")
	want[refusedHandshake(426, "upgrade_required")]++
	e.rest("GET", "/ws?token="+token, "", nil).problem(t, 400, "token_in_url")
	want[refusedHandshake(400, "token_in_url")]++

	e.rest("POST", "/ping", "", nil).problem(t, 405, "method_not_allowed")
	e.rest("GET", "/WS", "", nil).problem(t, 404, "not_found")
	e.rest("GET", "/v1/tokens", "MT_x", nil).problem(t, 401, "bad_master_token")
	e.dial(token).close()
	for series := range e.expectMetrics(want) {
		if _, known := want[series]; !known && strings.HasPrefix(series, "millrace_handshakes_refused_total{") {
			t.Errorf("%s was not there from the start", series)
		}
	}
	e.reload(strings.Replace(metricsCaddyfile, "drain 7s", "drain 8s", 1))
	e.expectMetrics(want)
}

// Loads are counted by whether the hub was kept; a drain and the broker show; both
// endpoints show the same.
func TestMetricsOfTheEdge(t *testing.T) {
	t.Parallel()
	e := startEdge(t, metricsCaddyfile)
	want := samples{
		"millrace_reloads_total{hub=kept}": 0, "millrace_reloads_total{hub=new}": 1,
		"millrace_broker_up{broker=memory}": 1, "millrace_draining": 0,
	}
	got := e.expectMetrics(want)
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
	if edges := e.overlayEdges(); len(edges) != 1 || edges[0].Status.Version != version.Number() {
		t.Errorf("the list of edges has %+v, want the version %s", edges, version.Number())
	}
	wantVersion(t, e.cli("", "version"))
	wantVersion(t, e.cli("", "--version"))
	for range 2 {
		e.reload(strings.Replace(metricsCaddyfile, "drain 7s", "drain 8s", 1))
		e.reload(metricsCaddyfile)
		want["millrace_reloads_total{hub=kept}"] += 2
		e.expectMetrics(want)
	}
	if out, err := e.tryReload(strings.Replace(metricsCaddyfile, "drain 7s", "drain 1s", 1)); err == nil {
		t.Errorf("a wrong configuration was loaded: %s", out)
	}
	e.expectMetrics(want)
	e.reload(strings.Replace(metricsCaddyfile, "{{.Store}}", "badger {{.Dir}}/others", 1))
	want["millrace_reloads_total{hub=new}"]++
	e.expectMetrics(want)
	if admin, site := e.metrics(), e.scrape(e.httpURL("/metrics")); !maps.Equal(admin, site) {
		t.Errorf("the admin endpoint shows\n%v\nthe site\n%v", admin, site)
	}

	e.admin("drain").want(0, "", "")
	want["millrace_draining"] = 1
	e.expectMetrics(want)
	_, refused := e.open(handshake{Token: e.issue(allowAll("room")).Token})
	refused.problem(t, 503, "draining")
	want[refusedHandshake(503, "draining")] = 1
	e.expectMetrics(want)
}

// wantVersion requires what `version` prints: one line with the versions of Millrace, Go
// and Caddy.
func wantVersion(t *testing.T, got string) {
	t.Helper()
	if want := "Millrace " + version.Number() + ", " + runtime.Version() + ", Caddy v2."; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
		t.Errorf("version prints %q, want %s…", got, want)
	}
}

// A site shows the metrics of an edge without an admin endpoint, too.
func TestMetricsWithoutAdmin(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(metricsCaddyfile, "admin localhost:{{.Admin}}", "admin off", 1))
	got := e.scrape(e.httpURL("/metrics"))
	if got["millrace_broker_up{broker=memory}"] != 1 || got["millrace_reloads_total{hub=new}"] != 1 {
		t.Errorf("got %v", got)
	}
}

// An edge that stops shows that it drains, to the end.
func TestMetricsWhileStopping(t *testing.T) {
	t.Parallel()
	e := startEdge(t, metricsCaddyfile)
	s := e.dial(e.issue(allowAll("room")).Token)
	s.ping()
	e.terminate()
	s.expectText("RECONNECT")
	e.expectMetrics(samples{"millrace_draining": 1, "millrace_reloads_total{hub=new}": 1})
	s.close()
	e.stop()
}
