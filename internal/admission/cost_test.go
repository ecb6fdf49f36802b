package admission

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// A handshake has what it took to read a large right paid for, also if it is refused; nobody pays twice,
// or for a small one.
func TestReadingARightIsPaidFor(t *testing.T) { synctest.Test(t, readRights) }

func readRights(t *testing.T) {
	g := newGuesses(t, storetest.NewMemory())
	hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
	defer hub.Close()
	edge := &Edge{Hub: hub, Tokens: g.service, Failures: g.FailureLimiter, Log: zap.NewNop()}
	for _, c := range []struct {
		rules        int
		opened, owes bool
	}{{1, false, false}, {100, false, true}, {100, true, false}} {
		issued, err := g.service.Issue(t.Context(), g.service.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{{
				TenantIDs: []string{"t"}, AllowChannelsPub: slices.Repeat([]string{strings.Repeat("r", 100)}, c.rules),
			}},
			AllowProtocols: []string{tokenstore.ProtocolWebTransport}, ExpiresAt: time.Now().Add(time.Hour).Format(time.RFC3339),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if c.opened {
			client := pubsub.Client{IP: here, Transport: tokenstore.ProtocolWebSocket}
			if _, refused := (Candidate{Edge: edge, Client: client, Secure: true}).Open(t.Context(), issued.Token); refused == nil {
				t.Fatal("it is not refused")
			}
		}
		access, err := g.service.Authenticate(t.Context(), issued.Token)
		if err != nil {
			t.Fatal(err)
		}
		if owes := access.TakeCost() > 0; owes != c.owes || access.TakeCost() != 0 {
			t.Errorf("%d rules, opened %v: to be paid %v", c.rules, c.opened, owes)
		}
	}
}

// Connections of a tenant beyond its share wait.
func TestConnectionWaits(t *testing.T) { synctest.Test(t, connectionWaits) }

func connectionWaits(t *testing.T) {
	g := newGuesses(t, storetest.NewMemory())
	hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
	defer hub.Close()
	issued, err := g.service.Issue(t.Context(), g.service.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: tokenstore.Right{
		TenantGrants:   []tokenstore.TenantGrant{{TenantIDs: []string{"t"}, AllowChannelsPub: []string{"#"}}},
		AllowProtocols: []string{tokenstore.ProtocolWebSocket}, ExpiresAt: time.Now().Add(time.Hour).Format(time.RFC3339),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := Candidate{
		Edge:   &Edge{Hub: hub, Tokens: g.service, Failures: g.FailureLimiter, Log: zap.NewNop()},
		Client: pubsub.Client{IP: here, Transport: tokenstore.ProtocolWebSocket}, Secure: true,
	}
	time.Sleep(time.Millisecond) // the hub's clock begins with it
	began := time.Now()
	for range 1000 {
		hub.ChargeRight([]string{"other"}, "", time.Microsecond) // it is at work
		a, refused := c.Open(t.Context(), issued.Token)
		if refused != nil {
			t.Fatalf("it is refused: %+v", refused)
		}
		a.Session.Detach()
	}
	if time.Since(began) < time.Millisecond {
		t.Error("they wait for nothing")
	}
}
