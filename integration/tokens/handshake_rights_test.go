package tokens

import (
	"net/http"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The limits of a token's right on connections, and the places where a handshake may have a
// token.
func TestHandshakeRights(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	masked := e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}})
	pages := e.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example", "http://localhost:8080", "http://plain.example:80"}})
	files := e.Limited(harness.Object{"allowed_ws_origin": []string{"null"}})
	const (
		mapped    = "X-Forwarded-For: ::ffff:203.0.113.5"
		forwarded = "X-Forwarded-For: 203.0.113.5"
		proxy     = "192.0.2.1" // the trusted one
	)
	const accepted = "" // in place of a problem code
	for _, row := range []struct {
		name    string
		upgrade harness.Upgrade
		code    string
	}{
		{"plain from loopback", harness.Upgrade{Header: []string{harness.Bearer(token)}}, accepted},
		{"plain from afar", harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Bearer(token)}}, "tls_required"},
		{"plain from afar, IPv6", harness.Upgrade{Peer: "2001:db8::1", Header: []string{harness.Bearer(token)}}, "tls_required"},
		{"plain from afar, subprotocol", harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Offer("llps.v1, at." + token)}}, "tls_required"},
		{"plain from afar that claims loopback", harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Bearer(token), "X-Forwarded-For: 127.0.0.1"}}, "tls_required"},
		{"plain from afar that claims TLS", harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Bearer(token), "X-Forwarded-Proto: https"}}, "tls_required"},
		{"TLS from afar", harness.Upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{harness.Bearer(token)}}, accepted},
		{"plain from the trusted proxy", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(token), forwarded}}, accepted},

		{"address in the mask", harness.Upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{harness.Bearer(masked)}}, accepted},
		{"IPv6 address in the mask", harness.Upgrade{TLS: true, Peer: "2001:db8::9", Header: []string{harness.Bearer(masked)}}, accepted},
		{"address outside the mask", harness.Upgrade{TLS: true, Peer: "198.51.100.7", Header: []string{harness.Bearer(masked)}}, "ip_not_allowed"},
		{"IPv6 address outside the mask", harness.Upgrade{TLS: true, Peer: "2001:db9::9", Header: []string{harness.Bearer(masked)}}, "ip_not_allowed"},
		{"loopback outside the mask", harness.Upgrade{Header: []string{harness.Bearer(masked)}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For", harness.Upgrade{TLS: true, Peer: "198.51.100.7", Header: []string{harness.Bearer(masked), forwarded}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For from loopback", harness.Upgrade{Header: []string{harness.Bearer(masked), forwarded}}, "ip_not_allowed"},
		{"untrusted X-Forwarded-For outside the mask", harness.Upgrade{TLS: true, Peer: "203.0.113.5", Header: []string{harness.Bearer(masked), "X-Forwarded-For: 198.51.100.7"}}, accepted},
		{"trusted X-Forwarded-For", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), forwarded}}, accepted},
		{"trusted X-Forwarded-For, IPv6", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), "X-Forwarded-For: 2001:db8::7"}}, accepted},
		{"trusted X-Forwarded-For, IPv4-mapped", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), mapped}}, accepted},
		{"trusted X-Forwarded-For outside the mask", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), "X-Forwarded-For: 198.51.100.7"}}, "ip_not_allowed"},
		{"trusted X-Forwarded-For, forged on the left", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), "X-Forwarded-For: 203.0.113.5, 198.51.100.7"}}, "ip_not_allowed"},
		{"trusted X-Forwarded-For, the right one counts", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked), "X-Forwarded-For: 198.51.100.7, 203.0.113.5"}}, accepted},
		{"trusted proxy itself", harness.Upgrade{Peer: proxy, Header: []string{harness.Bearer(masked)}}, "ip_not_allowed"},

		{"origin", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example"}}, accepted},
		{"origin with its default port", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example:443"}}, accepted},
		{"origin without its default port", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: http://plain.example"}}, accepted},
		{"origin in another case", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://APP.Example"}}, accepted},
		{"origin with a port", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: http://localhost:8080"}}, accepted},
		{"origin with another port", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example:8443"}}, "origin_not_allowed"},
		{"origin without its port", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: http://localhost"}}, "origin_not_allowed"},
		{"origin with another scheme", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: http://app.example"}}, "origin_not_allowed"},
		{"another origin", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://evil.example"}}, "origin_not_allowed"},
		{"origin that ends alike", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://evil-app.example"}}, "origin_not_allowed"},
		{"origin that starts alike", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example.evil.example"}}, "origin_not_allowed"},
		{"origin with a path", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example/"}}, "origin_not_allowed"},
		{"no origin", harness.Upgrade{Header: []string{harness.Bearer(pages)}}, "origin_not_allowed"},
		{"empty origin", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: "}}, "origin_not_allowed"},
		{"repeated origin", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example", "Origin: https://app.example"}}, "origin_not_allowed"},
		{"two origins in one header", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: https://app.example https://app.example"}}, "origin_not_allowed"},
		{"null origin", harness.Upgrade{Header: []string{harness.Bearer(files), "Origin: null"}}, accepted},
		{"null origin that is not listed", harness.Upgrade{Header: []string{harness.Bearer(pages), "Origin: null"}}, "origin_not_allowed"},
		{"no origin for null", harness.Upgrade{Header: []string{harness.Bearer(files)}}, "origin_not_allowed"},

		{"protocol", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_protocols": []string{"websocket"}}))}}, accepted},
		{"both protocols", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_protocols": []string{"webtransport", "websocket"}}))}}, accepted},
		{"no protocols listed", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_protocols": []string{}}))}}, accepted},
		{"another protocol", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_protocols": []string{"webtransport"}}))}}, "protocol_not_allowed"},

		{"region", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_regions": []string{"US", "EU"}}))}}, accepted},
		{"another region", harness.Upgrade{Header: []string{harness.Bearer(e.Limited(harness.Object{"allow_regions": []string{"US"}}))}}, "region_not_allowed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := e.With(t).Upgrade(row.upgrade)
			if row.code != accepted {
				got.Problem(t, http.StatusForbidden, row.code)
				harness.CheckNoStore(t, got)
			} else if got.Status != http.StatusSwitchingProtocols {
				t.Errorf("got %d %s, want 101", got.Status, got.Body)
			}
		})
	}
	checkRefusals(t, e, []refusal{
		{"token before TLS", harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Bearer("AT_x")}}, 401, "unauthorized"},
	})
}
