package app

import (
	"context"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/caddymodule/takeover"
)

// TestNoWebTransportWarns has two handlers on a server that cannot be taken over,
// and one on another: each server is warned of once.
func TestNoWebTransportWarns(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	app := &App{log: zap.New(core), takeover: takeover.New(nil, nil, zap.NewNop())}
	one, two := new(caddyhttp.Server), new(caddyhttp.Server)
	for _, srv := range []*caddyhttp.Server{one, one, two} {
		app.ClaimHTTP3(caddy.Context{Context: context.WithValue(t.Context(), caddyhttp.ServerCtxKey, srv)})
	}
	if n := logs.FilterLevelExact(zap.WarnLevel).Len(); n != 2 || logs.Len() != n {
		t.Errorf("%d warnings in %d lines, want 2", n, logs.Len())
	}
	off := &App{log: app.log, WebTransport: "off"}
	off.ClaimHTTP3(caddy.Context{Context: context.WithValue(t.Context(), caddyhttp.ServerCtxKey, one)})
	if logs.Len() != 2 {
		t.Error("there is a warning of what is switched off")
	}
}
