package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// RevokeWhileIssuing issues tokens as the request says, on all services of one store, while these
// revoke the tokens of the request's subject in turns. Each revocation has to find what was issued
// before it was answered; gone is called with these tokens, and fails the test where one lives. What
// was issued after the last revocation is returned.
func RevokeWhileIssuing(t *testing.T, services []*tokenstore.Service, request tokenstore.IssueRequest, rounds int, gone func(tokens []string)) (alive []string) {
	t.Helper()
	const each = 30 // tokens a round
	var (
		mu      sync.Mutex
		answers int // of revocations
		permits = make(chan struct{}, rounds*each)
		issued  = make(chan struct{}, rounds*each)
		issuing sync.WaitGroup
	)
	for i := range 2 * len(services) {
		service := services[i%len(services)]
		issuing.Go(func() {
			for range permits {
				mu.Lock()
				begun := answers
				mu.Unlock()
				got, err := service.Issue(t.Context(), service.Overlay(), request)
				for errors.Is(err, tokenstore.ErrSubjectClosing) { // the machine is busy
					got, err = service.Issue(t.Context(), service.Overlay(), request)
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if begun == answers { // else it may have been issued before that answer, or after it
					alive = append(alive, got.Token)
				}
				mu.Unlock()
				issued <- struct{}{}
			}
		})
	}
	revoked, seen := 0, 0 // a token that one round has revoked may be seen in the next
	for round := range rounds {
		for range each {
			permits <- struct{}{}
		}
		<-issued
		service := services[round%len(services)]
		n, reopen, err := service.RevokeAndClose(t.Context(), service.Overlay(), request.Subject)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		before := alive
		alive, answers = nil, answers+1
		mu.Unlock()
		reopen()
		if revoked, seen = revoked+n, seen+len(before); revoked < seen {
			t.Errorf("round %d: revoked %d so far, of %d", round, revoked, seen)
		}
		gone(before)
	}
	close(permits)
	issuing.Wait()
	return alive
}
