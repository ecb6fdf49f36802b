package integration

import (
	"net/http"
	"testing"
)

// The limits of a token's right on connections, and the places where a handshake may have a
// token.
func TestHandshakeRights(t *testing.T) {
	t.Parallel()
	e := startEdge(t, handshakeCaddyfile)
	token := e.issue(allowAll("room")).Token
	masked := e.limited(object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}})
	pages := e.limited(object{"allowed_ws_origin": []string{"https://app.example", "http://localhost:8080", "http://plain.example:80"}})
	files := e.limited(object{"allowed_ws_origin": []string{"null"}})
	const (
		mapped    = "X-Forwarded-For: ::ffff:203.0.113.5"
		forwarded = "X-Forwarded-For: 203.0.113.5"
		proxy     = "192.0.2.1" // the trusted one
	)
	const accepted = "" // in place of a problem code
	for _, row := range []struct {
		name    string
		upgrade upgrade
		code    string
	}{
		{"plain from loopback", upgrade{Header: []string{bearer(token)}}, accepted},
		{"plain from afar", upgrade{Peer: "203.0.113.5", Header: []string{bearer(token)}}, "tls_required"},
		{"plain from afar, IPv6", upgrade{Peer: "2001:db8::1", Header: []string{bearer(token)}}, "tls_required"},
		{"plain from afar, subprotocol", upgrade{Peer: "203.0.113.5", Header: []string{offer("llps.v1, at." + token)}}, "tls_required"},
		{"plain from afar that claims loopback", upgrade{Peer: "203.0.113.5", Header: []string{bearer(token), "X-Forwarded-For: 127.0.0.1"}}, "tls_required"},
		{"plain from afar that claims TLS", upgrade{Peer: "203.0.113.5", Header: []string{bearer(token), "X-Forwarded-Proto: https"}}, "tls_required"},
		{"TLS from afar", upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{bearer(token)}}, accepted},
		{"plain from the trusted proxy", upgrade{Peer: proxy, Header: []string{bearer(token), forwarded}}, accepted},

		{"address in the mask", upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{bearer(masked)}}, accepted},
		{"IPv6 address in the mask", upgrade{TLS: true, Peer: "2001:db8::9", Header: []string{bearer(masked)}}, accepted},
		{"address outside the mask", upgrade{TLS: true, Peer: "198.51.100.7", Header: []string{bearer(masked)}}, "ip_not_allowed"},
		{"IPv6 address outside the mask", upgrade{TLS: true, Peer: "2001:db9::9", Header: []string{bearer(masked)}}, "ip_not_allowed"},
		{"loopback outside the mask", upgrade{Header: []string{bearer(masked)}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For", upgrade{TLS: true, Peer: "198.51.100.7", Header: []string{bearer(masked), forwarded}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For from loopback", upgrade{Header: []string{bearer(masked), forwarded}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For outside the mask", upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{bearer(masked), "X-Forwarded-For: 198.51.100.7"}}, accepted},
		{"trusted X-Forwarded-For", upgrade{Peer: proxy, Header: []string{bearer(masked), forwarded}}, accepted},
		{"trusted X-Forwarded-For, IPv6", upgrade{Peer: proxy, Header: []string{bearer(masked), "X-Forwarded-For: 2001:db8::7"}}, accepted},
		{"trusted X-Forwarded-For, IPv4-mapped", upgrade{Peer: proxy, Header: []string{bearer(masked), mapped}}, accepted},
		{"trusted X-Forwarded-For outside the mask", upgrade{Peer: proxy, Header: []string{bearer(masked), "X-Forwarded-For: 198.51.100.7"}}, "ip_not_allowed"},
		{"trusted X-Forwarded-For, forged on the left", upgrade{Peer: proxy, Header: []string{bearer(masked), "X-Forwarded-For: 203.0.113.5, 198.51.100.7"}}, "ip_not_allowed"},
		{"trusted X-Forwarded-For, the right one counts", upgrade{Peer: proxy, Header: []string{bearer(masked), "X-Forwarded-For: 198.51.100.7, 203.0.113.5"}}, accepted},
		{"trusted proxy itself", upgrade{Peer: proxy, Header: []string{bearer(masked)}}, "ip_not_allowed"},

		{"origin", upgrade{Header: []string{bearer(pages), "Origin: https://app.example"}}, accepted},
		{"origin with its default port", upgrade{Header: []string{bearer(pages), "Origin: https://app.example:443"}}, accepted},
		{"origin without its default port", upgrade{Header: []string{bearer(pages), "Origin: http://plain.example"}}, accepted},
		{"origin in another case", upgrade{Header: []string{bearer(pages), "Origin: https://APP.Example"}}, accepted},
		{"origin with a port", upgrade{Header: []string{bearer(pages), "Origin: http://localhost:8080"}}, accepted},
		{"origin with another port", upgrade{Header: []string{bearer(pages), "Origin: https://app.example:8443"}}, "origin_not_allowed"},
		{"origin without its port", upgrade{Header: []string{bearer(pages), "Origin: http://localhost"}}, "origin_not_allowed"},
		{"origin with another scheme", upgrade{Header: []string{bearer(pages), "Origin: http://app.example"}}, "origin_not_allowed"},
		{"another origin", upgrade{Header: []string{bearer(pages), "Origin: https://evil.example"}}, "origin_not_allowed"},
		{"origin that ends alike", upgrade{Header: []string{bearer(pages), "Origin: https://evil-app.example"}}, "origin_not_allowed"},
		{"origin that starts alike", upgrade{Header: []string{bearer(pages), "Origin: https://app.example.evil.example"}}, "origin_not_allowed"},
		{"origin with a path", upgrade{Header: []string{bearer(pages), "Origin: https://app.example/"}}, "origin_not_allowed"},
		{"no origin", upgrade{Header: []string{bearer(pages)}}, "origin_not_allowed"},
		{"empty origin", upgrade{Header: []string{bearer(pages), "Origin: "}}, "origin_not_allowed"},
		{"repeated origin", upgrade{Header: []string{bearer(pages), "Origin: https://app.example", "Origin: https://app.example"}}, "origin_not_allowed"},
		{"two origins in one header", upgrade{Header: []string{bearer(pages), "Origin: https://app.example https://app.example"}}, "origin_not_allowed"},
		{"null origin", upgrade{Header: []string{bearer(files), "Origin: null"}}, accepted},
		{"null origin that is not listed", upgrade{Header: []string{bearer(pages), "Origin: null"}}, "origin_not_allowed"},
		{"no origin for null", upgrade{Header: []string{bearer(files)}}, "origin_not_allowed"},

		{"protocol", upgrade{Header: []string{bearer(e.limited(object{"allow_protocols": []string{"websocket"}}))}}, accepted},
		{"both protocols", upgrade{Header: []string{bearer(e.limited(object{"allow_protocols": []string{"webtransport", "websocket"}}))}}, accepted},
		{"no protocols listed", upgrade{Header: []string{bearer(e.limited(object{"allow_protocols": []string{}}))}}, accepted},
		{"another protocol", upgrade{Header: []string{bearer(e.limited(object{"allow_protocols": []string{"webtransport"}}))}}, "protocol_not_allowed"},

		{"region", upgrade{Header: []string{bearer(e.limited(object{"allow_regions": []string{"US", "EU"}}))}}, accepted},
		{"another region", upgrade{Header: []string{bearer(e.limited(object{"allow_regions": []string{"US"}}))}}, "region_not_allowed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := e.with(t).upgrade(row.upgrade)
			if row.code != accepted {
				got.problem(t, http.StatusForbidden, row.code)
				checkNoStore(t, got)
			} else if got.Status != http.StatusSwitchingProtocols {
				t.Errorf("got %d %s, want 101", got.Status, got.Body)
			}
		})
	}
	checkRefusals(t, e, []refusal{
		{"token before TLS", upgrade{Peer: "203.0.113.5", Header: []string{bearer("AT_x")}}, 401, "unauthorized"},
	})
}
