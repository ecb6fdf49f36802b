package admission

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// afar is a replica whose copy has nothing, until it is filled: what has not come
// over from another edge yet.
type afar struct {
	tokenstore.Store
	asked int // calls for which another machine would be asked
}

func (a *afar) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	a.asked++
	return a.Store.Get(ctx, kind, id)
}

func (*afar) GetLocal(context.Context, tokenstore.Kind, string) (tokenstore.Record, error) {
	return tokenstore.Record{}, tokenstore.ErrNotFound
}

func (a *afar) GetLatest(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	return a.Get(ctx, kind, id)
}

func (*afar) CatchUp(context.Context) error { return nil }

func (*afar) WatchStale(func()) (stop func()) { return func() {} }

// guesses is a limiter before a service, in a second that has just begun.
type guesses struct {
	t *testing.T
	*FailureLimiter
	service *tokenstore.Service
}

func newGuesses(t *testing.T, store tokenstore.Store) guesses {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return guesses{t, NewFailureLimiter(), service}
}

func (g guesses) issue() (token, id string) {
	g.t.Helper()
	issued, err := g.service.Issue(g.t.Context(), g.service.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: tokenstore.Right{
		ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
		TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"room"}}},
	}})
	if err != nil {
		g.t.Fatal(err)
	}
	return issued.Token, issued.TokenID
}

// want checks what a token from an address gets, n times.
func (g guesses) want(what, token string, ip netip.Addr, n int, want error) {
	g.t.Helper()
	for i := range n {
		if _, err := g.Authenticate(g.t.Context(), g.service, token, ip); !errors.Is(err, want) {
			g.t.Fatalf("%s, attempt %d: %v, want %v", what, i+1, err, want)
		}
	}
}

const madeUp = "AT_0123456789abcdef0123456789abcdef_0123456789abcdef0123456789abcdef"

var (
	here      = netip.MustParseAddr("2001:db8::1")
	neighbour = netip.MustParseAddr("2001:db8::2")
	another   = netip.MustParseAddr("192.0.2.1")
)

// Of an address from which too much fails, what fails is refused, and nothing else.
func TestFailureLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses(t, storetest.NewMemory())
		valid, _ := g.issue()
		revoked, id := g.issue()
		if err := g.service.RevokeByID(t.Context(), g.service.Overlay(), id); err != nil {
			t.Fatal(err)
		}
		wrong := valid[:len(valid)-32] + strings.Repeat("0", 32)

		g.want("a revoked token that is retried", revoked, here, 10*maxFailures, tokenstore.ErrTokenEnded)
		g.want("a token that nobody has", madeUp, here, maxFailures-2, tokenstore.ErrUnauthorized)
		g.want("a wrong secret", wrong, here, 1, tokenstore.ErrUnauthorized)
		g.want("no token", "", here, 1, tokenstore.ErrUnauthorized)
		for _, token := range []string{madeUp, wrong, ""} {
			g.want("one more", token, here, 1, tokenstore.ErrTooManyFailures)
			g.want("one more of its /64", token, neighbour, 1, tokenstore.ErrTooManyFailures)
		}
		g.want("a valid token from there", valid, here, maxFailures, nil)
		g.want("a revoked token from there", revoked, here, 1, tokenstore.ErrTokenEnded)
		g.want("another address", madeUp, another, 1, tokenstore.ErrUnauthorized)
		if _, err := g.AuthenticateMaster(t.Context(), g.service, "MT"+madeUp[2:], here); !errors.Is(err, tokenstore.ErrTooManyFailures) {
			t.Errorf("a master token from there: %v", err)
		}
		g.want("an unknown address", madeUp, netip.Addr{}, 10*maxFailures, tokenstore.ErrUnauthorized)

		time.Sleep(time.Second)
		g.want("a second later", madeUp, here, 1, tokenstore.ErrUnauthorized)
	})
}

// What this edge does not know yet is asked for, within the limit, and is no failure
// if it is known elsewhere.
func TestFailureLimiterAsksWithinLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &afar{Store: storetest.NewMemory()}
		g := newGuesses(t, store)
		valid, _ := g.issue()
		g.want("a token that was just issued elsewhere", valid, here, 10*maxFailures, nil)
		store.asked = 0
		for range 1000 {
			_, _ = g.Authenticate(t.Context(), g.service, madeUp, here)
		}
		if store.asked != maxFailures {
			t.Errorf("of 1000 made-up tokens %d were asked for, want %d", store.asked, maxFailures)
		}
		g.want("one that this edge does not know, from there", valid, here, 1, tokenstore.ErrTooManyFailures)
		g.want("the same from another address", valid, another, 1, nil)
	})
}

func TestFailureLimiterIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses(t, storetest.NewMemory())
		for i := range 2 * maxAddresses {
			g.countFailure(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		}
		if len(g.counts) != maxAddresses {
			t.Errorf("%d addresses are kept count of", len(g.counts))
		}
	})
}
