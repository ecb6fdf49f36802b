package caddymodule

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/credentials"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/pubsub"
)

// tokenShape finds a whole token, whatever letters it starts with.
var tokenShape = regexp.MustCompile(`[0-9A-Fa-f]{32}_[0-9A-Fa-f]{32}`)

func init() {
	httpcaddyfile.RegisterGlobalOption("pubsub", parseGlobalOption)

	httpcaddyfile.RegisterHandlerDirective("pubsub_guard", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		g := new(guard.Guard)
		return g, g.UnmarshalCaddyfile(h.Dispenser)
	})
	httpcaddyfile.RegisterDirective("pubsub_ping", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &Ping{Path: path}
	}))
	httpcaddyfile.RegisterDirective("pubsub_ready", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &Ready{Path: path}
	}))
	httpcaddyfile.RegisterDirective("pubsub_tokens", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &Tokens{Path: strings.TrimSuffix(path, "/*")}
	}))
	httpcaddyfile.RegisterDirective("pubsub_websocket", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &WebSocket{Path: path}
	}))
	httpcaddyfile.RegisterDirective("pubsub_webtransport", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &WebTransport{Path: path}
	}))
	httpcaddyfile.RegisterDirective("pubsub_edges", parseEdges)
	httpcaddyfile.RegisterDirective("pubsub_openapi", plainDirective(func() []caddyhttp.MiddlewareHandler {
		return []caddyhttp.MiddlewareHandler{new(OpenAPI)}
	}))
	httpcaddyfile.RegisterDirective("pubsub", plainDirective(func() []caddyhttp.MiddlewareHandler {
		return []caddyhttp.MiddlewareHandler{new(Ping), new(Tokens), new(WebSocket), new(WebTransport)}
	}))

	// The guard before everything, the others before whatever answers all paths:
	// `handle`, `respond`, `reverse_proxy`, `file_server`.
	httpcaddyfile.RegisterDirectiveOrder("pubsub_guard", httpcaddyfile.Before, "tracing")
	for _, d := range []string{"pubsub", "pubsub_ping", "pubsub_ready", "pubsub_tokens", "pubsub_websocket", "pubsub_webtransport", "pubsub_edges", "pubsub_openapi"} {
		httpcaddyfile.RegisterDirectiveOrder(d, httpcaddyfile.Before, "handle")
	}
}

// plainDirective parses a directive without arguments and block.
func plainDirective(handlers func() []caddyhttp.MiddlewareHandler) httpcaddyfile.UnmarshalFunc {
	return func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		h.Next()
		name := h.Val()
		if h.NextArg() && strings.HasPrefix(h.Val(), "/") {
			return nil, h.Errf("%s takes a named matcher at most: its paths are fixed; pubsub_ping, pubsub_tokens, pubsub_websocket and pubsub_webtransport take one", name)
		}
		h.Reset()
		h.Next()
		matcher, err := h.ExtractMatcherSet()
		if err != nil {
			return nil, err
		}
		h.Next()
		if h.NextArg() || h.NextBlock(0) {
			return nil, h.Errf("%s takes a matcher at most: its paths are fixed, and its options are in the global block pubsub", name)
		}
		var routes []httpcaddyfile.ConfigValue
		for _, handler := range handlers() {
			routes = append(routes, h.NewRoute(matcher, handler)...)
		}
		return routes, nil
	}
}

