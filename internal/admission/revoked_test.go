package admission

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// looked is a store that runs a step after so many looks at a record.
type looked struct {
	tokenstore.Store
	left int
	step func()
}

func (s *looked) Get(ctx context.Context, kind tokenstore.Kind, id string) (tokenstore.Record, error) {
	rec, err := s.Store.Get(ctx, kind, id)
	if s.left--; s.left == 0 {
		s.step()
	}
	return rec, err
}

// A token that is revoked has no session, also if the revocation comes while one is admitted:
// between the look at the token and the session's registration, or right after the second look.
func TestRevokedDuringAdmission(t *testing.T) {
	for looks, want := range map[int]string{1: "unauthorized", 2: "a session that is closing", 3: "a session"} {
		synctest.Test(t, func(t *testing.T) {
			store := &looked{Store: storetest.NewMemory()}
			g := newGuesses(t, store)
			hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
			defer hub.Close()
			defer g.service.Watch(func(ev tokenstore.Event) { hub.TokenRevoked(ev.TokenID) })()
			token, id := g.issue()
			store.left, store.step = looks, func() {
				if err := g.service.RevokeByID(t.Context(), g.service.Overlay(), id); err != nil {
					t.Error(err)
				}
			}
			edge := &Edge{Hub: hub, Tokens: g.service, Failures: g.FailureLimiter, Log: zap.NewNop()}
			client := pubsub.Client{IP: here, Transport: tokenstore.ProtocolWebSocket}
			admitted, refused := Candidate{Edge: edge, Client: client, Secure: true}.Open(t.Context(), token)
			got := "a session"
			switch {
			case refused != nil:
				got = refused.Code
			case !admitted.Session.Ready(time.Hour):
				got = "a session that is closing"
			}
			if got != want {
				t.Errorf("revoked after %d looks at the token: got %s, want %s", looks, got, want)
			}
			if refused == nil {
				admitted.Session.Detach()
			}
		})
	}
}
