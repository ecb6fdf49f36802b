package edgetest_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// A master token with any number of tokens and tenants gets its share of an edge as soon as there is another
// one; tokens that were issued before count, too, and what is connected stays.
func TestIssuerGetsItsShare(t *testing.T) {
	everywhere(t, func(s *stage) {
		must := func(err error) {
			s.Helper()
			if err != nil {
				s.Fatal(err)
			}
		}
		n := 0
		issue := func(m *tokenstore.Master) string {
			n++
			issued, err := s.near.Tokens().Issue(s.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Right: tokenstore.Right{
				TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{fmt.Sprint("t", n)}, AllowChannelsSub: []string{"#"}}},
				ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
			}})
			must(err)
			return issued.Token
		}
		master := func(prefix string) *tokenstore.Master {
			_, token, err := s.near.Tokens().CreateMaster(s.Context(), tokenstore.MasterSpec{Name: "m", TenantPrefix: prefix})
			must(err)
			m, err := s.near.Tokens().AuthenticateMaster(s.Context(), token, netip.Addr{})
			must(err)
			return m
		}
		greedy, same, other := master("greedy"), master("greedy."), master("other")
		for _, m := range []*tokenstore.Master{greedy, same, greedy} {
			dial(s.T, s.near, s.transport, issue(m))
		}
		early := issue(same)
		s.refuses("503 too_many_connections_of_issuer", "a fourth of six", early)
		for range 3 {
			dial(s.T, s.near, s.transport, issue(other))
		}
		s.refuses("503 too_many_connections", "a seventh of six", early)
	}, edgetest.Limits(func(l *pubsub.Limits) { l.MaxConnections, l.MaxConnectionsPerAddress = 6, 6 }))
}
