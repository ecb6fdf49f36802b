package tokens

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

func TestHandshakeLimits(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, "{"+harness.GlobalOptions+behindProxies+"\tpubsub {\n\t\tallow_plaintext"+
		harness.PubsubStore+harness.DefaultMaster+harness.FastBandwidth+`
		limits {
			max_connections 3
			max_connections_per_token 2
			max_connections_per_tenant 3
		}
	}
}
`+harness.Sites)
	one, two := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	regional := e.Limited(harness.Object{"allow_regions": []string{"US", "EU"}})

	checkRefusals(t, e, []refusal{
		{"an edge without region", harness.Upgrade{Header: []string{harness.Bearer(regional)}}, 403, "region_not_allowed"},
	})
	if got := e.Upgrade(harness.Upgrade{Peer: "203.0.113.5", Header: []string{harness.Bearer(one)}}); got.Status != http.StatusSwitchingProtocols {
		t.Errorf("with allow_plaintext got %d %s, want 101", got.Status, got.Body)
	}
	harness.AwaitConnections(e, 0)

	leaver := e.Dial(one)
	e.Dial(one)
	checkRefusals(t, e, []refusal{
		{"a third of the token", harness.Upgrade{Header: []string{harness.Bearer(one)}}, 503, "too_many_connections_of_token"},
		{"token before limit", harness.Upgrade{Header: []string{harness.Bearer("AT_x")}}, 401, "unauthorized"},
	})
	other := e.Dial(two)
	checkRefusals(t, e, []refusal{
		{"full", harness.Upgrade{Header: []string{harness.Bearer(two)}}, 503, "too_many_connections"},
		{"full before the token", harness.Upgrade{Header: []string{harness.Bearer("AT_x")}}, 503, "too_many_connections"},
		{"shape before full", harness.Upgrade{Method: "POST"}, 405, "method_not_allowed"},
	})
	leaver.Close()
	harness.AwaitConnections(e, 2)
	e.Dial(two)

	e.AdminCall("POST", "/pubsub/drain", harness.Object{}).Decode(t, http.StatusOK, new(harness.Object))
	other.ExpectText(wire.LineReconnect)
	checkRefusals(t, e, []refusal{
		{"draining", harness.Upgrade{Header: []string{harness.Bearer(two)}}, 503, "draining"},
		{"draining before the token", harness.Upgrade{}, 503, "draining"},
		{"shape before draining", harness.Upgrade{Without: "Upgrade"}, 426, "upgrade_required"},
	})
}

// No token, tenant or address can take more than half of an edge; a subject only what a limit
// leaves it.
func TestConnectionShares(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"half": "", "sharper": "max_connections_per_token 1\nmax_connections_per_tenant 1\nmax_connections_per_address 1\nmax_connections_per_subject 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := harness.StartEdge(t, "{"+harness.GlobalOptions+behindProxies+"\tpubsub {\n\t\tallow_plaintext"+
				harness.PubsubStore+harness.DefaultMaster+harness.FastBandwidth+"\n\t\tlimits {\n\t\t\tmax_connections 8\n"+more+"\t\t}\n\t}\n}\n"+harness.Sites)
			share := 4
			if more != "" {
				share = 1
			}
			n := 0
			address := func() string { n++; return fmt.Sprintf("203.0.113.%d", n) }
			tenant := func() string { n++; return fmt.Sprintf("room%d", n) }
			type kind struct {
				code string
				next func() (token, peer string)
			}
			kinds := []kind{
				{"too_many_connections_of_token", func() func() (string, string) {
					token := e.Issue(harness.AllowAll(tenant())).Token
					return func() (string, string) { return token, address() }
				}()},
				{"too_many_connections_of_tenant", func() (string, string) { return e.Issue(harness.AllowAll(tenant(), "popular")).Token, address() }},
				{"too_many_connections_of_address", func() (string, string) { return e.Issue(harness.AllowAll(tenant())).Token, "198.51.100.7" }},
			}
			if more != "" {
				kinds = append(kinds, kind{"too_many_connections_of_subject", func() (string, string) {
					return e.IssueAs(e.Master, harness.SubjectRequest("ada", harness.AllowAll(tenant(), "shared"))).Token, address()
				}})
			}
			for _, c := range kinds {
				var conns []net.Conn
				open := func(token, peer string) harness.Answer {
					got, conn, _ := e.Connect(harness.Upgrade{Peer: peer, Header: []string{harness.Bearer(token)}})
					conns = append(conns, conn)
					return got
				}
				for i := range share {
					if got := open(c.next()); got.Status != http.StatusSwitchingProtocols {
						t.Fatalf("%s: connection %d got %d %s, want 101", c.code, i+1, got.Status, got.Body)
					}
				}
				refused := open(c.next())
				refused.Problem(t, http.StatusServiceUnavailable, c.code)
				if refused.Header.Get("Retry-After") == "" {
					t.Errorf("%s: the refusal has no Retry-After", c.code)
				}
				if got := open(e.Issue(harness.AllowAll(tenant())).Token, address()); got.Status != http.StatusSwitchingProtocols {
					t.Errorf("%s: somebody else got %d %s, want 101", c.code, got.Status, got.Body)
				}
				for _, conn := range conns {
					conn.Close()
				}
				harness.AwaitConnections(e, 0)
			}
		})
	}
}
