package app

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// State that outlives a reload, as long as one configuration uses it.
var (
	stores = caddy.NewUsagePool() // StoreKey → *sharedStore
	kept   = caddy.NewUsagePool() // historyKey → *sharedHistory
	edges  = caddy.NewUsagePool() // edgeKey → *edge
)

type edgeKey struct{ store, broker string }

type sharedStore struct {
	tokenstore.Store
	index *tokenstore.Index
}

// Destruct implements [caddy.Destructor].
func (s *sharedStore) Destruct() error {
	s.index.Close()
	return s.Close()
}

// writable reports whether the store takes changes, as far as it knows.
func (s *sharedStore) writable() bool {
	w, ok := s.Store.(tokenstore.SpaceReporter)
	return !ok || w.Writable()
}

// replicas are the servers that have all tokens, and that should; zero: there are none, or
// it is not known.
func (s *sharedStore) replicas() (current, all int) {
	if r, ok := s.Store.(tokenstore.ReplicaReporter); ok {
		return r.Replicas()
	}
	return 0, 0
}

// edge is a hub with its store, over all configurations that share them.
type edge struct {
	key    edgeKey
	hub    *pubsub.Hub
	broker pubsub.Broker // the hub's
	store  *sharedStore
	stop   func() // of the watch on the store
	memory *memoryTrimmer
	others *overlay.Overlay // and this edge

	applying sync.Mutex // held while a configuration is applied, which may wait for stores; taken before mu

	mu          sync.Mutex   // held for moments: operators and other edges wait for it
	generations []generation // the last one is in effect
}

type generation struct {
	app    *App
	limits pubsub.Limits
	tokens *tokenstore.Service
}

// leaseEdge takes the edge from the pool, where another configuration keeps it, or
// makes it.
func leaseEdge(sm guest.StoreModule, bm guest.BrokerModule, limits pubsub.Limits) (e *edge, kept bool, err error) {
	key := edgeKey{sm.StoreKey(), bm.BrokerKey()}
	v, kept, err := edges.LoadOrNew(key, func() (caddy.Destructor, error) {
		return newEdge(key, sm, bm, limits)
	})
	if err != nil {
		return nil, false, err
	}
	return v.(*edge), kept, nil
}

func newEdge(key edgeKey, sm guest.StoreModule, bm guest.BrokerModule, limits pubsub.Limits) (*edge, error) {
	v, _, err := stores.LoadOrNew(key.store, func() (caddy.Destructor, error) {
		store, err := sm.OpenStore(guest.LiveLog("pubsub.store"))
		if err != nil {
			return nil, err
		}
		return &sharedStore{store, tokenstore.NewIndex(store)}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	e := &edge{key: key, store: v.(*sharedStore)}
	fail := func(what string, err error) error {
		_, err2 := stores.Delete(key.store)
		return errors.Join(fmt.Errorf("%s: %w", what, err), err2)
	}
	watcher, err := tokenstore.NewService(e.store.Store, tokenstore.Config{})
	if err != nil {
		return nil, fail("token store", err)
	}
	broker, err := bm.OpenBroker(guest.LiveLog("pubsub.broker"))
	if err != nil {
		return nil, fail("broker", err)
	}
	e.broker = broker
	e.hub = pubsub.NewHub(broker, limits, guest.LiveLog("pubsub.hub"))
	e.memory = newMemoryTrimmer(e.hub.Deliveries)
	e.stop = watcher.Watch(func(ev tokenstore.Event) {
		if ev.Revoked {
			e.hub.TokenRevoked(ev.TokenID)
		} else {
			e.hub.TokenRenewed(ev.TokenID, ev.ExpiresAt, ev.Version)
		}
	})
	e.others = overlay.New(e.hub, broker, overlay.Source{Status: e.status, Counts: e.counts})
	if replica, ok := e.store.Store.(tokenstore.Replica); ok {
		stop, stopStale := e.stop, replica.WatchStale(e.hub.TokensUnverifiable)
		e.stop = func() {
			stopStale()
			stop()
		}
	}
	e.linkStore()
	return e, nil
}

// linkStore lets the store tell the other edges of revocations by the broker, too.
func (e *edge) linkStore() {
	linker, links := e.store.Store.(tokenstore.Linker)
	carrier, carries := e.broker.(pubsub.NoticeCarrier)
	if !links || !carries {
		return
	}
	take, unlink := linker.Link(carrier.SendNotice, e.hub.TokenUnverifiable)
	carrier.HandleNotices(take)
	stop := e.stop
	e.stop = func() {
		unlink()
		stop()
	}
}

// use puts a configuration's limits into effect.
func (e *edge) use(a *App, limits pubsub.Limits, tokens *tokenstore.Service) error {
	e.applying.Lock()
	defer e.applying.Unlock()
	g := generation{a, limits, tokens}
	e.mu.Lock()
	e.generations = append(e.generations, g)
	e.mu.Unlock()
	return e.apply(g)
}

// apply puts into effect what a configuration says of a hub that it shares with
// others. The caller holds e.applying.
func (e *edge) apply(g generation) error {
	if g.tokens != nil {
		e.hub.SetIssuers(g.tokens)
	}
	if c, ok := g.app.histories.module.(guest.HistoryStoreConfigurer); ok {
		if err := c.ConfigureHistoryStore(g.app.histories.store()); err != nil {
			return fmt.Errorf("history store: %w", err)
		}
	}
	if err := e.hub.SetHistories(g.app.histories.set, g.app.histories.store()); err != nil {
		return err
	}
	e.hub.SetPresences(g.app.presences)
	e.hub.SetLimits(g.limits)
	takeover.LimitIdle(g.app.files.requests, idleQUIC(debug.SetMemoryLimit(-1)))
	e.hub.SetHooks(g.app.hooks)
	e.others.SetPolicy(g.app.remotePolicy())
	if s, ok := g.app.store.(guest.StoreConfigurer); ok {
		s.ConfigureStore(e.store.Store)
	}
	if d, ok := e.broker.(pubsub.Directory); ok {
		host, _ := g.app.AnnouncedHost()
		d.Announce(pubsub.Edge{Host: host, Region: g.app.Region})
	}
	return nil
}

// release ends a configuration's use. If it was in effect, as after a reload
// that failed half way, the one before is again.
func (e *edge) release(a *App) error {
	err := e.withdraw(a)
	_, err2 := edges.Delete(e.key)
	return errors.Join(err, err2, a.histories.release()) // the hub does not use the store any more
}

// withdraw removes a configuration and applies the last one that remains, if any.
func (e *edge) withdraw(a *App) error {
	e.applying.Lock()
	defer e.applying.Unlock()
	e.mu.Lock()
	e.generations = slices.DeleteFunc(e.generations, func(g generation) bool { return g.app == a })
	n := len(e.generations)
	var last generation
	if n > 0 {
		last = e.generations[n-1]
	}
	e.mu.Unlock()
	if n == 0 {
		return nil
	}
	return e.apply(last)
}

// Destruct implements [caddy.Destructor]: the last configuration is gone.
func (e *edge) Destruct() error {
	e.others.Close()
	err := e.hub.Close() // tokens still expire and are still revoked while it drains
	e.stop()
	e.memory.stop()
	_, err2 := stores.Delete(e.key.store)
	return errors.Join(err, err2)
}
