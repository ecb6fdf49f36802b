package nats

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// Three edges that share a bucket issue tokens of a subject while they revoke it, in turns:
// what was issued before a revocation is answered is gone then, and the rest lives.
func TestRevokeSubject(t *testing.T) {
	t.Parallel()
	s := roleServer(t, "tokens")
	manager := openReady(t, connectAs(s, "manager"))
	var services []*tokenstore.Service
	for range 3 {
		store := openStore(t, connectAs(s, "issuer"), withRole(Issuer)) // its permissions are enough
		awaitReady(t, store)
		index := tokenstore.NewIndex(store)
		t.Cleanup(index.Close)
		service, err := tokenstore.NewService(store, tokenstore.Config{Index: index})
		must(t, err)
		services = append(services, service)
	}
	request := tokenstore.IssueRequest{CreatedBy: "test", Subject: "ada", Right: tokenstore.Right{
		TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"room"}}},
		ExpiresAt:    time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}}
	alive := storetest.RevokeWhileIssuing(t, services, request, 9, func(tokens []string) {
		for _, token := range tokens {
			for i, other := range services {
				await(t, "the token to be gone", func() bool {
					_, err := other.AuthenticateLocal(t.Context(), token)
					if err != nil && !errors.Is(err, tokenstore.ErrUnauthorized) {
						t.Fatalf("service %d: %v", i, err)
					}
					return err != nil
				})
			}
		}
	})
	for _, token := range alive {
		for _, other := range services {
			if _, err := other.Authenticate(t.Context(), token); err != nil {
				t.Fatalf("a token that was issued after all revocations: %v", err)
			}
		}
	}
	err := manager.Scan(t.Context(), tokenstore.KindClosing, "", func(rec tokenstore.Record) bool {
		t.Errorf("left: %s", rec.Value)
		return true
	})
	noError(t, err)
}

// An edge that only reads revokes nothing, and says so.
func TestReaderRevokesNoSubject(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	awaitReady(t, openStore(t, connect))
	store := openReady(t, connect, withRole(Reader))
	service, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	_, err = service.RevokeSubject(t.Context(), service.Overlay(), "ada")
	wantErr(t, "RevokeSubject", err, tokenstore.ErrReadOnly)
}
