package conformance

import (
	"net/http"
	"strings"
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

// Who gets a session: edgetest has every rule, this what an edge takes from Caddy.
func connectionRights(c *harness.Stage) {
	masks := c.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24", "2001:db8::/32"}})
	origins := c.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example", "file://"}})
	here := c.Limited(harness.Object{"allow_regions": []string{"US", "EU"}})
	elsewhere := c.Limited(harness.Object{"allow_regions": []string{"US"}})
	for _, row := range []struct{ token, name, value, code string }{ // a header; no code: a session
		{masks, "X-Other", "", "ip_not_allowed"}, // loopback
		{masks, "X-Forwarded-For", "203.0.113.5", ""},
		{masks, "X-Forwarded-For", "2001:db8::7", ""},
		{masks, "X-Forwarded-For", "203.0.113.5, 198.51.100.7", "ip_not_allowed"}, // forged on the left
		{origins, "Origin", "https://app.example", ""},
		{origins, "Origin", "file://", ""}, // as Electron sends it
		{origins, "Origin", "https://evil.example", "origin_not_allowed"},
		{here, "X-Other", "", ""},
		{elsewhere, "X-Other", "", "region_not_allowed"},
	} {
		h := harness.Handshake{Token: row.token, Header: http.Header{row.name: {row.value}}}
		if row.code == "" {
			c.MustOpen(h)
			continue
		}
		_, refused := c.Open(h)
		refused.Problem(c.T, http.StatusForbidden, row.code)
		harness.CheckNoStore(c.T, refused)
	}
}

// Presences are those of the Caddyfile.
func presence(c *harness.Stage) {
	s := c.Dial(c.SubjectToken("ada", "", harness.PresenceTenant))
	s.Ask("JOIN", harness.PresenceTenant, "room.a")
	s.SendLine("JOIN:" + harness.PresenceTenant + ":lobby")
	s.ExpectText("ERR:no_presence:JOIN:" + harness.PresenceTenant + ":lobby")
	s.Close()
}

func revocation(c *harness.Stage) {
	token, other := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	s, bystander := c.Dial(token.Token), c.Dial(other.Token)
	c.Revoke(c.Master, token.Token).Decode(c.T, http.StatusOK, new(harness.Object))
	ended(c, s, token.Token, "ERR:token_revoked", wire.CloseForbidden)
	bystander.Ping()
}

// A session ends with its token; a refresh moves the end of open ones.
func expiry(c *harness.Stage) {
	token := c.Issue(harness.AllowAll("room"))
	s, expires := c.Dial(token.Token), time.Now().Add(2*time.Second)
	c.Refresh(c.Master, token.TokenID, harness.In(2*time.Second)).Decode(c.T, http.StatusOK, new(harness.Object))
	ended(c, s, token.Token, "ERR:token_expired", wire.CloseUnauthorized)
	if time.Until(expires) > time.Second { // the edge keeps whole seconds
		c.T.Errorf("the session ended %v before its time", time.Until(expires))
	}
	c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_expired")
}

// ended requires that a session ends, and that its token opens no other.
func ended(c *harness.Stage, s *harness.Socket, token, line string, code wire.CloseCode) {
	c.T.Helper()
	s.ExpectText(line)
	s.ExpectClose(code)
	_, refused := c.Open(harness.Handshake{Token: token})
	refused.Problem(c.T, http.StatusUnauthorized, "unauthorized")
}
