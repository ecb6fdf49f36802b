package integration

import (
	"net/http"
	"strings"

	"github.com/millrace/millrace/wire"
)

// A token that is not valid opens no session, whatever is wrong with it, and
// wherever it is sent.
func refusedTokens(c *stage) {
	valid, revoked, expired := c.room(), c.room(), c.issueExpired().Token
	c.revoke(c.master, revoked).decode(c.t, http.StatusOK, new(object))
	id, zeros := valid[3:35], strings.Repeat("0", 32)
	for name, token := range map[string]string{
		"malformed":      "AT_x",
		"a master token": c.master,
		"unknown":        "AT_" + zeros + "_" + zeros,
		"wrong secret":   "AT_" + id + "_" + zeros,
		"expired":        expired,
		"revoked":        revoked,
	} {
		c.run(name, func(c *stage) {
			for _, h := range []handshake{
				{Token: token},
				{Protocols: []string{"llps.v1", "at." + token}},
				{Token: token, Protocols: []string{"llps.v1", "at." + valid}}, // the header counts
			} {
				_, refused := c.open(h)
				refused.problem(c.t, http.StatusUnauthorized, "unauthorized")
				if challenge := refused.Header.Get("WWW-Authenticate"); challenge != "Bearer" {
					c.t.Errorf("got WWW-Authenticate %q, want Bearer", challenge)
				}
				checkNoStore(c.t, refused)
			}
		})
	}
	c.mustOpen(handshake{Token: valid, Protocols: []string{"llps.v1", "at.AT_x"}}).ping()
}

// regionalCaddyfile is an edge in region EU that believes what a proxy on
// loopback says of the client's address.
var regionalCaddyfile = strings.Replace(racingCaddyfile, "drain 7s", "drain 7s\n\t\tregion EU", 1)

// What a token's right says of the connection.
func connectionRights(c *stage) {
	const accepted = "" // in place of a problem code
	origin := func(values ...string) http.Header { return http.Header{"Origin": values} }
	from := func(addresses ...string) http.Header { return http.Header{"X-Forwarded-For": addresses} }
	masks := object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}}
	origins := object{"allowed_ws_origin": []string{"https://app.example", "http://localhost:8080", "null"}}
	for _, row := range []struct {
		name   string
		right  object
		header http.Header
		code   string
	}{
		{"no limit", nil, nil, accepted},
		{"loopback in the mask", object{"allow_ip_masks": []string{"127.0.0.0/8"}}, nil, accepted},
		{"loopback outside the mask", masks, nil, "ip_not_allowed"},
		{"forwarded address in the mask", masks, from("203.0.113.5"), accepted},
		{"forwarded IPv6 address in the mask", masks, from("2001:db8::7"), accepted},
		{"forwarded address, IPv4-mapped", masks, from("::ffff:203.0.113.5"), accepted},
		{"forwarded address outside the mask", masks, from("198.51.100.7"), "ip_not_allowed"},
		{"forwarded address, forged on the left", masks, from("203.0.113.5, 198.51.100.7"), "ip_not_allowed"},

		{"any origin", nil, origin("https://anywhere.example"), accepted},
		{"origin", origins, origin("https://app.example"), accepted},
		{"origin with its default port", origins, origin("https://app.example:443"), accepted},
		{"origin in another case", origins, origin("https://APP.Example"), accepted},
		{"origin with a port", origins, origin("http://localhost:8080"), accepted},
		{"null origin", origins, origin("null"), accepted},
		{"another origin", origins, origin("https://evil.example"), "origin_not_allowed"},
		{"origin with another port", origins, origin("https://app.example:8443"), "origin_not_allowed"},
		{"no origin", origins, nil, "origin_not_allowed"},
		{"empty origin", origins, origin(""), "origin_not_allowed"},
		{"repeated origin", origins, origin("https://app.example", "https://app.example"), "origin_not_allowed"},

		{"this protocol", object{"allow_protocols": []string{c.transport.name}}, nil, accepted},
		{"both protocols", object{"allow_protocols": []string{"webtransport", "websocket"}}, nil, accepted},
		{"no protocols listed", object{"allow_protocols": []string{}}, nil, accepted},
		{"the other protocol", object{"allow_protocols": []string{c.other}}, nil, "protocol_not_allowed"},

		{"region", object{"allow_regions": []string{"US", "EU"}}, nil, accepted},
		{"another region", object{"allow_regions": []string{"US"}}, nil, "region_not_allowed"},
	} {
		c.run(row.name, func(c *stage) {
			s, refused := c.open(handshake{Token: c.limited(row.right), Header: row.header})
			switch {
			case s == nil && row.code == accepted:
				c.t.Errorf("got %d %s, want a session", refused.Status, refused.Body)
			case s == nil:
				refused.problem(c.t, http.StatusForbidden, row.code)
				checkNoStore(c.t, refused)
			case row.code != accepted:
				c.t.Errorf("the session was accepted, want %s", row.code)
			default:
				s.ping()
			}
		})
	}
}

// narrowCaddyfile is an edge that takes few connections.
var narrowCaddyfile = "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + `
		limits {
			max_connections 3
			max_connections_per_token 2
			max_connections_per_tenant 3
		}
	}
}
` + sites

// Connections over a limit are refused with 503, in the order of the checks.
func connectionLimits(c *stage) {
	refused := func(what, token string, status int, code string) {
		c.t.Helper()
		s, refusal := c.open(handshake{Token: token})
		if s != nil {
			c.t.Fatalf("%s: the session was accepted", what)
		}
		refusal.problem(c.t, status, code)
		if after := refusal.Header.Get("Retry-After"); status == 503 && after == "" {
			c.t.Errorf("%s: the refusal has no Retry-After", what)
		}
	}
	one, two := c.room(), c.room()
	refused("an edge without region", c.limited(object{"allow_regions": []string{"US", "EU"}}), 403, "region_not_allowed")
	leaver := c.dial(one)
	c.dial(one)
	refused("a third of the token", one, 503, "too_many_connections_of_token")
	refused("token before limit", "AT_x", 401, "unauthorized")
	other := c.dial(two)
	refused("full", two, 503, "too_many_connections")
	refused("full before the token", "AT_x", 503, "too_many_connections")
	leaver.close()
	awaitConnections(c.edge, 2)
	c.dial(two)

	c.adminCall("POST", "/pubsub/drain", object{}).decode(c.t, http.StatusOK, new(object))
	other.expectText(wire.LineReconnect)
	refused("draining", two, 503, "draining")
	refused("draining before the token", "AT_x", 503, "draining")
}
