package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// RegionalCaddyfile is an edge in region EU that believes what a proxy on loopback says of
// the client's address.
var RegionalCaddyfile = strings.NewReplacer("drain 7s", "drain 7s\n\t\tregion EU", "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.0/8
		trusted_proxies_strict
	}`).Replace(harness.DefaultCaddyfile)

// from is the header of a client at an address.
func from(address string) http.Header { return http.Header{"X-Forwarded-For": {address}} }

// Who gets a session: edgetest has every rule, this what an edge takes from Caddy.
func connectionRights(c *harness.Stage) {
	const accepted = "" // in place of a problem code
	origin := func(values ...string) http.Header { return http.Header{"Origin": values} }
	masks := c.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}})
	origins := c.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}})
	for _, row := range []struct {
		name, token string
		header      http.Header
		code        string
	}{
		{"a master token", c.Master, nil, "unauthorized"},
		{"loopback outside the mask", masks, nil, "ip_not_allowed"},
		{"forwarded address in the mask", masks, from("203.0.113.5"), accepted},
		{"forwarded IPv6 address in the mask", masks, from("2001:db8::7"), accepted},
		{"forwarded address, forged on the left", masks, from("203.0.113.5, 198.51.100.7"), "ip_not_allowed"},
		{"origin", origins, origin("https://app.example"), accepted},
		{"another origin", origins, origin("https://evil.example"), "origin_not_allowed"},
		{"region", c.Limited(harness.Object{"allow_regions": []string{"US", "EU"}}), nil, accepted},
		{"another region", c.Limited(harness.Object{"allow_regions": []string{"US"}}), nil, "region_not_allowed"},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			s, refused := c.Open(harness.Handshake{Token: row.token, Header: row.header})
			switch {
			case row.code == accepted && s == nil:
				c.T.Errorf("got %d %s, want a session", refused.Status, refused.Body)
			case row.code == accepted:
				s.Ping()
			case s != nil:
				c.T.Errorf("the session was accepted, want %s", row.code)
			case row.code == "unauthorized":
				refused.Problem(c.T, http.StatusUnauthorized, row.code)
			default:
				refused.Problem(c.T, http.StatusForbidden, row.code)
				harness.CheckNoStore(c.T, refused)
			}
		})
	}
}

// checkPrompt requires a second, which docs/protocol.md promises for the end of sessions. Only
// a soak has the machine for itself.
func checkPrompt(c *harness.Stage, since time.Time) {
	c.T.Helper()
	if took := time.Since(since); harness.Soaking && took > time.Second {
		c.T.Errorf("the sockets were open for %v after that, want at most a second", took)
	}
}

func revocation(c *harness.Stage) {
	token, other := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	sockets := []*harness.Socket{c.Dial(token.Token), c.DialBrowser(token.Token)}
	bystander := c.Dial(other.Token)
	begin := time.Now()
	c.Revoke(c.Master, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	for _, s := range sockets {
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
	}
	checkPrompt(c, begin)
	_, refused := c.Open(harness.Handshake{Token: token.Token})
	refused.Problem(c.T, http.StatusUnauthorized, "")
	bystander.Ping()
}

// A session ends with its token; a refresh moves the end of open ones, in both directions.
func expiry(c *harness.Stage) {
	token := c.Issue(harness.AllowAll("room"))
	closed, browser := c.Dial(token.Token), c.DialBrowser(token.Token)
	extended := c.Issue(harness.AllowAll("room"))
	kept := c.Dial(extended.Token)
	refresh := func(token harness.Issued, at time.Time) harness.Answer {
		return c.Refresh(c.Master, token.TokenID, at.UTC().Format(time.RFC3339Nano))
	}
	refresh(extended, time.Now().Add(10*time.Second)).Decode(c.T, http.StatusOK, new(harness.Object))
	short := time.Now().Add(11 * time.Second)
	refresh(extended, short.Add(time.Hour)).Decode(c.T, http.StatusOK, new(harness.Object))
	expires := time.Now().Add(2 * time.Second)
	refresh(token, expires).Decode(c.T, http.StatusOK, new(harness.Object))
	for _, s := range []*harness.Socket{closed, browser} {
		s.ExpectText("ERR:token_expired")
		s.ExpectClose(wire.CloseUnauthorized)
	}
	if time.Until(expires) > time.Second { // the edge keeps whole seconds
		c.T.Errorf("the sockets closed %v before their time", time.Until(expires))
	}
	checkPrompt(c, expires)
	_, refused := c.Open(harness.Handshake{Token: token.Token})
	refused.Problem(c.T, http.StatusUnauthorized, "")
	refresh(token, short.Add(time.Hour)).Problem(c.T, http.StatusConflict, "token_expired")
	if harness.Soaking { // else a refresh that comes to nothing shows in TestRevocationAndExpiry of pubsub
		c.Poll("the old end of the other token to pass", func() bool { return time.Now().After(short) })
	}
	kept.Ping()
}

// A token that was revoked has no open socket, whenever in its handshakes and refreshes the
// revocation came.
func revocationRaces(c *harness.Stage) {
	var opened, refreshed atomic.Int64
	c.Run("racers", func(c *harness.Stage) { // ends when all of them have
		var started atomic.Int64
		for i := range 8 {
			c.Run(fmt.Sprint(i+1), func(c *harness.Stage) {
				c.T.Parallel()
				for n := started.Add(1); n <= int64(c.Races) && !c.T.Failed(); n = started.Add(1) {
					// From an address of its own, or the many refusals would give 429.
					raceRevocation(c, from(fmt.Sprintf("10.0.%d.%d", n>>8&255, n&255)), &opened, &refreshed)
				}
			})
		}
	})
	c.T.Logf("of %d: %d handshakes were accepted, and %d refreshes came before the revocation", c.Races, opened.Load(), refreshed.Load())
	if harness.Soaking && (opened.Load() == 0 || opened.Load() == int64(c.Races)) {
		c.T.Error("that was no race")
	}
	harness.AwaitConnections(c.Edge, 0)
}

func raceRevocation(c *harness.Stage, header http.Header, opened, refreshed *atomic.Int64) {
	token := c.Issue(harness.AllowAll("room"))
	h := harness.Handshake{Token: token.Token, Header: header}
	open := c.MustOpen(h)
	revoked := make(chan error, 1)
	go func() { // ends with its call; awaited below
		a, err := c.Try(harness.Call{Method: "DELETE", URL: "/v1/revoke-token", Token: c.Master, Body: []byte(`{"token":"` + token.Token + `"}`)})
		if err == nil && a.Status != http.StatusOK {
			err = fmt.Errorf("revoke: %d %s", a.Status, a.Body)
		}
		revoked <- err
	}()
	s, refusal := c.Open(h)
	refresh := c.Refresh(c.Master, token.TokenID, harness.In(2*time.Hour))
	if err := <-revoked; err != nil {
		c.T.Fatal(err)
	}
	ended := time.Now()
	if refresh.Status == http.StatusOK {
		refreshed.Add(1)
	} else {
		refresh.Problem(c.T, http.StatusConflict, "token_revoked")
	}
	open.ExpectText("ERR:token_revoked")
	open.ExpectClose(wire.CloseForbidden)
	if s == nil {
		refusal.Problem(c.T, http.StatusUnauthorized, "unauthorized")
	} else {
		opened.Add(1)
		_, message, err := s.Read()
		if err == nil && string(message) == "ERR:token_revoked" {
			s.ExpectClose(wire.CloseForbidden)
		} else if end := new(harness.Closed); !errors.As(err, &end) || end.Code != wire.CloseForbidden || !c.CodeAlone {
			c.T.Fatalf("got %q, %v; want ERR:token_revoked and close code %d", message, err, wire.CloseForbidden)
		}
	}
	checkPrompt(c, ended)
	c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_revoked")
	_, refusal = c.Open(h)
	refusal.Problem(c.T, http.StatusUnauthorized, "unauthorized")
}
