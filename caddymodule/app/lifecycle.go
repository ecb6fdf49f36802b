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
	startedApps.add(a)
	countLoad(kept)
	return nil
}

// drainBeforeStop has an edge that stops drain before Caddy stops its apps, which it does in
// random order: the HTTP app would close its listeners before the drain or after it. Caddy
// waits for the handlers of its event "stopping". This one is the last of them.
func (a *App) drainBeforeStop(ctx caddy.Context) error {
	module, err := ctx.App("events")
	if err != nil {
		return err
	}
	events := module.(*caddyevents.App)
	events.Subscriptions = append(events.Subscriptions, &caddyevents.Subscription{
		Events: []string{"stopping"}, Handlers: []caddyevents.Handler{stopping{a}},
	})
	return nil
}

type stopping struct{ app *App }

// Handle implements [caddyevents.Handler]. It does nothing when a configuration alone stops.
func (s stopping) Handle(context.Context, caddy.Event) error {
	s.app.mu.Lock()
	e := s.app.lease
	s.app.mu.Unlock()
	if e != nil && caddy.Exiting() {
		<-e.hub.Shutdown()
	}
	return nil
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
