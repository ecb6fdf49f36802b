package problem

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// refusals counts for the whole process: it goes on over a reload.
var refusals = newRefusals()

// handshakeRefusals are the pairs of status and code with which a handshake is
// refused (docs/protocol.md, WebSocket and WebTransport).
var handshakeRefusals = [][]string{
	{"400", "bad_handshake"}, {"400", "token_in_url"},
	{"401", "unauthorized"},
	{"403", "tls_required"}, {"403", "ip_not_allowed"}, {"403", "origin_not_allowed"},
	{"403", "protocol_not_allowed"}, {"403", "region_not_allowed"}, {"403", "client_not_allowed"},
	{"405", "method_not_allowed"},
	{"425", "too_early"},
	{"426", "upgrade_required"},
	{"429", "too_many_failures"}, {"429", "too_many_unauthenticated"},
	{"501", "not_implemented"},
	{"503", "draining"}, {"503", "starting"}, {"503", "unavailable"},
	{"503", "too_many_connections"}, {"503", "too_many_connections_of_token"}, {"503", "too_many_connections_of_tenant"},
	{"503", "too_many_connections_of_address"}, {"503", "too_many_unauthenticated"},
	{"503", "try_later"},
}

// newRefusals makes a counter whose series all start at zero.
func newRefusals() *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_handshakes_refused_total",
		Help: "Refused handshakes and AUTH lines, and requests with a token in their URL, by HTTP status and code of the answer.",
	}, []string{"status", "code"})
	for _, pair := range handshakeRefusals {
		vec.WithLabelValues(pair...)
	}
	return vec
}

// Refusals is the metric of refused handshakes, for the registry of a configuration.
func Refusals() *prometheus.CounterVec { return refusals }

// CountRefusal counts a handshake that is refused.
func CountRefusal(status int, code string) {
	refusals.WithLabelValues(strconv.Itoa(status), code).Inc()
}
