package edgetest_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// refuses requires that a handshake with a token is refused.
func (s *stage) refuses(want, what, token string) {
	s.Helper()
	if _, refused := open(s.T, s.near, s.transport, handshake{token: token}); refused != want {
		s.Errorf("%s: got %q, want %q", what, refused, want)
	}
}

// A token that is not valid opens no session, whatever is wrong with it.
func TestRefusedTokens(t *testing.T) {
	everywhere(t, func(s *stage) {
		valid, revoked, expired := s.near.Token(), s.near.Token(), s.near.Token(edgetest.ExpiresIn(time.Second))
		s.far.Revoke(revoked)
		time.Sleep(time.Second)
		zeros := strings.Repeat("0", 32)
		for what, token := range map[string]string{
			"malformed": "AT_x", "a master token": "MT_" + zeros + "_" + zeros, "unknown": "AT_" + zeros + "_" + zeros,
			"wrong secret": valid[:36] + zeros, "expired": expired, "revoked": revoked,
		} {
			s.refuses("401 unauthorized", what, token)
		}
		dial(s.T, s.near, s.transport, valid)
	})
}

// A token ends its sessions when it is revoked and when it expires, to the second, at all
// edges; a refresh moves the end in both directions.
func TestTokenEnds(t *testing.T) {
	everywhere(t, func(s *stage) {
		var tokens [5]string
		var sessions [5]*session
		start := time.Now()
		for i := range tokens {
			tokens[i] = s.near.Token(all(edgetest.ExpiresIn(10 * time.Minute))...)
			sessions[i] = dial(s.T, s.near, s.transport, tokens[i])
		}
		revoked, expires, shortened, extended, bystander := sessions[0], sessions[1], sessions[2], sessions[3], sessions[4]
		again := dial(s.T, s.far, s.transport, tokens[0])
		s.far.Revoke(tokens[0])
		for _, c := range []*session{revoked, again} {
			c.expect("ERR:token_revoked", "close 4403")
		}
		if took := time.Since(start); took > 2*time.Second { // WebTransport waits for the client to read
			s.Errorf("the revocation took %v", took)
		}
		s.refuses("401 unauthorized", "revoked", tokens[0])

		s.far.Refresh(tokens[2], time.Minute)
		s.far.Refresh(tokens[3], time.Hour)
		s.far.Refresh(tokens[4], 2*time.Hour)
		for _, end := range []struct {
			*session
			token string
			at    time.Duration
		}{{shortened, tokens[2], time.Minute}, {expires, tokens[1], 10 * time.Minute}, {extended, tokens[3], time.Hour}} {
			time.Sleep(time.Until(start.Add(end.at - time.Second)))
			end.quiet()
			end.ask("SUB:test:#")
			time.Sleep(2 * time.Second)
			end.expect("ERR:token_expired", "close 4401")
			s.refuses("401 unauthorized", "expired", end.token)
			bystander.ask("SUB:test:#")
		}
	})
}

// Deleting a master token with its tokens ends the sessions of all of these, and of no others.
func TestDeletedMaster(t *testing.T) {
	everywhere(t, func(s *stage) {
		ctx, service := s.Context(), s.far.Tokens()
		master, secret, err := service.CreateMaster(ctx, tokenstore.MasterSpec{Name: "app", TenantPrefix: "app"})
		if err != nil {
			s.Fatal(err)
		}
		admin, err := client.NewTokenAdmin(s.near.URL(), secret, client.WithHTTPClient(s.near.HTTP()))
		if err != nil {
			s.Fatal(err)
		}
		var sessions []*session
		for range 2 {
			issued, err := admin.Issue(ctx, client.IssueRequest{CreatedBy: "test", Grants: []client.Grant{{Tenants: []string{"room"}}}, ExpiresIn: time.Hour})
			if err != nil {
				s.Fatal(err)
			}
			sessions = append(sessions, dial(s.T, s.near, s.transport, issued.Token))
		}
		bystander := s.subscriber()
		if n, err := service.DeleteMaster(ctx, master.ID, true); err != nil || n != 2 {
			s.Fatalf("%d tokens revoked, %v", n, err)
		}
		for _, c := range sessions {
			c.expect("ERR:token_revoked", "close 4403")
		}
		bystander.ask("SUB:test:#")
	})
}

