// Package caddymodule makes the publish/subscribe edge part of Caddy: it imports the
// packages of all its modules, and has the directives and the global option of the
// Caddyfile. Everything that knows Caddy is here and below, and nothing else is: the
// messaging is package pubsub, the tokens are package tokenstore.
//
// Who configures an edge reads docs/configuration.md; the fields of the modules are the
// same options in JSON: the app `pubsub` in caddymodule/app, its handlers in
// caddymodule/handler, its guests in caddymodule/guest and caddymodule/nats.
package caddymodule

import (
	// The routes of Caddy's admin endpoint.
	_ "github.com/millrace/millrace/caddymodule/adminapi"
	// The hook audit, which every build has.
	_ "github.com/millrace/millrace/caddymodule/audit"
	// The command `pubsub`, which registers itself.
	_ "github.com/millrace/millrace/caddymodule/command"
	// The guests that every build has: broker memory, token_store badger.
	_ "github.com/millrace/millrace/caddymodule/guest"
	// The guests that use NATS.
	_ "github.com/millrace/millrace/caddymodule/nats"
	// The hook webhook, which every build has.
	_ "github.com/millrace/millrace/caddymodule/webhook"
)
