package tokenstore_test

import (
	"strings"
	"testing"

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
	}
	issued := map[string]string{}
	for name, c := range tokens {
		issued[name] = plain.issue(t, c.master, grantAll("paint.a")).Token
	}
	_, err := plain.DeleteMaster(t.Context(), gone.ID, false)
	must(t, err)
	for _, b := range []*testbed{plain, indexed} {
		for name, c := range tokens {
			for range 2 { // the second time, the token is in memory
				a, err := b.Authenticate(t.Context(), issued[name])
				must(t, err)
				equal(t, name, b.IssuerOf(t.Context(), a), c.want)
			}
		}
	}
	for tenant, want := range map[string]string{"paint.x": "paint.", "paint": "", "shop.eu": "shop.", "other": "", "": ""} {
		equal(t, "owner of "+tenant, indexed.OwnerOf(tenant), want)
	}
	_, _ = indexed.master(t, "paint.eu")
	equal(t, "owner of paint.eu.x", indexed.OwnerOf("paint.eu.x"), "paint.eu.")
}

// Master tokens of one prefix are one issuer, and the local admin API is none beside others.
func TestSeveralIssuers(t *testing.T) {
	store := storetest.NewMemory()
	index := tokenstore.NewIndex(store)
	t.Cleanup(index.Close)
	b := newTestbedOn(t, store, tokenstore.Config{Index: index, Quota: tokenstore.Quota{MaxTokens: 100}})
	expect := func(when string, want bool) {
		t.Helper()
		equal(t, when, b.SeveralIssuers(), want)
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

func staticID(digit string) string { return strings.Repeat(digit, 32) }
