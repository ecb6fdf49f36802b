package integration

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/millrace/millrace/wire"
)

func TestHandshakeLimits(t *testing.T) {
	t.Parallel()
	e := startEdge(t, "{"+globalOptions+behindProxies+"\tpubsub {\n\t\tallow_plaintext"+
		pubsubStore+defaultMaster+fastBandwidth+`
		limits {
			max_connections 3
			max_connections_per_token 2
			max_connections_per_tenant 3
		}
	}
}
`+sites)
	one, two := e.issue(allowAll("room")).Token, e.issue(allowAll("room")).Token
	regional := e.limited(object{"allow_regions": []string{"US", "EU"}})

	checkRefusals(t, e, []refusal{
		{"an edge without region", upgrade{Header: []string{bearer(regional)}}, 403, "region_not_allowed"},
	})
	if got := e.upgrade(upgrade{Peer: "203.0.113.5", Header: []string{bearer(one)}}); got.Status != http.StatusSwitchingProtocols {
		t.Errorf("with allow_plaintext got %d %s, want 101", got.Status, got.Body)
	}
	awaitConnections(e, 0)

	leaver := e.dial(one)
	e.dial(one)
	checkRefusals(t, e, []refusal{
		{"a third of the token", upgrade{Header: []string{bearer(one)}}, 503, "too_many_connections_of_token"},
		{"token before limit", upgrade{Header: []string{bearer("AT_x")}}, 401, "unauthorized"},
	})
	other := e.dial(two)
	checkRefusals(t, e, []refusal{
		{"full", upgrade{Header: []string{bearer(two)}}, 503, "too_many_connections"},
		{"full before the token", upgrade{Header: []string{bearer("AT_x")}}, 503, "too_many_connections"},
		{"shape before full", upgrade{Method: "POST"}, 405, "method_not_allowed"},
	})
	leaver.close()
	awaitConnections(e, 2)
	e.dial(two)

	e.adminCall("POST", "/pubsub/drain", object{}).decode(t, http.StatusOK, new(object))
	other.expectText(wire.LineReconnect)
	checkRefusals(t, e, []refusal{
		{"draining", upgrade{Header: []string{bearer(two)}}, 503, "draining"},
		{"draining before the token", upgrade{}, 503, "draining"},
		{"shape before draining", upgrade{Without: "Upgrade"}, 426, "upgrade_required"},
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
			e := startEdge(t, "{"+globalOptions+behindProxies+"\tpubsub {\n\t\tallow_plaintext"+
				pubsubStore+defaultMaster+fastBandwidth+"\n\t\tlimits {\n\t\t\tmax_connections 8\n"+more+"\t\t}\n\t}\n}\n"+sites)
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
					token := e.issue(allowAll(tenant())).Token
					return func() (string, string) { return token, address() }
				}()},
				{"too_many_connections_of_tenant", func() (string, string) { return e.issue(allowAll(tenant(), "popular")).Token, address() }},
				{"too_many_connections_of_address", func() (string, string) { return e.issue(allowAll(tenant())).Token, "198.51.100.7" }},
			}
			if more != "" {
				kinds = append(kinds, kind{"too_many_connections_of_subject", func() (string, string) {
					return e.issueAs(e.master, subjectRequest("ada", allowAll(tenant(), "shared"))).Token, address()
				}})
			}
			for _, c := range kinds {
				var conns []net.Conn
				open := func(token, peer string) answer {
					got, conn, _ := e.connect(upgrade{Peer: peer, Header: []string{bearer(token)}})
					conns = append(conns, conn)
					return got
				}
				for i := range share {
					if got := open(c.next()); got.Status != http.StatusSwitchingProtocols {
						t.Fatalf("%s: connection %d got %d %s, want 101", c.code, i+1, got.Status, got.Body)
					}
				}
				refused := open(c.next())
				refused.problem(t, http.StatusServiceUnavailable, c.code)
				if refused.Header.Get("Retry-After") == "" {
					t.Errorf("%s: the refusal has no Retry-After", c.code)
				}
				if got := open(e.issue(allowAll(tenant())).Token, address()); got.Status != http.StatusSwitchingProtocols {
					t.Errorf("%s: somebody else got %d %s, want 101", c.code, got.Status, got.Body)
				}
				for _, conn := range conns {
					conn.Close()
				}
				awaitConnections(e, 0)
			}
		})
	}
}

// awaitConnections returns when the edge has want connections.
func awaitConnections(e *edge, want int) {
	e.t.Helper()
	e.poll(fmt.Sprintf("%d connections", want), func() bool {
		var got struct{ Connections []object }
		e.adminCall("GET", "/pubsub/connections", nil).decode(e.t, http.StatusOK, &got)
		return len(got.Connections) == want
	})
}
