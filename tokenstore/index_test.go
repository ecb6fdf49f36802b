package tokenstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// countingStore counts the records that are read.
type countingStore struct {
	tokenstore.Store
	mu   sync.Mutex
	read int
}

func (s *countingStore) count(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read += n
	return s.read
}

func (s *countingStore) Get(ctx context.Context, k tokenstore.Kind, id string) (tokenstore.Record, error) {
	s.count(1)
	return s.Store.Get(ctx, k, id)
}

func (s *countingStore) Scan(ctx context.Context, k tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	return s.Store.Scan(ctx, k, after, func(rec tokenstore.Record) bool {
		s.count(1)
		return fn(rec)
	})
}

// indexedTestbed is a service with an index.
type indexedTestbed struct {
	*tokenstore.Service
	t     *testing.T
	store *countingStore
	index *tokenstore.Index
}

func newIndexedTestbed(t *testing.T, inner tokenstore.Store, c tokenstore.Config) *indexedTestbed {
	t.Helper()
	b := &indexedTestbed{t: t, store: &countingStore{Store: inner}}
	b.index = tokenstore.NewIndex(b.store)
	t.Cleanup(b.index.Close)
	c.Index = b.index
	var err error
	b.Service, err = tokenstore.NewService(b.store, c)
	must(t, err)
	return b
}

func (b *indexedTestbed) master(spec tokenstore.MasterSpec) *tokenstore.Master {
	b.t.Helper()
	spec.Name = "test"
	_, token, err := b.CreateMaster(b.t.Context(), spec)
	must(b.t, err)
	m, err := b.AuthenticateMaster(b.t.Context(), token, netip.Addr{})
	must(b.t, err)
	return m
}

func (b *indexedTestbed) issue(m *tokenstore.Master, tenants ...string) (tokenstore.Issued, error) {
	b.t.Helper()
	return b.Issue(b.t.Context(), m, tokenstore.IssueRequest{CreatedBy: "test", Right: tokenstore.Right{
		TenantGrants: []tokenstore.TenantGrant{{TenantIDs: tenants}},
		ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
	}})
}

func (b *indexedTestbed) mustIssue(m *tokenstore.Master, tenants ...string) string {
	b.t.Helper()
	issued, err := b.issue(m, tenants...)
	must(b.t, err)
	return issued.TokenID
}

// pages lists all and returns the ids, and how many records were read for a page
// at most.
func (b *indexedTestbed) pages(m *tokenstore.Master, o tokenstore.ListOptions) (ids []string, most int) {
	b.t.Helper()
	for {
		before := b.store.count(0)
		tokens, next, err := b.List(b.t.Context(), m, o)
		must(b.t, err)
		most = max(most, b.store.count(0)-before)
		for _, token := range tokens {
			ids = append(ids, token.TokenID)
		}
		if next == "" {
			return ids, most
		}
		o.Cursor = next
	}
}

// A list has the tokens of a tenant and of a subject that a master token manages, and no others,
// without an index and with one that was made before they were issued, or after. Some were
// deleted.
func TestListByIndex(t *testing.T) {
	store := storetest.NewMemory()
	plain, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	tenants := []string{"paint.a", "paint.eu.a", "paint.eu.b", "paintball.a", "x-1", "x-2", "y"}
	subjects := []string{"ada", "bob", "ada.", ""}
	lists := map[string]*indexedTestbed{
		"without an index": {Service: plain, t: t, store: &countingStore{Store: store}}, "an index made before": newIndexedTestbed(t, store, tokenstore.Config{}),
	}
	issued := map[string]tokenstore.IssueRequest{}
	for i := range 300 {
		r := tokenstore.IssueRequest{CreatedBy: "test", Subject: subjects[i%4], Right: tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{tenants[rand.IntN(7)], tenants[rand.IntN(7)]}}},
			ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
		}}
		token, err := lists["an index made before"].Issue(t.Context(), plain.Overlay(), r)
		must(t, err)
		issued[token.TokenID] = r
		if i%6 == 0 {
			rec, err := store.Get(t.Context(), tokenstore.KindAccess, token.TokenID)
			must(t, err)
			must(t, store.Delete(t.Context(), rec.Kind, rec.ID, rec.Version))
			delete(issued, rec.ID)
		}
	}
	lists["an index made after"] = newIndexedTestbed(t, store, tokenstore.Config{})
	for _, prefix := range []string{"", "paint.", "paint.eu.", "paintball.", "x-", "none."} {
		for _, tenant := range append(tenants, "") {
			o := tokenstore.ListOptions{Tenant: tenant, Subject: append(subjects, "nobody")[rand.IntN(5)], Limit: 1 + rand.IntN(20)}
			var want []string
			for id, r := range issued {
				of := r.Right.TenantGrants[0].TenantIDs
				if (tenant == "" || slices.Contains(of, tenant)) && (o.Subject == "" || r.Subject == o.Subject) &&
					strings.HasPrefix(of[0], prefix) && strings.HasPrefix(of[1], prefix) {
					want = append(want, id)
				}
			}
			slices.Sort(want)
			for name, b := range lists {
				if got, _ := b.pages(&tokenstore.Master{TenantPrefix: prefix}, o); !slices.Equal(got, want) {
					t.Errorf("prefix %q, %+v, %s: %d tokens, want %d", prefix, o, name, len(got), len(want))
				}
			}
		}
	}
}

// What a page costs does not depend on how many tokens others have, and has a
// bound where a filter passes few.
func TestListCost(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{})
	all := b.Overlay()
	for i := range 30 {
		b.mustIssue(all, fmt.Sprint("mine.", i))
	}
	mine := &tokenstore.Master{TenantPrefix: "mine."}
	b.pages(mine, tokenstore.ListOptions{}) // when this returns, the index has read the store
	_, few := b.pages(mine, tokenstore.ListOptions{Limit: 10})
	for i := range 5000 {
		b.mustIssue(all, fmt.Sprint("theirs.", i))
	}
	ids, many := b.pages(mine, tokenstore.ListOptions{Limit: 10})
	if len(ids) != 30 || many != few || many > 11 {
		t.Errorf("%d tokens; a page of 10 reads %d records beside 5,000 of others, and %d without", len(ids), many, few)
	}
	theirs := &tokenstore.Master{TenantPrefix: "theirs."}
	ids, most := b.pages(theirs, tokenstore.ListOptions{Tenant: "theirs.7"})
	if len(ids) != 1 || most > 4001 {
		t.Errorf("%d tokens with the tenant, want 1; a page reads %d records, want at most 4,001", len(ids), most)
	}
	ids, most = b.pages(all, tokenstore.ListOptions{Tenant: "theirs.7"})
	if len(ids) != 1 || most > 4001 {
		t.Errorf("%d tokens with the tenant, want 1; a page reads %d records, want at most 4,001", len(ids), most)
	}
}

// More prefixes than the index keeps are answered, too.
func TestManyNamespaces(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{})
	for i := range 600 {
		b.mustIssue(b.Overlay(), fmt.Sprintf("n%d.t", i))
	}
	for range 2 {
		for i := range 600 {
			m := &tokenstore.Master{TenantPrefix: fmt.Sprintf("n%d.", i)}
			if ids, _ := b.pages(m, tokenstore.ListOptions{}); len(ids) != 1 {
				t.Fatalf("%s: %d tokens", m.TenantPrefix, len(ids))
			}
		}
	}
}
