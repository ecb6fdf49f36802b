package tokenstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// A token's issuer is the prefix of its master token or, where it has none, that master token:
// whether the master is of the configuration or of the store, and with an index or without.
func TestIssuerOf(t *testing.T) {
	store := storetest.NewMemory()
	static := func(id, prefix string) tokenstore.StaticMaster {
		return tokenstore.StaticMaster{ID: staticID(id), MasterSpec: tokenstore.MasterSpec{Name: "s", TenantPrefix: prefix}}
	}
	plain := newTestbedOn(t, store, tokenstore.Config{StaticMasters: []tokenstore.StaticMaster{static("a", ""), static("b", "shop.")}})
	first, _ := plain.master(t, "paint")
	second, _ := plain.master(t, "paint.")
	free, _ := plain.master(t, "")
	gone, _ := plain.master(t, "gone")
	oneOfTwo, _ := plain.master(t, "paint.")
	goneFree, _ := plain.master(t, "")
	index := tokenstore.NewIndex(store)
	t.Cleanup(index.Close)
	indexed := newTestbedOn(t, store, tokenstore.Config{StaticMasters: []tokenstore.StaticMaster{static("a", ""), static("b", "shop.")}, Index: index, Quota: tokenstore.Quota{MaxTokens: 100}})
	indexed.issue(t, first, grantAll("paint.a")) // which waits for the index
	tokens := map[string]struct {
		master *tokenstore.Master
		want   string
	}{
		"a prefix": {first, "paint."}, "the same prefix": {second, "paint."}, "no prefix": {free, free.ID}, "the admin API": {plain.Overlay(), ""},
		"of the configuration": {&tokenstore.Master{ID: staticID("a"), Static: true}, staticID("a")},
		"with a prefix":        {&tokenstore.Master{ID: staticID("b"), TenantPrefix: "shop.", Static: true}, "shop."},
		"deleted":              {gone, gone.ID},
		"deleted, and another one has its prefix": {oneOfTwo, "paint."},
	}
	issued := map[string]string{}
	for name, c := range tokens {
		issued[name] = plain.issue(t, c.master, grantAll("paint.a")).Token
	}
	tokens["deleted, for tenants of several"] = struct {
		master *tokenstore.Master
		want   string
	}{goneFree, goneFree.ID}
	issued["deleted, for tenants of several"] = plain.issue(t, goneFree, grantAll("paint.a", "shop.a")).Token
	for _, m := range []*tokenstore.Master{gone, oneOfTwo, goneFree} {
		_, err := plain.DeleteMaster(t.Context(), m.ID, false)
		must(t, err)
	}
	for _, b := range []*testbed{plain, indexed} {
		for name, c := range tokens {
			for range 2 { // the second time, the token is in memory
				a, err := b.Authenticate(t.Context(), issued[name])
				must(t, err)
				want := c.want
				if c.master == oneOfTwo && b == plain { // which does not know the master tokens that there are
					want = oneOfTwo.ID
				}
				equal(t, name, b.IssuerOf(t.Context(), a), want)
			}
		}
	}
	for tenant, want := range map[string]string{"paint.x": "paint.", "paint": "", "shop.eu": "shop.", "other": "", "": ""} {
		equal(t, "owner of "+tenant, indexed.OwnerOf(tenant), want)
	}
	_, _ = indexed.master(t, "paint.eu")
	equal(t, "owner of paint.eu.x", indexed.OwnerOf("paint.eu.x"), "paint.eu.")
}

// Master tokens of one prefix are one issuer, and the local admin API is not an issuer beside others.
func TestSeveralIssuers(t *testing.T) {
	store := storetest.NewMemory()
	index := tokenstore.NewIndex(store)
	t.Cleanup(index.Close)
	b := newTestbedOn(t, store, tokenstore.Config{Index: index, Quota: tokenstore.Quota{MaxTokens: 100}})
	generation := uint64(0)
	expect := func(when string, want bool) {
		t.Helper()
		equal(t, when, b.SeveralIssuers(), want)
		if last := generation; b.Generation() == last {
			t.Errorf("%s: still generation %d", when, last)
		}
		generation = b.Generation()
	}
	expect("none", false)
	one, _ := b.master(t, "a.")
	other, _ := b.master(t, "a.")
	b.issue(t, one, grantAll("t")) // which waits for the index
	b.issue(t, b.Overlay(), grantAll("t"))
	expect("one prefix", false)
	_, err := b.UpdateMaster(t.Context(), other.ID, tokenstore.MasterPatch{TenantPrefix: new("b.")})
	must(t, err)
	expect("two prefixes", true)
	_, err = b.DeleteMaster(t.Context(), other.ID, false)
	must(t, err)
	expect("one is deleted", false)
}

