package app

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/version"
)

// prefix of the names of all our metrics; docs/reference/metrics.md lists them.
const prefix = "millrace_"

// What the process counts, whichever hub its configurations use. Each
// configuration has a registry of its own, and these are in all of them: they go
// on counting over a reload. All values of their labels stand here, and are there
// from the start.
var (
	tokenCalls = newCounter("token_operations_total",
		"Calls of the token administration, over REST and the admin endpoint, by their outcome: done, refused (4xx), failed (5xx).",
		[]string{"operation", "outcome"}, product(TokenOperations, []string{"done", "refused", "failed"}))

	reloads = newCounter("reloads_total",
		"Configurations that were started: the hub of the one before was kept with its connections, or a new one was made, as at the first start.",
		[]string{"hub"}, [][]string{{"kept"}, {"new"}})

	processMetrics = []prometheus.Collector{problem.Refusals(), takeover.IdleClosed(), takeover.TCPClosed(), tokenCalls, reloads, newBuildInfo()}
)

// TokenOperations are the operations on tokens that are counted. Which call is which
// of them is known where the routes are.
var TokenOperations = []string{
	"issue", "refresh", "revoke", "revoke_subject", "list",
	"master_create", "master_list", "master_update", "master_rotate", "master_delete",
	"backup", "restore",
}

// CountTokenCall counts a call that was answered with status. operation is one of
// [TokenOperations]; that of an unknown call is empty, and is not counted.
func CountTokenCall(operation string, status int) {
	if operation == "" {
		return
	}
	outcome := "done"
	switch {
	case status >= http.StatusInternalServerError:
		outcome = "failed"
	case status >= http.StatusBadRequest:
		outcome = "refused"
	}
	tokenCalls.WithLabelValues(operation, outcome).Inc()
}

// countLoad counts the start of a configuration.
func countLoad(kept bool) {
	hub := "new"
	if kept {
		hub = "kept"
	}
	reloads.WithLabelValues(hub).Inc()
}

// RegisterMetrics adds our metrics to those of a configuration. The app does, and
// the admin API does too, which is provisioned first: Caddy's admin endpoint goes
// on with the registry of a configuration that is refused.
func RegisterMetrics(ctx caddy.Context) error {
	registry := ctx.GetMetricsRegistry()
	for _, c := range append([]prometheus.Collector{hubCollector{}}, processMetrics...) {
		var already prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &already) {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	return nil
}

// newCounter makes a counter whose series all start at zero.
func newCounter(name, help string, labels []string, values [][]string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	for _, v := range values {
		vec.WithLabelValues(v...)
	}
	return vec
}

// product lists all pairs of a first and a second.
func product(first, second []string) (pairs [][]string) {
	for _, a := range first {
		for _, b := range second {
			pairs = append(pairs, []string{a, b})
		}
	}
	return pairs
}

// newBuildInfo is the usual metric that is always 1, and says what runs.
func newBuildInfo() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: prefix + "build_info", Help: "Always 1; what runs, by version.",
		ConstLabels: prometheus.Labels{
			"version": version.Number(), "revision": version.Revision(), "goversion": runtime.Version(), "caddy": caddyVersion(),
		},
	})
	g.Set(1)
	return g
}

func caddyVersion() string {
	simple, _ := caddy.Version()
	return simple
}
