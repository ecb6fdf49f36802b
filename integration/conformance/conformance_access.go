package conformance

import (
	"net/http"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// A token that is not valid opens no session, whatever is wrong with it, and
// wherever it is sent.
func refusedTokens(c *harness.Stage) {
	valid, revoked, expired := c.Room(), c.Room(), c.IssueExpired().Token
	c.Revoke(c.Master, revoked).Decode(c.T, http.StatusOK, new(harness.Object))
	id, zeros := valid[3:35], strings.Repeat("0", 32)
	for name, token := range map[string]string{
		"malformed":      "AT_x",
		"a master token": c.Master,
		"unknown":        "AT_" + zeros + "_" + zeros,
		"wrong secret":   "AT_" + id + "_" + zeros,
		"expired":        expired,
		"revoked":        revoked,
	} {
		c.Run(name, func(c *harness.Stage) {
			for _, h := range []harness.Handshake{
				{Token: token},
				{Protocols: []string{"llps.v1", "at." + token}},
				{Token: token, Protocols: []string{"llps.v1", "at." + valid}}, // the header counts
			} {
				_, refused := c.Open(h)
				refused.Problem(c.T, http.StatusUnauthorized, "unauthorized")
				if challenge := refused.Header.Get("WWW-Authenticate"); challenge != "Bearer" {
					c.T.Errorf("got WWW-Authenticate %q, want Bearer", challenge)
				}
				harness.CheckNoStore(c.T, refused)
			}
		})
	}
	c.MustOpen(harness.Handshake{Token: valid, Protocols: []string{"llps.v1", "at.AT_x"}}).Ping()
}

// RegionalCaddyfile is an edge in region EU that believes what a proxy on
// loopback says of the client's address.
var RegionalCaddyfile = strings.Replace(RacingCaddyfile, "drain 7s", "drain 7s\n\t\tregion EU", 1)

// What a token's right says of the connection.
func connectionRights(c *harness.Stage) {
	const accepted = "" // in place of a problem code
	origin := func(values ...string) http.Header { return http.Header{"Origin": values} }
	from := func(addresses ...string) http.Header { return http.Header{"X-Forwarded-For": addresses} }
	masks := harness.Object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}}
	origins := harness.Object{"allowed_ws_origin": []string{"https://app.example", "http://localhost:8080", "null"}}
	for _, row := range []struct {
		name   string
		right  harness.Object
		header http.Header
		code   string
	}{
		{"no limit", nil, nil, accepted},
		{"loopback in the mask", harness.Object{"allow_ip_masks": []string{"127.0.0.0/8"}}, nil, accepted},
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

		{"this protocol", harness.Object{"allow_protocols": []string{c.Transport.Name}}, nil, accepted},
		{"both protocols", harness.Object{"allow_protocols": []string{"webtransport", "websocket"}}, nil, accepted},
		{"no protocols listed", harness.Object{"allow_protocols": []string{}}, nil, accepted},
		{"the other protocol", harness.Object{"allow_protocols": []string{c.Other}}, nil, "protocol_not_allowed"},

		{"region", harness.Object{"allow_regions": []string{"US", "EU"}}, nil, accepted},
		{"another region", harness.Object{"allow_regions": []string{"US"}}, nil, "region_not_allowed"},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			s, refused := c.Open(harness.Handshake{Token: c.Limited(row.right), Header: row.header})
			switch {
			case s == nil && row.code == accepted:
				c.T.Errorf("got %d %s, want a session", refused.Status, refused.Body)
			case s == nil:
				refused.Problem(c.T, http.StatusForbidden, row.code)
				harness.CheckNoStore(c.T, refused)
			case row.code != accepted:
				c.T.Errorf("the session was accepted, want %s", row.code)
			default:
				s.Ping()
			}
		})
	}
}

// NarrowCaddyfile is an edge that takes few connections.
var NarrowCaddyfile = "{" + harness.GlobalOptions + "\tpubsub {" + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `
		limits {
			max_connections 3
			max_connections_per_token 2
			max_connections_per_tenant 3
		}
	}
}
` + harness.Sites

// Connections over a limit are refused with 503, in the order of the checks.
func connectionLimits(c *harness.Stage) {
	refused := func(what, token string, status int, code string) {
		c.T.Helper()
		s, refusal := c.Open(harness.Handshake{Token: token})
		if s != nil {
			c.T.Fatalf("%s: the session was accepted", what)
		}
		refusal.Problem(c.T, status, code)
		if after := refusal.Header.Get("Retry-After"); status == 503 && after == "" {
			c.T.Errorf("%s: the refusal has no Retry-After", what)
		}
	}
	one, two := c.Room(), c.Room()
	refused("an edge without region", c.Limited(harness.Object{"allow_regions": []string{"US", "EU"}}), 403, "region_not_allowed")
	leaver := c.Dial(one)
	c.Dial(one)
	refused("a third of the token", one, 503, "too_many_connections_of_token")
	refused("token before limit", "AT_x", 401, "unauthorized")
	other := c.Dial(two)
	refused("full", two, 503, "too_many_connections")
	refused("full before the token", "AT_x", 503, "too_many_connections")
	leaver.Close()
	harness.AwaitConnections(c.Edge, 2)
	c.Dial(two)

	c.AdminCall("POST", "/pubsub/drain", harness.Object{}).Decode(c.T, http.StatusOK, new(harness.Object))
	other.ExpectText(wire.LineReconnect)
	refused("draining", two, 503, "draining")
	refused("draining before the token", "AT_x", 503, "draining")
}
