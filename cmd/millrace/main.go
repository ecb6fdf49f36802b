// Command millrace is Caddy with its standard modules and the pubsub modules:
// what `xcaddy build` generates from xcaddy.json.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	// Caddy's standard modules.
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	// The pubsub app, its handlers, its admin API and its commands.
	_ "github.com/millrace/millrace/caddymodule"
	// The NATS server inside the edge, for the option `embedded`.
	_ "github.com/millrace/millrace/caddymodule/embedded"
)

func main() {
	caddycmd.Main()
}
