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
	if !strings.Contains(string(got.Body), "millrace_tenant_") {
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
	all := Samples{}
	for name, family := range families {
		if !strings.HasPrefix(name, "millrace_") {
			continue
		}
		for _, m := range family.GetMetric() {
			all.Add(name, m)
		}
	}
	return all
}

func (s Samples) Add(name string, m *dto.Metric) {
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

// Metrics are those that the admin endpoint shows now.
func (e *Edge) Metrics() Samples {
	e.T.Helper()
	return e.Scrape("http://" + e.AdminAddress() + "/metrics")
}

// ExpectMetrics awaits these values.
func (e *Edge) ExpectMetrics(want Samples) Samples {
	e.T.Helper()
	return e.AwaitMetrics(func(got Samples) string {
		var wrong []string
		for _, series := range slices.Sorted(maps.Keys(want)) {
			if value, there := got[series]; !there || value != want[series] {
				wrong = append(wrong, fmt.Sprintf("%s is %v (there: %v), want %v", series, value, there, want[series]))
			}
		}
		return strings.Join(wrong, "\n")
	})
}

// AwaitMetrics scrapes until wrong says that nothing is: an edge counts what it
// has written only after a client can read it.
func (e *Edge) AwaitMetrics(wrong func(Samples) string) Samples {
	e.T.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(WaitTimeout); ; <-tick.C {
		got := e.Metrics()
		what := wrong(got)
		if what == "" {
			return got
		}
		if time.Now().After(end) {
			e.T.Fatalf("the metrics are wrong:\n%s", what)
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