// A master token of the configuration hides one of the store that has its id: together they are one issuer.
func TestHiddenIssuer(t *testing.T) {
	store := storetest.NewMemory()
	plain := newTestbedOn(t, store, tokenstore.Config{})
	hidden, _ := plain.master(t, "old.")
	token := plain.issue(t, hidden, grantAll("x")).Token
	index := tokenstore.NewIndex(store)
	t.Cleanup(index.Close)
	b := newTestbedOn(t, store, tokenstore.Config{
		Index:         index,
		StaticMasters: []tokenstore.StaticMaster{{ID: hidden.ID, MasterSpec: tokenstore.MasterSpec{Name: "s", TenantPrefix: "new."}}},
	})
	a, err := b.Authenticate(t.Context(), token)
	must(t, err)
	equal(t, "issuer", b.IssuerOf(t.Context(), a), "new.") // which waits for the index
	equal(t, "several issuers", b.SeveralIssuers(), false)
	equal(t, "owner of old.x", b.OwnerOf("old.x"), "")
	equal(t, "owner of new.x", b.OwnerOf("new.x"), "new.")
}

// The first tokens after the start wait until it is known which issuers there are, so that none of these
// gets more than its share; not for long where they cannot be read.
func TestIssuersAfterStart(t *testing.T) {
	for _, answers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowStore{Store: storetest.NewMemory(), open: make(chan struct{})}
			plain := newTestbedOn(t, store, tokenstore.Config{})
			m, _ := plain.master(t, "a.")
			plain.master(t, "b.")
			token := plain.issue(t, m, grantAll("x")).Token
			index := tokenstore.NewIndex(store)
			defer index.Close()
			b := newTestbedOn(t, store, tokenstore.Config{Index: index})
			a, err := b.Authenticate(t.Context(), token)
			must(t, err)
			if answers {
				time.AfterFunc(time.Millisecond, func() { close(store.open) })
			}
			began := time.Now()
			equal(t, "issuer", b.IssuerOf(t.Context(), a), "a.")
			equal(t, "several issuers", b.SeveralIssuers(), answers)
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v", took)
			}
			if !answers {
				close(store.open)
			}
		})
	}
}

// slowStore lists nothing until it is open.
type slowStore struct {
	tokenstore.Store
	open chan struct{}
}

func (s *slowStore) Scan(ctx context.Context, k tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	<-s.open
	return s.Store.Scan(ctx, k, after, fn)
}

// Stores are told for whom they are called.
func TestPayers(t *testing.T) {
	store := &payerStore{Store: storetest.NewMemory(), payers: map[string]bool{}}
	b := newTestbedOn(t, store, tokenstore.Config{})
	prefixed, _ := b.master(t, "a.")
	free, _ := b.master(t, "")
	for _, m := range []*tokenstore.Master{prefixed, free, b.Overlay()} {
		clear(store.payers)
		issued, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Subject: "ann", Right: grantAll("x")})
		must(t, err)
		_, err = b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})
		must(t, err)
		_, err = b.RevokeSubject(t.Context(), m, "ann")
		must(t, err)
		_, err = b.Revoke(t.Context(), m, b.issue(t, m, grantAll("x")).Token)
		must(t, err)
		must(t, b.RevokeByID(t.Context(), m, b.issue(t, m, grantAll("x")).TokenID))
		want := m.ID
		if m == prefixed {
			want = "a."
		}
		if len(store.payers) != 1 || !store.payers[want] {
			t.Errorf("calls for %q: %v", want, store.payers)
		}
	}
}

// payerStore notes for whom it writes.
type payerStore struct {
	tokenstore.Store
	mu     sync.Mutex
	payers map[string]bool
}

func (s *payerStore) note(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.payers[tokenstore.PayerOf(ctx)] = true
}

func (s *payerStore) Create(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	s.note(ctx)
	return s.Store.Create(ctx, rec)
}

func (s *payerStore) Update(ctx context.Context, rec tokenstore.Record) (uint64, error) {
	s.note(ctx)
	return s.Store.Update(ctx, rec)
}

func (s *payerStore) Delete(ctx context.Context, k tokenstore.Kind, id string, version uint64) error {
	s.note(ctx)
	return s.Store.Delete(ctx, k, id, version)
}

func staticID(digit string) string { return strings.Repeat(digit, 32) }
