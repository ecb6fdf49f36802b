package badger_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/badger"
)

// BenchmarkSearch is the time of the first page of each search among 100,000 tokens. Most
// look at as many records as one call may; the worst decodes all of these.
func BenchmarkSearch(b *testing.B) {
	store, err := badger.Open(badger.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	if err != nil {
		b.Fatal(err)
	}
	const tokens, writers = 100_000, 256
	var id string
	var issuing sync.WaitGroup
	for w := range writers {
		issuing.Go(func() {
			for i := w; i < tokens; i += writers {
				issued, err := service.Issue(b.Context(), service.Overlay(), tokenstore.IssueRequest{
					CreatedBy: fmt.Sprint("user-", i%1000), Description: "one of many",
					Right: tokenstore.Right{
						TenantGrants: []tokenstore.TenantGrant{{
							TenantIDs: []string{fmt.Sprint("tenant-", i%1000)}, AllowChannelsPub: []string{"news.#"}, AllowChannelsSub: []string{"#"},
						}},
						ExpiresAt: time.Now().Add(time.Hour).Format(time.RFC3339),
					},
				})
				if err != nil {
					b.Error(err)
					return
				}
				if i == 0 {
					id = issued.TokenID
				}
			}
		})
	}
	issuing.Wait()
	for _, c := range []struct {
		name string
		opt  tokenstore.ListOptions
	}{
		{"all", tokenstore.ListOptions{}},
		{"id", tokenstore.ListOptions{ID: id}},
		{"id-prefix", tokenstore.ListOptions{ID: id[:3]}},
		{"tenant", tokenstore.ListOptions{Tenant: "tenant-7"}},
		{"created-by", tokenstore.ListOptions{CreatedBy: "user-7"}},
		{"valid", tokenstore.ListOptions{Status: tokenstore.StatusValid}},
		{"expired", tokenstore.ListOptions{Status: tokenstore.StatusExpired}},
		{"revoked", tokenstore.ListOptions{Status: tokenstore.StatusRevoked}},
		{"limit-1000", tokenstore.ListOptions{Limit: 1000}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := service.List(b.Context(), service.Overlay(), c.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRevokeSubject is the time to find and revoke the one valid token of a subject, among
// as many tokens as SUBJECT_TOKENS says, by default 100,000: by scanning the store, and with an
// Index.
func BenchmarkRevokeSubject(b *testing.B) {
	tokens := 100_000
	if text := os.Getenv("SUBJECT_TOKENS"); text != "" {
		var err error
		if tokens, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	store, err := badger.Open(badger.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	scanning, err := tokenstore.NewService(store, tokenstore.Config{})
	if err != nil {
		b.Fatal(err)
	}
	issue := func(s *tokenstore.Service, subject string) {
		_, err := s.Issue(b.Context(), s.Overlay(), tokenstore.IssueRequest{
			CreatedBy: "backend", Subject: subject,
			Right: tokenstore.Right{
				TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"room"}, AllowChannelsSub: []string{"#"}}},
				ExpiresAt:    time.Now().Add(time.Hour).Format(time.RFC3339),
			},
		})
		if err != nil {
			b.Error(err)
		}
	}
	const writers = 256
	var issuing sync.WaitGroup
	for w := range writers {
		issuing.Go(func() {
			for i := w; i < tokens; i += writers {
				issue(scanning, fmt.Sprint("user-", i))
			}
		})
	}
	issuing.Wait()
	revoke := func(b *testing.B, s *tokenstore.Service) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			subject := fmt.Sprintf("%s-%d", b.Name(), i)
			issue(s, subject)
			b.StartTimer()
			if n, err := s.RevokeSubject(b.Context(), s.Overlay(), subject); n != 1 || err != nil {
				b.Fatal(n, err)
			}
		}
	}
	b.Run("scan", func(b *testing.B) { revoke(b, scanning) })
	index := tokenstore.NewIndex(store)
	defer index.Close()
	indexed, err := tokenstore.NewService(store, tokenstore.Config{Index: index})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := indexed.RevokeSubject(b.Context(), indexed.Overlay(), "nobody"); err != nil { // reads the store
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) { revoke(b, indexed) })
}
