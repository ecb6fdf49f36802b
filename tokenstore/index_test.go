package tokenstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
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

// A list finds the same tokens with the index as without, whatever the prefix and
// tenant, and those alone are read. They were issued before the index was made, and
// after, and some were deleted.
func TestListByIndex(t *testing.T) {
	store := storetest.NewMemory()
	plain, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	all := plain.Overlay()
	prefixes := []string{"", "paint.", "paint.eu.", "paintball.", "x-", "none."}
	tenants := []string{"paint.a", "paint.eu.a", "paint.eu.b", "paintball.a", "x-1", "x-2", "y"}
	before := newIndexedTestbed(t, store, tokenstore.Config{})
	for range 300 {
		var names []string
		for range 1 + rand.IntN(2) {
			names = append(names, tenants[rand.IntN(len(tenants))])
		}
		before.mustIssue(all, names...)
	}
	ids, _ := before.pages(all, tokenstore.ListOptions{})
	for _, id := range ids[:50] {
		rec, err := store.Get(t.Context(), tokenstore.KindAccess, id)
		must(t, err)
		must(t, store.Delete(t.Context(), rec.Kind, id, rec.Version))
	}
	after := newIndexedTestbed(t, store, tokenstore.Config{})
	for _, prefix := range prefixes {
		for _, tenant := range append(tenants, "") {
			m := &tokenstore.Master{TenantPrefix: prefix}
			o := tokenstore.ListOptions{Tenant: tenant, Limit: 1 + rand.IntN(20)}
			var want []string
			for o := o; ; {
				tokens, next, err := plain.List(t.Context(), m, o)
				must(t, err)
				for _, token := range tokens {
					want = append(want, token.TokenID)
				}
				if o.Cursor = next; next == "" {
					break
				}
			}
			for name, b := range map[string]*indexedTestbed{"an index made before": before, "an index made after": after} {
				if got, _ := b.pages(m, o); !slices.Equal(got, want) {
					t.Errorf("prefix %q, tenant %q, %s: %d tokens, want %d", prefix, tenant, name, len(got), len(want))
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