// pathDirective parses a directive with an optional path, which the handler
// compares exactly, where Caddy's path matcher would fold case. Syntax:
//
//	pubsub_ping         [@matcher] [<path>]   # /ping
//	pubsub_ready        [@matcher] [<path>]   # /ready
//	pubsub_tokens       [@matcher] [<path>]   # /v1/*
//	pubsub_websocket    [@matcher] [<path>]   # /ws
//	pubsub_webtransport [@matcher] [<path>]   # /wt
func pathDirective(handler func(path string) caddyhttp.MiddlewareHandler) httpcaddyfile.UnmarshalFunc {
	return func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		matcher, name, path, err := matcherAndPath(h)
		if err != nil {
			return nil, err
		}
		if h.NextArg() || h.NextBlock(0) || path != "" && !strings.HasPrefix(path, "/") {
			return nil, h.Errf("%s takes at most a named matcher and a path, which starts with a slash, and no block", name)
		}
		p := path
		if name == "pubsub_tokens" {
			p = strings.TrimSuffix(path, "/*")
		}
		if strings.Contains(p, "*") || trailingSlash(p) || p == "" && path != "" {
			return nil, h.Errf("%s: the path is compared exactly: no wildcard, no trailing slash", name)
		}
		if p == "/" && name == "pubsub_tokens" {
			return nil, h.Errf("pubsub_tokens: the calls need a path above them, like /v1/*")
		}
		return h.NewRoute(matcher, handler(path)), nil
	}
}

// trailingSlash reports whether a path ends with a slash that is not all of it.
func trailingSlash(path string) bool { return path != "/" && strings.HasSuffix(path, "/") }

// matcherAndPath parses what stands before a directive's block.
func matcherAndPath(h httpcaddyfile.Helper) (matcher caddy.ModuleMap, name, path string, err error) {
	h.Next()
	name = h.Val()
	if h.NextArg() && !strings.HasPrefix(h.Val(), "/") {
		h.Reset()
		h.Next()
		if matcher, err = h.ExtractMatcherSet(); err != nil {
			return nil, "", "", err
		}
	} else {
		h.Reset()
	}
	h.Next()
	if h.NextArg() {
		path = h.Val()
	}
	return matcher, name, path, nil
}

// parseEdges parses the list of edges. Syntax:
//
//	pubsub_edges [@matcher] [<path>] {   # /edges
//		edge <host> [<region>]
//		allow_hosts <hosts...>
//	}
func parseEdges(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	matcher, name, path, err := matcherAndPath(h)
	if err != nil {
		return nil, err
	}
	if h.NextArg() || path != "" && (!strings.HasPrefix(path, "/") || strings.Contains(path, "*") || trailingSlash(path)) {
		return nil, h.Errf("%s takes at most a named matcher and a path, which starts with a slash and is compared exactly, and a block", name)
	}
	edges := &Edges{Path: path}
	for h.NextBlock(0) {
		option, args := h.Val(), h.RemainingArgs()
		if option == "allow_hosts" && len(args) > 0 {
			edges.AllowHosts = append(edges.AllowHosts, args...)
			continue
		}
		if option != "edge" || len(args) < 1 || len(args) > 2 {
			return nil, h.Errf("%s: each line must be: edge <host> [<region>], or allow_hosts <hosts...>", name)
		}
		e := pubsub.Edge{Host: args[0]}
		if len(args) == 2 {
			e.Region = args[1]
		}
		edges.List = append(edges.List, e)
	}
	return h.NewRoute(matcher, edges), nil
}

