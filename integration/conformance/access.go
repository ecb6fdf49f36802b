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

// regionalCaddyfile is an edge in region EU that believes what a proxy on loopback says of
// the client's address.
var regionalCaddyfile = strings.NewReplacer("drain 7s", "drain 7s\n\t\tregion EU", "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.0/8
		trusted_proxies_strict
	}`).Replace(harness.DefaultCaddyfile)

func publishAndSubscribe(c *harness.Stage) {
	token := c.Room()
	pub, sub := c.Publisher(token), c.Hearing(c.DialBrowser(token))
	sub.Subscribe("paint.room", "#", "a.*")
	pub.Publish("paint.room", "a.b", "hello")
	pub.Publish("paint.room", "c", "")
	sub.ExpectDeliver("paint.room", "a.b", "hello", "#", "a.*")
	sub.ExpectDeliver("paint.room", "c", "", "#")
	c.Settle(pub, sub)
	sub.Close()
	pub.Close()
}

// from is the header of a client at an address.
func from(address string) http.Header { return http.Header{"X-Forwarded-For": {address}} }

// Who gets a session: edgetest has every rule, this what an edge takes from Caddy.
func connectionRights(c *harness.Stage) {
	origin := func(value string) http.Header { return http.Header{"Origin": {value}} }
	masks := c.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}})
	origins := c.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}})
	regions := func(names ...string) string { return c.Limited(harness.Object{"allow_regions": names}) }
	for _, row := range []struct {
		name, token string
		header      http.Header
		code        string // empty: a session
	}{
		{"loopback outside the mask", masks, nil, "ip_not_allowed"},
		{"forwarded address in the mask", masks, from("203.0.113.5"), ""},
		{"forwarded IPv6 address in the mask", masks, from("2001:db8::7"), ""},
		{"forwarded address, forged on the left", masks, from("203.0.113.5, 198.51.100.7"), "ip_not_allowed"},
		{"origin", origins, origin("https://app.example"), ""},
		{"another origin", origins, origin("https://evil.example"), "origin_not_allowed"},
		{"region", regions("US", "EU"), nil, ""},
		{"another region", regions("US"), nil, "region_not_allowed"},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			h := harness.Handshake{Token: row.token, Header: row.header}
			if row.code == "" {
				c.MustOpen(h)
				return
			}
			_, refused := c.Open(h)
			refused.Problem(c.T, http.StatusForbidden, row.code)
			harness.CheckNoStore(c.T, refused)
		})
	}
}

func revocation(c *harness.Stage) {
	token, other := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	sockets := []*harness.Socket{c.Dial(token.Token), c.DialBrowser(token.Token)}
	bystander := c.Dial(other.Token)
	c.Revoke(c.Master, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	ended(c, sockets, token.Token, "ERR:token_revoked", wire.CloseForbidden)
	bystander.Ping()
}

// A session ends with its token; a refresh moves the end of open ones.
func expiry(c *harness.Stage) {
	token := c.Issue(harness.AllowAll("room"))
	sockets := []*harness.Socket{c.Dial(token.Token), c.DialBrowser(token.Token)}
	expires := time.Now().Add(2 * time.Second)
	c.Refresh(c.Master, token.TokenID, harness.In(2*time.Second)).Decode(c.T, http.StatusOK, new(harness.Object))
	ended(c, sockets, token.Token, "ERR:token_expired", wire.CloseUnauthorized)
	if time.Until(expires) > time.Second { // the edge keeps whole seconds
		c.T.Errorf("the sockets closed %v before their time", time.Until(expires))
	}
	c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_expired")
}

// ended requires that sessions end, and that their token opens no other.
func ended(c *harness.Stage, sockets []*harness.Socket, token, line string, code wire.CloseCode) {
	c.T.Helper()
	for _, s := range sockets {
		s.ExpectText(line)
		s.ExpectClose(code)
	}
	_, refused := c.Open(harness.Handshake{Token: token})
	refused.Problem(c.T, http.StatusUnauthorized, "unauthorized")
}

// A token that was revoked has no open socket, whenever in its handshakes and refreshes the
// revocation came.
func revocationRaces(c *harness.Stage) {
	var opened, refreshed, started atomic.Int64
	c.Run("racers", func(c *harness.Stage) { // ends when all of them have
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
	if harness.Soaking && (opened.Load() == 0 || opened.Load() == int64(c.Races)) {
		c.T.Errorf("that was no race: of %d, %d handshakes were accepted, and %d refreshes came first", c.Races, opened.Load(), refreshed.Load())
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
	c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_revoked")
	_, refusal = c.Open(h)
	refusal.Problem(c.T, http.StatusUnauthorized, "unauthorized")
}
