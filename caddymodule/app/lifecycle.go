package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/millrace/millrace/tokenstore"
)

// Start implements [caddy.App]: it takes the hub over from the configuration
// before, if that used the same store and broker, with all its connections.
func (a *App) Start() error {
	e, kept, err := leaseEdge(a.store, a.broker, a.limits)
	if err != nil {
		return err
	}
	config := a.tokens
	config.Index = e.store.index
	service, err := tokenstore.NewService(e.store.Store, config)
	if err != nil {
		return errors.Join(fmt.Errorf("tokens: %w", err), e.release(a))
	}
	if err := a.histories.lease(e.key); err != nil {
		return errors.Join(err, e.release(a))
	}
	if err := e.use(a, a.limits, service); err != nil {
		return errors.Join(err, e.release(a))
	}
	if err := a.takeover.Start(a.ctx); err != nil {
		return errors.Join(fmt.Errorf("webtransport: %w", err), e.release(a))
	}
	warnOfFiles(a.log, a.files, &a.limits)
	a.mu.Lock()
	a.lease = e
	a.mu.Unlock()
	a.running = &Running{Hub: e.hub, Service: service, edge: e, history: a.histories.leased, histories: a.histories.set}
	close(a.started)
	a.kept = kept
	startedApps.add(a)
	return nil
}

// handleEvents has Caddy's events handled: "started" says that all apps have started, and so that
// the configuration has taken effect. Before "stopping" is handled, no app is stopped.
func (a *App) handleEvents(ctx caddy.Context) error {
	module, err := ctx.App("events")
	if err != nil {
		return err
	}
	events := module.(*caddyevents.App)
	events.Subscriptions = append(events.Subscriptions, &caddyevents.Subscription{
		Events: []string{"started", "stopping"}, Handlers: []caddyevents.Handler{lifeEvents{a}},
	})
	return nil
}

type lifeEvents struct{ app *App }

// Handle implements [caddyevents.Handler].
func (l lifeEvents) Handle(_ context.Context, e caddy.Event) error {
	if e.Name() == "started" {
		countLoad(l.app.kept)
		l.app.takeover.Report()
		return nil
	}
	l.app.drainBeforeStop()
	return nil
}

// drainBeforeStop has an edge that stops drain before Caddy stops its apps, which it does in
// random order: the HTTP app would close its listeners before the drain or after it. Caddy waits
// for it. It does nothing when a configuration alone stops.
func (a *App) drainBeforeStop() {
	a.mu.Lock()
	e := a.lease
	a.mu.Unlock()
	if e != nil && caddy.Exiting() {
		<-e.hub.Shutdown()
	}
}

// Stop implements [caddy.App]. When no other configuration uses the hub, it
// drains first: the clients have the drain period to leave. So do those of a
// UDP port that no other configuration uses; it is closed after that.
func (a *App) Stop() error {
	a.mu.Lock()
	e := a.lease
	a.lease = nil
	a.mu.Unlock()
	if e == nil {
		return nil
	}
	startedApps.remove(a)
	var leaving []<-chan struct{}
	for _, listener := range a.takeover.Quiesce() {
		if !caddy.Exiting() { // else the whole hub drains
			leaving = append(leaving, e.hub.DrainListener(listener))
		}
	}
	err := e.release(a)
	for _, left := range leaving {
		<-left
	}
	return errors.Join(err, a.takeover.Close(a.limits.Drain))
}

// Cleanup implements [caddy.CleanerUpper]: Caddy does not call Stop when the
// start of an app fails.
func (a *App) Cleanup() error { return a.Stop() }
