package tokenstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func TestLifecycle(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	issued := b.issue(t, m, grantAll("t"))
	equal(t, "expires at", issued.ExpiresAt, noon.Add(time.Hour))
	// Who has the secret of a token that has ended is told from who guesses; the client sees no
	// difference.
	wrong := issued.Token[:36] + someSecret
	status := func(want string, auth error) {
		t.Helper()
		for _, authenticate := range []func(context.Context, string) (*tokenstore.Access, error){b.Authenticate, b.AuthenticateLocal} {
			_, err := authenticate(t.Context(), issued.Token)
			wantErr(t, "Authenticate", err, auth)
			if errors.Is(err, tokenstore.ErrTokenEnded) != (auth != nil) {
				t.Errorf("a token that is %s: %v", want, err)
			}
			for _, bad := range []string{"", wrong, "AT_" + someID + "_" + issued.Token[36:]} {
				_, err := authenticate(t.Context(), bad)
				wantErr(t, bad, err, tokenstore.ErrUnauthorized)
				if errors.Is(err, tokenstore.ErrTokenEnded) {
					t.Errorf("%q: %v", bad, err)
				}
			}
		}
		_, err := b.Lookup(t.Context(), issued.TokenID)
		wantErr(t, "Lookup", err, auth)
		tokens, _, err := b.List(t.Context(), m, tokenstore.ListOptions{})
		if err != nil || len(tokens) != 1 || tokens[0].Status != want {
			t.Errorf("List = %+v, %v; want status %s", tokens, err, want)
		}
	}
	status(tokenstore.StatusValid, nil)

	b.advance(time.Hour - time.Nanosecond)
	status(tokenstore.StatusValid, nil)
	end, err := b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})
	if err != nil || end.ExpiresAt != noon.Add(2*time.Hour) {
		t.Fatalf("Refresh = %v, %v", end, err)
	}
	b.advance(time.Nanosecond)
	status(tokenstore.StatusValid, nil)
	b.advance(time.Hour) // exactly at the end
	status(tokenstore.StatusExpired, tokenstore.ErrUnauthorized)
	_, err = b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(4 * time.Hour)})
	wantErr(t, "Refresh of an expired token", err, tokenstore.ErrTokenExpired)

	id, err := b.Revoke(t.Context(), m, issued.Token)
	if err != nil || id != issued.TokenID {
		t.Errorf("Revoke of an expired token = %s, %v", id, err)
	}
	status(tokenstore.StatusRevoked, tokenstore.ErrUnauthorized)
	_, err = b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(4 * time.Hour)})
	wantErr(t, "Refresh of a revoked token", err, tokenstore.ErrTokenRevoked)
}

func TestRevoke(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	issued := b.issue(t, b.Overlay(), grantAll("t"))
	for name, token := range map[string]string{
		"wrong secret": issued.Token[:36] + someSecret, "unknown id": "AT_" + someID + "_" + issued.Token[36:],
	} {
		_, err := b.Revoke(t.Context(), b.Overlay(), token)
		wantErr(t, name, err, tokenstore.ErrUnknownToken)
	}
	must(t, errorOf(b.Authenticate(t.Context(), issued.Token)))
	b.advance(time.Minute)
	for range 2 { // the second time changes nothing
		must(t, errorOf(b.Revoke(t.Context(), b.Overlay(), issued.Token)))
		tokens, _, _ := b.List(t.Context(), b.Overlay(), tokenstore.ListOptions{})
		if at := tokens[0].RevokedAt; at == nil || !at.Equal(noon.Add(time.Minute)) {
			t.Errorf("revoked at %v", at)
		}
		_, err := b.Authenticate(t.Context(), issued.Token)
		wantErr(t, "Authenticate", err, tokenstore.ErrUnauthorized)
		b.advance(time.Minute)
	}
	_, err := b.Revoke(t.Context(), b.Overlay(), issued.Token[:36]+someSecret)
	wantErr(t, "wrong secret of a revoked token", err, tokenstore.ErrUnknownToken)
	wantErr(t, "RevokeByID", b.RevokeByID(t.Context(), b.Overlay(), issued.TokenID), nil)
	wantErr(t, "RevokeByID", b.RevokeByID(t.Context(), b.Overlay(), someID), tokenstore.ErrUnknownToken)
}