// What a token's right says of the connection.
func TestConnectionRights(t *testing.T) {
	for _, transport := range transports {
		other := map[client.Transport]string{client.WebSocket: "webtransport", client.WebTransport: "websocket"}[transport]
		masks := func(r *tokenstore.Right) { r.AllowIPMasks = []string{"203.0.113.0/24", "2001:db8::/32"} }
		origins := func(r *tokenstore.Right) {
			r.AllowedWSOrigin = []string{"https://app.example", "http://localhost:8080", "null"}
		}
		protocols := func(names ...string) func(*tokenstore.Right) {
			return func(r *tokenstore.Right) { r.AllowProtocols = names }
		}
		regions := func(names ...string) func(*tokenstore.Right) {
			return func(r *tokenstore.Right) { r.AllowRegions = names }
		}
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := edgetest.New(t, edgetest.Region("EU"))
				for _, row := range []struct {
					right  func(*tokenstore.Right)
					from   string
					origin []string
					want   string // a refusal; empty: a session
				}{
					{masks, "203.0.113.5", nil, ""}, {masks, "2001:db8::7", nil, ""},
					{masks, "198.51.100.7", nil, "403 ip_not_allowed"}, {masks, "2001:db9::9", nil, "403 ip_not_allowed"},
					{origins, "", []string{"https://app.example"}, ""}, {origins, "", []string{"https://app.example:443"}, ""},
					{origins, "", []string{"https://APP.Example"}, ""}, {origins, "", []string{"http://localhost:8080"}, ""}, {origins, "", []string{"null"}, ""},
					{origins, "", []string{"https://evil.example"}, "403 origin_not_allowed"},
					{origins, "", []string{"https://app.example:8443"}, "403 origin_not_allowed"},
					{origins, "", nil, "403 origin_not_allowed"}, {origins, "", []string{""}, "403 origin_not_allowed"},
					{origins, "", []string{"https://app.example", "https://app.example"}, "403 origin_not_allowed"},
					{protocols(string(transport)), "", nil, ""}, {protocols("webtransport", "websocket"), "", nil, ""},
					{protocols(), "", nil, ""}, {protocols(other), "", nil, "403 protocol_not_allowed"},
					{regions("US", "EU"), "", []string{"https://anywhere.example"}, ""}, {regions("US"), "", nil, "403 region_not_allowed"},
				} {
					h := handshake{token: e.Token(edgetest.Right(row.right)), from: row.from}
					if row.origin != nil {
						h.header = http.Header{"Origin": row.origin}
					}
					if _, got := open(t, e, transport, h); got != row.want {
						t.Errorf("from %s, %q: got %q, want %q", row.from, row.origin, got, row.want)
					}
				}
			})
		})
	}
}

// Connections over a limit are refused, in the order of the checks.
func TestConnectionLimits(t *testing.T) {
	everywhere(t, func(s *stage) {
		one, two := s.near.Token(), s.near.Token()
		s.refuses("403 region_not_allowed", "an edge without region", s.near.Token(edgetest.Right(func(r *tokenstore.Right) { r.AllowRegions = []string{"US"} })))
		leaver, _ := dial(s.T, s.near, s.transport, one), dial(s.T, s.near, s.transport, one)
		s.refuses("503 too_many_connections_of_token", "a third of the token", one)
		s.refuses("401 unauthorized", "the token comes before its limit", "AT_x")
		other := dial(s.T, s.near, s.transport, two)
		s.refuses("503 too_many_connections", "a fourth", two)
		s.refuses("503 too_many_connections", "full comes before the token", "AT_x")
		leaver.abort() // no farewell: the edge forgets it all the same
		time.Sleep(time.Second)
		dial(s.T, s.near, s.transport, two)
		s.near.Drain()
		other.expect("RECONNECT")
		s.refuses("503 draining", "draining", two)
		s.refuses("503 draining", "draining comes before the token", "AT_x")
	}, edgetest.Limits(func(l *pubsub.Limits) {
		l.MaxConnections, l.MaxConnectionsPerToken, l.MaxConnectionsPerTenant, l.MaxConnectionsPerAddress = 3, 2, 3, 3
	}))
}

