package nats

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// deleteConsumers makes every store follow the bucket by its probes only: for a moment none
// knows the last changes of the others.
func deleteConsumers(t *testing.T, s *server.Server) {
	t.Helper()
	stream, err := admin(t, s).Stream(t.Context(), "KV_tokens")
	must(t, err)
	for name := range stream.ConsumerNames(t.Context()).Name() {
		err := stream.DeleteConsumer(t.Context(), name)
		if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // a store may just have started over
			t.Fatal(err)
		}
	}
}

// services are two edges on one bucket, and a master token that both know.
func services(t *testing.T) (a, b *tokenstore.Service, m tokenstore.Master, shared *server.Server) {
	t.Helper()
	shared = natstest.Server(t)
	serve := func() *tokenstore.Service {
		store := openReady(t, natstest.Connect(shared))
		service, err := tokenstore.NewService(store, tokenstore.Config{})
		must(t, err)
		return service
	}
	a, b = serve(), serve()
	_, token, err := a.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "m", TenantPrefix: "a."})
	must(t, err)
	return a, b, authenticated(t, a, token), shared
}

func authenticated(t *testing.T, s *tokenstore.Service, token string) tokenstore.Master {
	t.Helper()
	m, err := s.AuthenticateMaster(t.Context(), token, netip.MustParseAddr("127.0.0.1"))
	must(t, err)
	return *m
}

// issueRequest asks for a token for an hour.
func issueRequest() (r tokenstore.IssueRequest) {
	r.CreatedBy = "test"
	r.Right.TenantGrants = []tokenstore.TenantGrant{{TenantIDs: []string{"x"}, AllowChannelsSub: []string{"#"}}}
	r.Right.ExpiresAt = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	return r
}

// A master token that another edge has just rotated, or given another prefix, issues
// nothing, also where that has not arrived yet.
func TestIssueAfterRotationElsewhere(t *testing.T) {
	t.Parallel()
	prefix := "b."
	for name, change := range map[string]func(*tokenstore.Service, string) error{
		"rotation": func(s *tokenstore.Service, id string) error {
			_, _, _, err := s.RotateMaster(t.Context(), id, true)
			return err
		},
		"another prefix": func(s *tokenstore.Service, id string) error {
			_, err := s.UpdateMaster(t.Context(), id, tokenstore.MasterPatch{TenantPrefix: &prefix})
			return err
		},
		"deletion": func(s *tokenstore.Service, id string) error {
			_, err := s.DeleteMaster(t.Context(), id, true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, m, shared := services(t)
			deleteConsumers(t, shared)
			must(t, change(b, m.ID))
			_, err := a.Issue(t.Context(), &m, issueRequest())
			wantErr(t, "Issue", err, tokenstore.ErrBadMasterToken)
		})
	}
}

// A rotation that revokes tokens finds those that another edge issued a moment ago.
func TestRotationFindsTokensOfElsewhere(t *testing.T) {
	t.Parallel()
	a, b, m, shared := services(t)
	deleteConsumers(t, shared)
	var issued []tokenstore.Issued
	for range 10 {
		i, err := a.Issue(t.Context(), &m, issueRequest())
		must(t, err)
		issued = append(issued, i)
	}
	_, _, revoked, err := b.RotateMaster(t.Context(), m.ID, true)
	if err != nil || revoked != len(issued) {
		t.Errorf("%d of %d tokens were revoked: %v", revoked, len(issued), err)
	}
	for n, i := range issued {
		if _, err := b.Authenticate(t.Context(), i.Token); err == nil {
			t.Errorf("token %d still works", n)
		}
	}
}

// Three edges that share a bucket issue tokens of a subject while they revoke it, in turns:
// what was issued before a revocation is answered is gone then, and the rest lives.
func TestRevokeSubject(t *testing.T) {
	t.Parallel()
	s := roleServer(t, "tokens")
	manager := openReady(t, connectAs(s, "manager"))
	var services []*tokenstore.Service
	for range 3 {
		store := openStore(t, connectAs(s, "issuer"), withRole(Issuer), patient) // its permissions are enough
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

// One master token has as many revocations of a subject under way as it may, on an edge whose
// answers nobody takes and on one that dies: others do not notice, and it goes on itself.
func TestRevocationsOfOthers(t *testing.T) {
	t.Parallel()
	a, b, m, shared := services(t)
	store := openReady(t, natstest.Connect(shared))
	dying, err := tokenstore.NewService(store, tokenstore.Config{})
	must(t, err)
	for range 9 { // one more than it may
		_, _, err := a.RevokeAndClose(t.Context(), &m, "ada") // is never reopened
		if err != nil && !errors.Is(err, tokenstore.ErrTooManyRequests) {
			t.Fatal(err)
		}
	}
	_, _, err = dying.RevokeAndClose(t.Context(), &m, "ada")
	must(t, err)
	must(t, store.Close()) // at once: an edge that lives reopens the subject after a second
	_, token, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "other", TenantPrefix: "b."})
	must(t, err)
	other := authenticated(t, b, token)
	for _, m := range []*tokenstore.Master{&other, b.Overlay(), &m} {
		if _, err := b.RevokeSubject(t.Context(), m, "ada"); err != nil {
			t.Errorf("revoked with prefix %q: %v", m.TenantPrefix, err)
		}
	}
	request := issueRequest()
	request.Subject = "ada"
	if _, err := b.Issue(t.Context(), &m, request); err != nil { // it ends what the dead edge has left
		t.Error(err)
	}
}
