package caddymodule

import (
	"errors"
	"regexp"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/credentials"
)

// tokenShape finds a whole token, whatever letters it starts with.
var tokenShape = regexp.MustCompile(`[0-9A-Fa-f]{32}_[0-9A-Fa-f]{32}`)

// parseGlobalOption parses the global options block `pubsub`, whose syntax
// [app.App.UnmarshalCaddyfile] tells.
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Err("the block pubsub is given twice")
	}
	a := new(app.App)
	err := args.CheckVariables(d)
	if err == nil {
		err = a.UnmarshalCaddyfile(d)
	}
	if err != nil {
		// It quotes what stands in a wrong place, which may be a master token.
		if text := err.Error(); tokenShape.MatchString(text) {
			err = errors.New(tokenShape.ReplaceAllLiteralString(text, credentials.Redacted))
		}
		return nil, err
	}
	return httpcaddyfile.App{Name: "pubsub", Value: caddyconfig.JSON(a, nil)}, nil
}