// parseGlobalOption parses the global options block. Syntax:
//
//	pubsub {
//		region        <name>
//		regions       <names...>
//		token_store   <driver> [...]
//		broker        <driver> [...]
//		master_token  {env.NAME}|{file./path}|MT_<id>_sha256:<hash> {
//			name           <label>
//			description    <text>
//			tenant_prefix  <prefix>
//			allow_ip_masks <masks...>
//			max_tokens       <count>
//			max_bytes        <size>
//			calls_per_second <count>
//		}
//		bandwidth {
//			default_ingress <KB/s>
//			default_egress  <KB/s>
//			max             <KB/s>
//			token_ingress   <KB/s>
//			token_egress    <KB/s>
//			tenant_ingress  <KB/s>
//			tenant_egress   <KB/s>
//		}
//		limits {
//			max_payload                   <size>
//			max_subscriptions             <count>
//			max_pattern_shapes            <count>
//			max_pattern_shapes_per_tenant <count>
//			max_patterns                  <count>
//			max_patterns_per_tenant       <count>
//			max_patterns_per_token        <count>
//			tenant_share                  <percent>
//			max_connections               <count>
//			max_connections_per_token     <count>
//			max_connections_per_tenant    <count>
//			max_connections_per_address   <count>
//			send_queue                    <size>
//			queue_memory                  <size>
//			max_tokens_per_master         <count>
//			max_token_bytes_per_master    <size>
//			max_calls_per_master          <count>
//		}
//		metrics {
//			tenants <max>
//		}
//		slow_consumer drop|disconnect
//		drain         <duration>
//		allow_plaintext
//		webtransport  on|off
//	}
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Err("the block pubsub stands here twice")
	}
	a := new(App)
	d.Next() // consume the option's name
	if d.NextArg() {
		return nil, d.ArgErr()
	}
	if err := a.unmarshalBlock(d); err != nil {
		// It quotes what stands in a wrong place, which may be a master token.
		if text := err.Error(); tokenShape.MatchString(text) {
			err = errors.New(tokenShape.ReplaceAllLiteralString(text, credentials.Redacted))
		}
		return nil, err
	}
	return httpcaddyfile.App{Name: "pubsub", Value: caddyconfig.JSON(a, nil)}, nil
}

