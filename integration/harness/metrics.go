package harness

import (
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/version"
)

// MetricsCaddyfile serves the metrics on the plain HTTP site, too.
var MetricsCaddyfile = strings.Replace(DefaultCaddyfile, "http://localhost:{{.HTTP}} {",
	"http://localhost:{{.HTTP}} {\n\thandle /metrics {\n\t\tmetrics\n\t}", 1)

// Samples are the values of a scrape by series: name{label=value,…}, the labels
// in order.
type Samples map[string]float64

var sample = regexp.MustCompile(`(?m)^(millrace_\S+) (\S+)$`)

// Scrape reads our metrics from an endpoint.
func (e *Edge) Scrape(url string) Samples {
	e.T.Helper()
	got := e.Do(Call{Method: "GET", URL: url})
	text := string(got.Body)
	secrets := []string{e.Master, "AT_", "MT_", "127.0.0.1", "::1", "secret"}
	if !strings.Contains(text, "millrace_tenant_") {
		secrets = append(secrets, "paint")
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			e.T.Errorf("the metrics contain %q:\n%s", secret, text)
		}
	}
	all := Samples{}
	for _, line := range sample.FindAllStringSubmatch(strings.ReplaceAll(text, `"`, ""), -1) {
		all[line[1]] = value(strconv.ParseFloat(line[2], 64))(e.T)
	}
	if got.Status != http.StatusOK || len(all) == 0 {
		e.T.Fatalf("GET %s: %d, without our metrics:\n%s", url, got.Status, text)
	}
	return all
}

// Metrics are those that the admin endpoint shows now.
func (e *Edge) Metrics() Samples {
	e.T.Helper()
	return e.Scrape(e.AdminURL("/metrics"))
}

// ExpectMetrics awaits these values: an edge counts what it has written only after a client
// can read it.
func (e *Edge) ExpectMetrics(want Samples) {
	e.T.Helper()
	var got Samples
	err := e.poll(WaitTimeout, func() bool {
		got = e.Metrics()
		for series, n := range want {
			if is, there := got[series]; !there || is != n {
				return false
			}
		}
		return true
	})
	if err != nil {
		e.T.Fatalf("%v: got\n%v\nwant\n%v", err, got, want)
	}
}

// WantVersion requires what `version` prints: one line with the versions of Millrace, Go
// and Caddy.
func WantVersion(t *testing.T, got string) {
	t.Helper()
	if want := "Millrace " + version.Number() + ", " + runtime.Version() + ", Caddy v2."; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
		t.Errorf("version prints %q, want %s…", got, want)
	}
}