func TestRecordsStayADayPastTheirEnd(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	issued := b.issue(t, b.Overlay(), grantAll("t"))
	check := func(want time.Time) {
		t.Helper()
		rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, issued.TokenID)
		if err != nil || !rec.DeleteAfter.Equal(want) {
			t.Errorf("DeleteAfter = %v, %v; want %v", rec.DeleteAfter, err, want)
		}
	}
	check(noon.Add(25 * time.Hour))
	must(t, errorOf(b.Refresh(t.Context(), b.Overlay(), issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})))
	check(noon.Add(26 * time.Hour))
	must(t, b.RevokeByID(t.Context(), b.Overlay(), issued.TokenID))
	check(noon.Add(26 * time.Hour))
}

func TestNamespaces(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	masters := map[string]*tokenstore.Master{}
	for _, prefix := range []string{"", "paint", "paint.eu", "paintball", "chess"} {
		masters[prefix], _ = b.master(t, prefix)
	}
	for _, c := range []struct {
		issuer  string
		tenants []string
		managed []string
	}{
		{"paint", []string{"x"}, []string{"", "paint"}},
		{"paint", []string{"eu.x", "paint.eu.y"}, []string{"", "paint", "paint.eu"}},
		{"paint", []string{"eu.x", "us.x"}, []string{"", "paint"}},
		{"", []string{"paint.eu.x", "chess.x"}, []string{""}},
		{"", []string{"paintball.x"}, []string{"", "paintball"}},
		{"", []string{"paint"}, []string{""}},
		{"chess", []string{"paint.x"}, []string{"", "chess"}}, // chess.paint.x
	} {
		issued := b.issue(t, masters[c.issuer], grantAll(c.tenants...))
		for prefix, m := range masters {
			var want error = tokenstore.ErrUnknownToken
			if slices.Contains(c.managed, prefix) {
				want = nil
			}
			name := fmt.Sprintf("%v by %q, managed by %q", c.tenants, c.issuer, prefix)
			_, err := b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(time.Minute)})
			wantErr(t, name, err, want)
			tokens, _, err := b.List(t.Context(), m, tokenstore.ListOptions{})
			listed := slices.ContainsFunc(tokens, func(i tokenstore.AccessInfo) bool { return i.TokenID == issued.TokenID })
			if err != nil || listed != (want == nil) {
				t.Errorf("%s: listed %v, %v", name, listed, err)
			}
			if want != nil {
				_, err = b.Revoke(t.Context(), m, issued.Token)
				wantErr(t, name, err, want)
				wantErr(t, name, b.RevokeByID(t.Context(), m, issued.TokenID), want)
			}
		}
		last := masters[c.managed[len(c.managed)-1]]
		_, err := b.Revoke(t.Context(), last, issued.Token)
		wantErr(t, "Revoke by a manager", err, nil)
	}
}

// TestRevokeWinsOverRefresh runs both at once, many times: the refresh may
// succeed or not, the token is revoked in the end.
func TestRevokeWinsOverRefresh(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	all := b.Overlay()
	for round := range 500 {
		issued := b.issue(t, all, grantAll("t"))
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 3 {
			wg.Go(func() {
				<-start
				_, err := b.Refresh(t.Context(), all, issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})
				if err != nil && !errors.Is(err, tokenstore.ErrTokenRevoked) {
					t.Errorf("Refresh: %v", err)
				}
			})
		}
		wg.Go(func() {
			<-start
			if _, err := b.Revoke(t.Context(), all, issued.Token); err != nil {
				t.Errorf("Revoke: %v", err)
			}
		})
		close(start)
		wg.Wait()
		_, err := b.Authenticate(t.Context(), issued.Token)
		wantErr(t, fmt.Sprint("round ", round), err, tokenstore.ErrUnauthorized)
		_, err = b.Refresh(t.Context(), all, issued.TokenID, tokenstore.Expiry{At: at(3 * time.Hour)})
		wantErr(t, fmt.Sprint("round ", round), err, tokenstore.ErrTokenRevoked)
	}
}

