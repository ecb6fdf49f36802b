// Package caddymodule makes the publish/subscribe edge part of Caddy: the app
// `pubsub`, its HTTP handlers, its admin API and its command. Everything that
// knows Caddy is here, and nothing else is: the messaging is package pubsub, the
// tokens are package tokenstore.
//
// Who configures an edge reads docs/configuration.md; the fields below are the
// same options in JSON.
package caddymodule

import (
	// The command `pubsub`, which registers itself.
	_ "github.com/millrace/millrace/caddymodule/command"
	// The guests that use NATS.
	_ "github.com/millrace/millrace/caddymodule/nats"
)
