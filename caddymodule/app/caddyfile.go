package app

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
)

// UnmarshalCaddyfile sets up the app from Caddyfile tokens: the global options block.
// An error may quote a token that stands in a wrong place. Syntax:
//
//	pubsub {
//		region        <name>
//		regions       <names...>
//		token_store   <driver> [...]
//		broker        <driver> [...]
//		history       <name> {
//			tenants  <names...>
//			channels <patterns...>
//			messages <count>
//			age      <duration>
//			size     <size>
//			max_lag  <duration>
//		}
//		history_store <driver> [...]
//		presence      <name> {
//			tenants  <names...>
//			channels <patterns...>
//			members  <count>
//			linger   <duration>
//		}
//		hook          <name> [...]
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
//			issuer_share                  <percent>
//			max_connections               <count>
//			max_connections_per_token     <count>
//			max_connections_per_tenant    <count>
//			max_connections_per_address   <count>
//			max_connections_per_subject   <count>
//			send_queue                    <size>
//			queue_memory                  <size>
//			right_memory                  <size>
//			connection_memory             <size>
//			max_tokens_per_master         <count>
//			max_token_bytes_per_master    <size>
//			max_calls_per_master          <count>
//		}
//		metrics {
//			tenants <max>
//		}
//		slow_consumer drop|disconnect
//		drain         <duration>
//		remote_operators manage|view|off
//		allow_plaintext
//		webtransport  on|off
//	}
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the option's name
	if d.NextArg() {
		return d.ArgErr()
	}
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] && option != "master_token" && option != "hook" && option != "history" && option != "presence" {
			return d.Errf("%s is given twice", option)
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
			a.TokenStoreRaw, err = unmarshalGuest(d, "pubsub.token_stores", "driver")
		case "broker":
			a.BrokerRaw, err = unmarshalGuest(d, "pubsub.brokers", "driver")
		case "history":
			err = a.unmarshalHistory(d)
		case "history_store":
			a.HistoryStoreRaw, err = unmarshalGuest(d, "pubsub.history_stores", "driver")
		case "presence":
			err = a.unmarshalPresence(d)
		case "hook":
			var raw json.RawMessage
			raw, err = unmarshalGuest(d, "pubsub.hooks", "hook")
			a.HooksRaw = append(a.HooksRaw, raw)
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
				"issuer_share":                  &a.Limits.IssuerShare,
				"max_connections":               &connections,
				"max_connections_per_token":     &a.Limits.MaxConnectionsPerToken,
				"max_connections_per_tenant":    &a.Limits.MaxConnectionsPerTenant,
				"max_connections_per_address":   &a.Limits.MaxConnectionsPerAddress,
				"max_connections_per_subject":   &a.Limits.MaxConnectionsPerSubject,
				"send_queue":                    &a.Limits.SendQueue,
				"queue_memory":                  &a.Limits.QueueMemory,
				"right_memory":                  &a.Limits.RightMemory,
				"connection_memory":             &a.Limits.ConnectionMemory,
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
		case "remote_operators":
			a.RemoteOperators, err = args.One(d)
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
			err = d.Errf("unknown option %s; allowed: region, regions, token_store, broker, history, history_store, presence, hook, master_token, "+
				"bandwidth, limits, metrics, slow_consumer, drain, remote_operators, allow_plaintext, webtransport", option)
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

// unmarshalGuest parses the name of a guest of a namespace and leaves the rest to it; key
// is where the name stands in JSON, and what errors call a guest.
func unmarshalGuest(d *caddyfile.Dispenser, namespace, key string) (json.RawMessage, error) {
	if !d.NextArg() {
		return nil, d.ArgErr()
	}
	name := d.Val()
	var names []string
	for _, m := range caddy.GetModules(namespace) {
		names = append(names, m.ID.Name())
	}
	if !slices.Contains(names, name) {
		return nil, d.Errf("unknown %s %s; this build has: %s", key, name, strings.Join(names, ", "))
	}
	guest, err := caddyfile.UnmarshalModule(d, namespace+"."+name)
	if err != nil {
		return nil, err
	}
	return caddyconfig.JSONModuleObject(guest, key, name, nil), nil
}

// largeSizes are sizes of what a whole edge has.
var largeSizes = []string{"queue_memory", "right_memory", "connection_memory", "max_token_bytes_per_master"}

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

var _ caddyfile.Unmarshaler = (*App)(nil)
