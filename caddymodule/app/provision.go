package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// Provision implements [caddy.Provisioner]. It opens nothing: `caddy validate`
// works beside a running edge.
func (a *App) Provision(ctx caddy.Context) error {
	if err := args.Resolve(a); err != nil {
		return err
	}
	a.ctx, a.log = ctx, ctx.Logger()
	a.failures, a.faults = admission.NewFailureLimiter(), guest.OncePerSecond(guest.LiveLog("pubsub"))
	a.started = make(chan struct{})
	a.takeover = takeover.New(func(srv *caddyhttp.Server) http.Handler {
		return guard.Outermost(srv, srv, a.log.Named("guard"))
	}, ctx.Storage(), guest.LiveLog("pubsub.http3"))
	if err := a.provisionLimits(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "on", "off"}, a.WebTransport) {
		return errors.New("webtransport: must be on or off")
	}
	if !slices.Contains([]overlay.Policy{overlay.Manage, overlay.View, overlay.Off}, a.remotePolicy()) {
		return errors.New("remote_operators: must be manage, view or off")
	}
	if a.Region != "" && !slices.Contains(a.regions(), a.Region) {
		return fmt.Errorf("region: must be one of %v; the option regions adds others", a.regions())
	}
	a.tokens = tokenstore.Config{Regions: a.regions(), MaxKBPerSec: a.Bandwidth.Max, Quota: tokenstore.Quota{
		MaxTokens: a.Limits.MaxTokensPerMaster, MaxBytes: a.Limits.MaxTokenBytesPerMaster,
		CallsPerSecond: a.Limits.MaxCallsPerMaster,
	}}
	for i, m := range a.MasterTokens {
		static, err := m.resolve()
		if err != nil {
			return fmt.Errorf("master_token %d: %w", i+1, err)
		}
		a.tokens.StaticMasters = append(a.tokens.StaticMasters, static)
	}
	// The rules of master tokens are the service's; it needs no store to check them.
	_, err := tokenstore.NewService(nil, a.tokens)
	if err != nil {
		return fmt.Errorf("master_token: %w", err)
	}
	if a.store, err = loadGuest[guest.StoreModule](ctx, a, a.TokenStoreRaw, "TokenStoreRaw", "pubsub.token_stores.badger"); err != nil {
		return fmt.Errorf("token_store: %w", err)
	}
	if a.broker, err = loadGuest[guest.BrokerModule](ctx, a, a.BrokerRaw, "BrokerRaw", "pubsub.brokers.memory"); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	if err = a.provisionPresences(); err != nil {
		return err
	}
	if err = a.provisionHistories(ctx); err != nil {
		return err
	}
	if err = a.loadHooks(ctx); err != nil {
		return err
	}
	if s, ok := a.store.(guest.LinkBorrower); ok {
		if err := s.BorrowLink(a.broker); err != nil {
			return fmt.Errorf("token_store: %w", err)
		}
	}
	if err = a.handleEvents(ctx); err != nil {
		return err
	}
	return RegisterMetrics(ctx)
}

// loadGuest loads a guest module, or the default one if none is configured.
func loadGuest[T any](ctx caddy.Context, a *App, raw json.RawMessage, field, byDefault string) (guest T, err error) {
	var loaded any
	if len(raw) > 0 {
		loaded, err = ctx.LoadModule(a, field)
	} else {
		loaded, err = ctx.LoadModuleByID(byDefault, nil)
	}
	if err != nil {
		return guest, err
	}
	return loaded.(T), nil
}

func (a *App) loadHooks(ctx caddy.Context) error {
	if len(a.HooksRaw) == 0 {
		return nil
	}
	loaded, err := ctx.LoadModule(a, "HooksRaw")
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	for _, module := range loaded.([]any) {
		a.hooks = append(a.hooks, pubsub.NamedHook{Name: module.(caddy.Module).CaddyModule().ID.Name(), Hook: module})
	}
	if err := pubsub.CheckHooks(a.hooks); err != nil {
		return fmt.Errorf("hook %w", err)
	}
	return nil
}

func (a *App) regions() []string { return append([]string{"US", "EU"}, a.Regions...) }
