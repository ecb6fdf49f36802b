package harness

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
)

// MetricsCaddyfile serves the metrics on the plain HTTP site, too.
var MetricsCaddyfile = strings.Replace(DefaultCaddyfile, "http://localhost:{{.HTTP}} {",
	"http://localhost:{{.HTTP}} {\n\thandle /metrics {\n\t\tmetrics\n\t}", 1)

// Samples are the values of a scrape by series: name{label=value,…}, the labels
// in order.
type Samples map[string]float64

// String lists those that are not zero.
func (s Samples) String() string {
	var text strings.Builder
	for _, series := range slices.Sorted(maps.Keys(s)) {
		if s[series] != 0 {
			fmt.Fprintf(&text, "\n%s %v", series, s[series])
		}
	}
	return text.String()
}

// Scrape reads our metrics from an endpoint, as Prometheus does.
func (e *Edge) Scrape(url string) Samples {
	e.T.Helper()
	got := e.Do(Call{Method: "GET", URL: url})
	if got.Status != http.StatusOK {
		e.T.Fatalf("GET %s: %d %s", url, got.Status, got.Body)
	}
	secrets := []string{e.Master, "AT_", "MT_", "127.0.0.1", "::1", "secret"}
	if !bytes.Contains(got.Body, []byte("millrace_tenant_")) {
		secrets = append(secrets, "paint")
	}
	for _, secret := range secrets {
		if bytes.Contains(got.Body, []byte(secret)) {
			e.T.Errorf("the metrics contain %q:\n%s", secret, got.Body)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(got.Body))
	if err != nil {
		e.T.Fatalf("%v:\n%s", err, got.Body)
	}
	maps.DeleteFunc(families, func(name string, _ *dto.MetricFamily) bool { return !strings.HasPrefix(name, "millrace_") })
	all := Samples{}
	vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	e.Must(err)
	for _, sample := range vector {
		var labels []string
		for name, value := range sample.Metric {
			if name != model.MetricNameLabel {
				labels = append(labels, string(name)+"="+string(value))
			}
		}
		series := string(sample.Metric[model.MetricNameLabel])
		if slices.Sort(labels); len(labels) > 0 {
			series += "{" + strings.Join(labels, ",") + "}"
		}
		all[series] = float64(sample.Value)
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
func (e *Edge) ExpectMetrics(want Samples) (got Samples) {
	e.T.Helper()
	for end := time.Now().Add(WaitTimeout); ; time.Sleep(20 * time.Millisecond) {
		got = e.Metrics()
		var wrong []string
		for _, series := range slices.Sorted(maps.Keys(want)) {
			if is, there := got[series]; !there || is != want[series] {
				wrong = append(wrong, fmt.Sprintf("%s is %v (there: %v), want %v", series, is, there, want[series]))
			}
		}
		if wrong == nil {
			return got
		}
		if time.Now().After(end) {
			e.T.Fatalf("the metrics are wrong:\n%s", strings.Join(wrong, "\n"))
		}
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