// No token, tenant or address has more than half of an edge; a subject what a limit leaves it.
func TestConnectionShares(t *testing.T) {
	everywhere(t, func(s *stage) {
		n := 0
		unique := func() string { n++; return fmt.Sprint("room", n) }
		address := func() string { n++; return fmt.Sprint("203.0.113.", n) }
		token := s.near.Token()
		for _, row := range []struct {
			what  string
			share int
			next  func() handshake
		}{
			{"token", 4, func() handshake { return handshake{token: token, from: address()} }},
			{"tenant", 4, func() handshake {
				return handshake{token: s.near.Token(edgetest.In(unique(), "popular")), from: address()}
			}},
			{"address", 4, func() handshake { return handshake{token: s.near.Token(edgetest.In(unique()))} }},
			{"subject", 2, func() handshake {
				return handshake{token: s.near.Token(edgetest.In(unique(), "shared"), edgetest.Subject("ada")), from: address()}
			}},
		} {
			var sessions []*session
			for range row.share {
				c, refused := open(s.T, s.near, s.transport, row.next())
				if c == nil {
					s.Fatalf("%s: refused with %s", row.what, refused)
				}
				sessions = append(sessions, c)
			}
			if _, refused := open(s.T, s.near, s.transport, row.next()); refused != "503 too_many_connections_of_"+row.what {
				s.Errorf("one more of a %s: %q", row.what, refused)
			}
			somebody, refused := open(s.T, s.near, s.transport, handshake{token: s.near.Token(edgetest.In(unique())), from: address()})
			if somebody == nil {
				s.Fatalf("somebody else: refused with %s", refused)
			}
			for _, c := range append(sessions, somebody) {
				c.abort()
			}
			time.Sleep(time.Second)
		}
	}, edgetest.Limits(func(l *pubsub.Limits) { l.MaxConnections, l.MaxConnectionsPerSubject = 8, 2 }))
}

// An address from which too much fails is refused until the second is over; valid tokens are not.
func TestFailuresAreLimited(t *testing.T) {
	everywhere(t, func(s *stage) {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		valid := s.near.Token()
		for range 20 {
			s.refuses("401 unauthorized", "a guess", "AT_x")
		}
		s.refuses("429 too_many_failures", "one more", "AT_x")
		if _, got := open(s.T, s.near, s.transport, handshake{token: "AT_x", from: "203.0.113.9"}); got != "401 unauthorized" {
			s.Errorf("from another address: %q", got)
		}
		if code := s.badMaster(); code != "too_many_failures" {
			s.Errorf("a master token from there: %v", code)
		}
		dial(s.T, s.near, s.transport, valid)
		time.Sleep(time.Second)
		s.refuses("401 unauthorized", "a second later", "AT_x")
		if code := s.badMaster(); code != "bad_master_token" {
			s.Errorf("a master token a second later: %v", code)
		}
	})
}

// badMaster returns how the REST API refuses a master token that nobody has.
func (s *stage) badMaster() client.Code {
	ones := strings.Repeat("1", 32)
	admin, err := client.NewTokenAdmin(s.near.URL(), "MT_"+ones+"_"+ones, client.WithHTTPClient(s.near.HTTP()))
	if err != nil {
		s.Fatal(err)
	}
	var refused *client.Error
	if _, err := admin.Issue(s.Context(), client.IssueRequest{CreatedBy: "test", ExpiresIn: time.Hour}); !errors.As(err, &refused) {
		s.Fatal(err)
	}
	return refused.Code
}