// between is a store that runs a step after the first Get.
type between struct {
	tokenstore.Store
	once sync.Once
	step func()
}

func (s *between) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	rec, err := s.Store.Get(ctx, kind, id)
	s.once.Do(func() { s.step() })
	return rec, err
}

// TestRefreshAfterReadingAValidToken revokes between the refresh's look and
// its write; also when the token has expired for the revoking side by then.
func TestRefreshAfterReadingAValidToken(t *testing.T) {
	for _, late := range []time.Duration{0, 2 * time.Hour} {
		b := newTestbed(t, tokenstore.Config{})
		issued := b.issue(t, b.Overlay(), grantAll("t"))
		slow := newTestbedOn(t, &between{Store: b.store, step: func() {
			b.advance(late)
			noError(t, errorOf(b.Revoke(t.Context(), b.Overlay(), issued.Token)))
		}}, tokenstore.Config{})
		_, err := slow.Refresh(t.Context(), slow.Overlay(), issued.TokenID, tokenstore.Expiry{At: at(12 * time.Hour)})
		wantErr(t, "Refresh", err, tokenstore.ErrTokenRevoked)
		_, err = b.Authenticate(t.Context(), issued.Token)
		wantErr(t, "Authenticate", err, tokenstore.ErrUnauthorized)
	}
}

func TestAuthenticateSharesAndIsNeverStale(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	other := newTestbedOn(t, b.store, tokenstore.Config{}) // as during a reload
	issued := b.issue(t, b.Overlay(), grantAll("t"))
	first, err := b.Authenticate(t.Context(), issued.Token)
	must(t, err)
	if again, _ := b.Lookup(t.Context(), issued.TokenID); again != first {
		t.Error("two connections with one token do not share its right")
	}
	must(t, errorOf(other.Refresh(t.Context(), other.Overlay(), issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})))
	second, err := b.Authenticate(t.Context(), issued.Token)
	if err != nil || second.ExpiresAt != noon.Add(2*time.Hour) || second.Version <= first.Version {
		t.Errorf("after a refresh: %+v, %v", second, err)
	}
	must(t, errorOf(other.Revoke(t.Context(), other.Overlay(), issued.Token)))
	_, err = b.Authenticate(t.Context(), issued.Token)
	wantErr(t, "after a revocation", err, tokenstore.ErrUnauthorized)
}

// broken is a store that cannot be read.
type broken struct{ tokenstore.Store }

var errBroken = errors.New("the disk is gone")

func (broken) Get(context.Context, tokenstore.Kind, string) (tokenstore.Record, error) {
	return tokenstore.Record{}, errBroken
}

// TestStoreErrors: a store that fails is no refusal of the token.
func TestStoreErrors(t *testing.T) {
	b := newTestbedOn(t, broken{storetest.NewMemory()}, tokenstore.Config{})
	ctx := t.Context()
	_, auth := b.Authenticate(ctx, "AT_"+someID+"_"+someSecret)
	_, lookup := b.Lookup(ctx, someID)
	_, refresh := b.Refresh(ctx, b.Overlay(), someID, tokenstore.Expiry{At: at(time.Minute)})
	_, master := b.AuthenticateMaster(ctx, "MT_"+someID+"_"+someSecret, netip.Addr{})
	for what, err := range map[string]error{
		"Authenticate": auth, "Lookup": lookup, "Refresh": refresh, "AuthenticateMaster": master,
		"RevokeByID": b.RevokeByID(ctx, b.Overlay(), someID),
	} {
		wantErr(t, what, err, errBroken)
	}
}
