package badger

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// filled is a store with n tokens of 1,000 tenants, each of a subject of its own.
func filled(b *testing.B, n int) (store *Store, service *tokenstore.Service, issue func(subject, tenant string) tokenstore.Issued) {
	b.Helper()
	store, err := Open(Config{Dir: b.TempDir()})
	must(b, err)
	b.Cleanup(func() { must(b, store.Close()) })
	service, err = tokenstore.NewService(store, tokenstore.Config{})
	must(b, err)
	issue = func(subject, tenant string) tokenstore.Issued {
		issued, err := service.Issue(b.Context(), service.Overlay(), tokenstore.IssueRequest{
			CreatedBy: tenant, Subject: subject,
			Right: tokenstore.Right{
				TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{tenant}, AllowChannelsSub: []string{"#"}}},
				ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
			},
		})
		if err != nil {
			b.Error(err)
		}
		return issued
	}
	const writers = 256
	var issuing sync.WaitGroup
	for w := range writers {
		issuing.Go(func() {
			for i := w; i < n; i += writers {
				issue(fmt.Sprint("user-", i), fmt.Sprint("tenant-", i%1000))
			}
		})
	}
	issuing.Wait()
	return store, service, issue
}

// BenchmarkSearch is the time of the first page of each search among 100,000 tokens. Most
// look at as many records as one call may; the worst decodes all of these.
func BenchmarkSearch(b *testing.B) {
	_, service, issue := filled(b, 100_000)
	id := issue("", "tenant-0").TokenID
	for name, o := range map[string]tokenstore.ListOptions{
		"all": {}, "id": {ID: id}, "id-prefix": {ID: id[:3]}, "tenant": {Tenant: "tenant-7"}, "created-by": {CreatedBy: "tenant-7"},
		"valid": {Status: tokenstore.StatusValid}, "expired": {Status: tokenstore.StatusExpired},
		"revoked": {Status: tokenstore.StatusRevoked}, "limit-1000": {Limit: 1000},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := service.List(b.Context(), service.Overlay(), o)
				must(b, err)
			}
		})
	}
}

// BenchmarkRevokeSubject is the time to find and revoke the one valid token of a subject, among
// as many tokens as SUBJECT_TOKENS says, by default 100,000: by scanning the store, and with an
// Index.
func BenchmarkRevokeSubject(b *testing.B) {
	tokens, err := strconv.Atoi(os.Getenv("SUBJECT_TOKENS"))
	if err != nil {
		tokens = 100_000
	}
	store, scanning, issue := filled(b, tokens)
	index := tokenstore.NewIndex(store)
	defer index.Close()
	indexed, err := tokenstore.NewService(store, tokenstore.Config{Index: index})
	must(b, err)
	_, err = indexed.RevokeSubject(b.Context(), indexed.Overlay(), "nobody") // reads the store
	must(b, err)
	for name, s := range map[string]*tokenstore.Service{"scan": scanning, "index": indexed} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				subject := fmt.Sprintf("%s-%d", b.Name(), i)
				issue(subject, "room")
				b.StartTimer()
				if n, err := s.RevokeSubject(b.Context(), s.Overlay(), subject); n != 1 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
