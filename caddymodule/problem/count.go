package problem

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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
	{"503", "too_many_connections_of_issuer"},
	{"503", "too_many_connections_of_address"}, {"503", "too_many_connections_of_subject"}, {"503", "too_many_unauthenticated"},
	{"503", "too_many_rights"},
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

// RefusalCounts returns how often handshakes were refused since the process began, by status
// and code, as in "403 ip_not_allowed".
func RefusalCounts() map[string]uint64 {
	counts := make(map[string]uint64, len(handshakeRefusals))
	for _, pair := range handshakeRefusals {
		var m dto.Metric
		if err := refusals.WithLabelValues(pair...).Write(&m); err == nil { // a counter always can
			counts[pair[0]+" "+pair[1]] = uint64(m.GetCounter().GetValue())
		}
	}
	return counts
}

// CountRefusal counts a handshake that is refused.
func CountRefusal(status int, code string) {
	refusals.WithLabelValues(strconv.Itoa(status), code).Inc()
}
