package webhook

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// What all webhooks of the process count; docs/reference/metrics.md lists it.
var (
	eventsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_webhook_events_total",
		Help: "Events of hook webhook by outcome: delivered to the backend, or lost, since the queue was full or the backend took them in no time.",
	}, []string{"outcome"})
	queued = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "millrace_webhook_queue_events",
		Help: "Events of hook webhook that wait for the backend.",
	})
	answersTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_webhook_answers_total",
		Help: "Questions of hook webhook by their answer: allowed, refused, silent, where there was no proper answer in time, or not_asked, where the question was not sent, or answered 429.",
	}, []string{"answer"})
)

func init() {
	for _, outcome := range []string{"delivered", "lost"} {
		eventsTotal.WithLabelValues(outcome)
	}
	for _, answer := range []string{"allowed", "refused", "silent", "not_asked"} {
		answersTotal.WithLabelValues(answer)
	}
}

// Collectors are the metrics of all webhooks.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{eventsTotal, queued, answersTotal}
}

func registerMetrics(ctx caddy.Context) error {
	for _, c := range Collectors() {
		var already prometheus.AlreadyRegisteredError
		if err := ctx.GetMetricsRegistry().Register(c); err != nil && !errors.As(err, &already) {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	return nil
}