func (a *App) unmarshalBlock(d *caddyfile.Dispenser) error {
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] && option != "master_token" {
			return d.Errf("%s stands here twice", option)
		}
		seen[option] = true
		var err error
		switch option {
		case "region":
			a.Region, err = args.One(d)
		case "regions":
			if a.Regions = d.RemainingArgs(); len(a.Regions) == 0 {
				err = d.ArgErr()
			}
		case "token_store":
			a.TokenStoreRaw, err = unmarshalGuest(d, "pubsub.token_stores.")
		case "broker":
			a.BrokerRaw, err = unmarshalGuest(d, "pubsub.brokers.")
		case "master_token":
			err = a.unmarshalMasterToken(d)
		case "bandwidth":
			err = numbers(d, "a whole number of KB/s", map[string]*int{
				"default_ingress": &a.Bandwidth.DefaultIngress,
				"default_egress":  &a.Bandwidth.DefaultEgress,
				"max":             &a.Bandwidth.Max,
				"token_ingress":   &a.Bandwidth.TokenIngress,
				"token_egress":    &a.Bandwidth.TokenEgress,
				"tenant_ingress":  &a.Bandwidth.TenantIngress,
				"tenant_egress":   &a.Bandwidth.TenantEgress,
			})
		case "limits":
			connections, patterns, tokenBytes := -1, -1, 0
			err = numbers(d, args.Count, map[string]*int{
				"max_payload":                   &a.Limits.MaxPayload,
				"max_subscriptions":             &a.Limits.MaxSubscriptions,
				"max_pattern_shapes":            &a.Limits.MaxPatternShapes,
				"max_pattern_shapes_per_tenant": &a.Limits.MaxPatternShapesPerTenant,
				"max_patterns":                  &patterns,
				"max_patterns_per_tenant":       &a.Limits.MaxPatternsPerTenant,
				"max_patterns_per_token":        &a.Limits.MaxPatternsPerToken,
				"tenant_share":                  &a.Limits.TenantShare,
				"max_connections":               &connections,
				"max_connections_per_token":     &a.Limits.MaxConnectionsPerToken,
				"max_connections_per_tenant":    &a.Limits.MaxConnectionsPerTenant,
				"max_connections_per_address":   &a.Limits.MaxConnectionsPerAddress,
				"send_queue":                    &a.Limits.SendQueue,
				"queue_memory":                  &a.Limits.QueueMemory,
				"max_tokens_per_master":         &a.Limits.MaxTokensPerMaster,
				"max_token_bytes_per_master":    &tokenBytes,
				"max_calls_per_master":          &a.Limits.MaxCallsPerMaster,
			}, "max_payload", "send_queue")
			a.Limits.MaxTokenBytesPerMaster = int64(tokenBytes)
			if connections >= 0 {
				a.Limits.MaxConnections = &connections
			}
			if patterns >= 0 {
				a.Limits.MaxPatterns = &patterns
			}
		case "metrics":
			err = numbers(d, args.Count, map[string]*int{"tenants": &a.Metrics.Tenants})
		case "slow_consumer":
			a.SlowConsumer, err = args.One(d)
		case "drain":
			a.Drain, err = args.Duration(d)
		case "webtransport":
			args := d.RemainingArgs()
			if len(args) != 1 || args[0] != "on" && args[0] != "off" {
				err = d.Errf("webtransport: must be on or off, got %q", strings.Join(args, " "))
				break
			}
			a.WebTransport = args[0]
		case "allow_plaintext":
			a.AllowPlaintext = true
			if d.NextArg() {
				err = d.ArgErr()
			}
		default:
			err = d.Errf("unknown option %s; allowed: region, regions, token_store, broker, master_token, "+
				"bandwidth, limits, metrics, slow_consumer, drain, allow_plaintext, webtransport", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *App) unmarshalMasterToken(d *caddyfile.Dispenser) error {
	var m MasterToken
	if !d.NextArg() {
		return d.ArgErr()
	}
	// What is no placeholder or hash never gets into the configuration.
	if m.Token = d.Val(); !args.Placeholder.MatchString(m.Token) && !hashForm.MatchString(m.Token) {
		return d.Errf("master_token: %v", errLiteralSecret)
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch option := d.Val(); option {
		case "name":
			m.Name, err = args.One(d)
		case "description":
			m.Description, err = args.One(d)
		case "tenant_prefix":
			m.TenantPrefix, err = args.One(d)
		case "allow_ip_masks":
			if m.AllowIPMasks = append(m.AllowIPMasks, d.RemainingArgs()...); len(m.AllowIPMasks) == 0 {
				err = d.ArgErr()
			}
		case "max_tokens":
			m.MaxTokens, err = args.Number(d, args.Count)
		case "max_bytes":
			m.MaxBytes, err = args.DiskSize(d)
		case "calls_per_second":
			m.CallsPerSecond, err = args.Number(d, args.Count)
		default:
			err = d.Errf("unknown option %s of master_token; allowed: name, description, tenant_prefix, allow_ip_masks, "+
				"max_tokens, max_bytes, calls_per_second", option)
		}
		if err != nil {
			return err
		}
	}
	a.MasterTokens = append(a.MasterTokens, m)
	return nil
}

// unmarshalGuest parses a driver's name and leaves the rest to it.
func unmarshalGuest(d *caddyfile.Dispenser, namespace string) ([]byte, error) {
	if !d.NextArg() {
		return nil, d.ArgErr()
	}
	driver := d.Val()
	var drivers []string
	for _, m := range caddy.GetModules(strings.TrimSuffix(namespace, ".")) {
		drivers = append(drivers, m.ID.Name())
	}
	if !slices.Contains(drivers, driver) {
		return nil, d.Errf("unknown driver %s; this build has: %s", driver, strings.Join(drivers, ", "))
	}
	guest, err := caddyfile.UnmarshalModule(d, namespace+driver)
	if err != nil {
		return nil, err
	}
	return caddyconfig.JSONModuleObject(guest, "driver", driver, nil), nil
}

// largeSizes are sizes of what a whole edge has.
var largeSizes = []string{"queue_memory", "max_token_bytes_per_master"}

// numbers parses a block of options with a number each, which may have a unit in
// those that are sizes, largeSizes among them. kind is what the others are, for errors.
func numbers(d *caddyfile.Dispenser, kind string, into map[string]*int, sizes ...string) error {
	return args.Block(d, into, func(option string) (int, error) {
		switch {
		case slices.Contains(largeSizes, option):
			n, err := args.DiskSize(d)
			return int(n), err
		case slices.Contains(sizes, option):
			return args.Size(d)
		}
		return args.Number(d, kind)
	})
}
