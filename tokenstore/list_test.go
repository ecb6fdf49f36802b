package tokenstore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func TestList(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	var want []string
	for i := range 250 {
		want = append(want, b.issue(t, m, grantAll(fmt.Sprint("t", i%2))).TokenID)
	}
	slices.Sort(want)
	for _, c := range []struct {
		opt   tokenstore.ListOptions
		pages []int
	}{
		{tokenstore.ListOptions{}, []int{100, 100, 50}},
		{tokenstore.ListOptions{Limit: 125}, []int{125, 125}},
		{tokenstore.ListOptions{Limit: 1000}, []int{250}},
		{tokenstore.ListOptions{Tenant: "t1"}, []int{100, 25}},
		{tokenstore.ListOptions{Tenant: "t"}, []int{0}},
	} {
		var pages []int
		var ids []string
		for opt := c.opt; ; {
			tokens, next, err := b.List(t.Context(), m, opt)
			must(t, err)
			pages = append(pages, len(tokens))
			for _, tok := range tokens {
				ids = append(ids, tok.TokenID)
			}
			if next == "" {
				break
			}
			opt.Cursor = next
		}
		if !slices.Equal(pages, c.pages) || !slices.IsSorted(ids) {
			t.Errorf("%+v: pages %v, want %v", c.opt, pages, c.pages)
		}
		if c.opt.Tenant == "" && !slices.Equal(ids, want) {
			t.Errorf("%+v: not every token is listed once", c.opt)
		}
	}
	for path, opt := range map[string]tokenstore.ListOptions{
		"limit": {Limit: 1001}, "cursor": {Cursor: "zz"}, "tenant": {Tenant: "a:b"},
	} {
		_, _, err := b.List(t.Context(), m, opt)
		wantInvalid(t, err, path, tokenstore.CodeInvalidBody, "zz", "a:b", "1001")
	}
	_, _, err := b.List(t.Context(), m, tokenstore.ListOptions{Limit: -1})
	wantInvalid(t, err, "limit", tokenstore.CodeInvalidBody)
}

// A page has tokens of 1 MiB, or one, whatever its limit is; and a search reads 16 MiB.
func TestLargeTokens(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	right := tokenstore.Right{ExpiresAt: at(time.Hour)}
	for i := range 64 {
		g := tokenstore.TenantGrant{}
		for j := range 57 {
			g.TenantIDs = append(g.TenantIDs, fmt.Sprintf("%0128d", 57*i+j))
		}
		right.TenantGrants = append(right.TenantGrants, g)
	}
	issued := 0
	for range 36 {
		b.issue(t, m, right) // 478 KiB
		issued++
	}
	for opt := (tokenstore.ListOptions{Limit: 1000}); ; {
		tokens, next, err := b.List(t.Context(), m, opt)
		must(t, err)
		equal(t, "tokens in a page", len(tokens), 2)
		issued -= len(tokens)
		if next == "" {
			break
		}
		opt.Cursor = next
	}
	equal(t, "tokens that are in no page", issued, 0)
	tokens, next, err := b.List(t.Context(), m, tokenstore.ListOptions{Tenant: "other"})
	if len(tokens) != 0 || next == "" || err != nil {
		t.Errorf("a search among %d tokens of 478 KiB found %d, and goes on at %q: %v", 36, len(tokens), next, err)
	}
	equal(t, "tokens found by all searches", len(b.list(t, m, tokenstore.ListOptions{Tenant: "other"})), 0)
}

func TestListedRight(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "app")
	issued, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{CreatedBy: "me", Description: "why", Right: grantAll("t")})
	must(t, err)
	tokens, _, err := b.List(t.Context(), m, tokenstore.ListOptions{})
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	got := tokens[0]
	if got.TokenID != issued.TokenID || got.CreatedBy != "me" || got.Description != "why" || got.MasterID != m.ID ||
		got.CreatedAt != noon || got.ExpiresAt != noon.Add(time.Hour) || got.RevokedAt != nil ||
		got.Right.TenantGrants[0].TenantIDs[0] != "app.t" || got.Right.ExpiresAt != "2030-01-01T13:00:00Z" {
		t.Errorf("listed %+v", got)
	}
	if strings.Contains(fmt.Sprintf("%+v", got), issued.Token[36:]) {
		t.Error("the list shows the secret")
	}
}

func TestWatch(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	events := make(chan tokenstore.Event, 10)
	stop := b.Watch(func(e tokenstore.Event) { events <- e })
	defer stop()
	m, _ := b.master(t, "") // masters are no business of watchers
	issued := b.issue(t, m, grantAll("t"))
	must(t, errorOf(b.Refresh(t.Context(), m, issued.TokenID, tokenstore.Expiry{At: at(2 * time.Hour)})))
	must(t, errorOf(b.Revoke(t.Context(), m, issued.Token)))
	rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, issued.TokenID)
	must(t, err)
	must(t, b.store.Delete(t.Context(), rec.Kind, rec.ID, rec.Version))
	version := uint64(0)
	for i, want := range []tokenstore.Event{
		{ExpiresAt: noon.Add(time.Hour)},
		{ExpiresAt: noon.Add(2 * time.Hour)},
		{ExpiresAt: noon.Add(2 * time.Hour), Revoked: true},
		{Revoked: true},
	} {
		got := <-events
		if got.TokenID != issued.TokenID || got.Revoked != want.Revoked || !got.ExpiresAt.Equal(want.ExpiresAt) || got.Version <= version {
			t.Errorf("event %d: %+v, want %+v after version %d", i, got, want, version)
		}
		version = got.Version
	}
	equal(t, "more events", len(events), 0)
}
