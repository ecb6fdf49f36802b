package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/tokenstore"
)

var must = testcheck.Must

// slowConfigurer is a history store that takes its time to be configured.
type slowConfigurer struct {
	guest.HistoryStoreModule
	asked, answer chan struct{}
}

func (c slowConfigurer) ConfigureHistoryStore(history.Store) error {
	close(c.asked)
	<-c.answer
	return errors.New("no disk")
}

// The hub's shares follow the issuers of the current configuration.
func TestIssuersInForce(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	ctx, err := caddy.ProvisionContext(&caddy.Config{AppsRaw: caddy.ModuleMap{
		"pubsub": json.RawMessage(`{"token_store": {"driver": "foreign"}, "broker": {"driver": "foreign"}}`),
	}})
	must(t, err)
	module, err := ctx.App("pubsub")
	must(t, err)
	a := module.(*App)
	limits := a.limits
	limits.MaxConnections = 4
	e, _, err := leaseEdge(a.store, a.broker, limits)
	must(t, err)
	use := func(a *App, masters ...string) {
		t.Helper()
		var static []tokenstore.StaticMaster
		for _, id := range masters {
			spec := tokenstore.MasterSpec{Name: id}
			static = append(static, tokenstore.StaticMaster{ID: strings.Repeat(id, 32), MasterSpec: spec})
		}
		tokens, err := tokenstore.NewService(e.store.Store, tokenstore.Config{StaticMasters: static})
		must(t, err)
		must(t, e.use(a, limits, tokens))
	}
	// admit connects with tokens of one issuer until that is refused.
	admit := func() (n int, err error) {
		for ; err == nil; n++ {
			var s *pubsub.Session
			id := pubsub.Identity{TokenID: fmt.Sprint(n), Issuer: "a", ExpiresAt: time.Now().Add(time.Hour)}
			if s, err = e.hub.Admit(id, pubsub.Client{}); err == nil {
				defer s.Detach()
			}
		}
		return n - 1, err
	}
	expect := func(when string, n int, err error) {
		t.Helper()
		if got, gotErr := admit(); got != n || !errors.Is(gotErr, err) {
			t.Errorf("%s: %d connections, then %v; want %d, then %v", when, got, gotErr, n, err)
		}
	}
	use(a, "a")
	expect("one issuer", 4, pubsub.ErrFull)
	next := &App{store: a.store, broker: a.broker, histories: a.histories}
	use(next, "a", "b")
	expect("two issuers", 2, pubsub.ErrIssuerFull)
	must(t, e.withdraw(next))
	expect("one issuer again", 4, pubsub.ErrFull)
	must(t, e.release(a))
}

// While a store holds up a reload, operators and other edges are still told how the edge is.
func TestInForceDuringReload(t *testing.T) {
	c := slowConfigurer{asked: make(chan struct{}), answer: make(chan struct{})}
	a := &App{histories: histories{module: c}}
	e, failed := new(edge), make(chan error)
	go func() { failed <- e.use(a, pubsub.Limits{}, nil) }()
	<-c.asked
	if !e.mu.TryLock() {
		t.Error("reading the current configuration waits for the store")
	} else {
		e.mu.Unlock()
	}
	close(c.answer)
	if err := <-failed; err == nil || e.inForce() != a {
		t.Errorf("the reload ended with %v", err)
	}
}
