package caddymodule

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/console"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/handler"
	"github.com/millrace/millrace/pubsub"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("pubsub", parseGlobalOption)

	httpcaddyfile.RegisterHandlerDirective("pubsub_guard", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		g := new(guard.Guard)
		return g, g.UnmarshalCaddyfile(h.Dispenser)
	})
	registerDirective("pubsub_ping", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &handler.Ping{Path: path}
	}))
	registerDirective("pubsub_ready", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &handler.Ready{Path: path}
	}))
	registerDirective("pubsub_tokens", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &handler.Tokens{Path: strings.TrimSuffix(path, "/*")}
	}))
	registerDirective("pubsub_websocket", pathDirective(func(path string) caddyhttp.MiddlewareHandler {
		return &handler.WebSocket{Path: path}
	}))
	registerDirective("pubsub_webtransport", parseWebTransport)
	registerDirective("pubsub_edges", parseEdges)
	registerDirective("pubsub_console", parseConsole)
	registerDirective("pubsub_openapi", plainDirective(func() []caddyhttp.MiddlewareHandler {
		return []caddyhttp.MiddlewareHandler{new(handler.OpenAPI)}
	}))
	registerDirective("pubsub_sdk", plainDirective(func() []caddyhttp.MiddlewareHandler {
		return []caddyhttp.MiddlewareHandler{new(handler.SDK)}
	}))
	registerDirective("pubsub", plainDirective(func() []caddyhttp.MiddlewareHandler {
		return []caddyhttp.MiddlewareHandler{new(handler.Ping), new(handler.Tokens), new(handler.WebSocket), new(handler.WebTransport)}
	}))

	// The guard before everything, the others before whatever answers all paths:
	// `handle`, `respond`, `reverse_proxy`, `file_server`.
	httpcaddyfile.RegisterDirectiveOrder("pubsub_guard", httpcaddyfile.Before, "tracing")
	for _, d := range []string{"pubsub", "pubsub_ping", "pubsub_ready", "pubsub_tokens", "pubsub_websocket", "pubsub_webtransport", "pubsub_edges", "pubsub_console", "pubsub_openapi", "pubsub_sdk"} {
		httpcaddyfile.RegisterDirectiveOrder(d, httpcaddyfile.Before, "handle")
	}
}

// registerDirective registers a directive whose values miss no environment variable.
func registerDirective(name string, parse httpcaddyfile.UnmarshalFunc) {
	httpcaddyfile.RegisterDirective(name, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if err := args.CheckVariables(h.Dispenser); err != nil {
			return nil, err
		}
		return parse(h)
	})
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
		for _, m := range handlers() {
			routes = append(routes, h.NewRoute(matcher, m)...)
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
func pathDirective(newHandler func(path string) caddyhttp.MiddlewareHandler) httpcaddyfile.UnmarshalFunc {
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
		if strings.Contains(p, "*") || handler.TrailingSlash(p) || p == "" && path != "" {
			return nil, h.Errf("%s: the path is compared exactly: no wildcard, no trailing slash", name)
		}
		if p == "/" && name == "pubsub_tokens" {
			return nil, h.Errf("pubsub_tokens: the calls need a path above them, like /v1/*")
		}
		return h.NewRoute(matcher, newHandler(path)), nil
	}
}

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

// parseWebTransport parses WebTransport. Syntax:
//
//	pubsub_webtransport [@matcher] [<path>] {   # /wt
//		fastpubsub_sdk
//	}
func parseWebTransport(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	matcher, name, path, err := matcherAndPath(h)
	if err != nil {
		return nil, err
	}
	if h.NextArg() || path != "" && !strings.HasPrefix(path, "/") {
		return nil, h.Errf("%s takes at most a named matcher, a path, which starts with a slash, and a block", name)
	}
	if strings.Contains(path, "*") || handler.TrailingSlash(path) {
		return nil, h.Errf("%s: the path is compared exactly: no wildcard, no trailing slash", name)
	}
	wt := &handler.WebTransport{Path: path}
	for h.NextBlock(0) {
		if h.Val() != "fastpubsub_sdk" || h.NextArg() || h.NextBlock(1) {
			return nil, h.Errf("%s: the only option is fastpubsub_sdk, which takes no value", name)
		}
		wt.FastpubsubSDK = true
	}
	return h.NewRoute(matcher, wt), nil
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
	if h.NextArg() || path != "" && (!strings.HasPrefix(path, "/") || strings.Contains(path, "*") || handler.TrailingSlash(path)) {
		return nil, h.Errf("%s takes at most a named matcher and a path, which starts with a slash and is compared exactly, and a block", name)
	}
	edges := &handler.Edges{Path: path}
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

// parseConsole parses the console, whose block [console.Console.UnmarshalBlock] tells.
func parseConsole(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	matcher, name, path, err := matcherAndPath(h)
	if err != nil {
		return nil, err
	}
	if h.NextArg() || path != "" && (!strings.HasPrefix(path, "/") || strings.Contains(path, "*") || strings.HasSuffix(path, "/")) {
		return nil, h.Errf("%s takes at most a named matcher and a path, which starts with a slash and does not end with one, and a block", name)
	}
	page := &console.Console{Path: path}
	if err := page.UnmarshalBlock(h.Dispenser); err != nil {
		return nil, err
	}
	return h.NewRoute(matcher, page), nil
}
