package guest

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
)

func init() { caddy.RegisterModule(new(MemoryBroker)) }

// MemoryBroker is the broker of a single edge.
type MemoryBroker struct{}

// CaddyModule implements [caddy.Module].
func (*MemoryBroker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.brokers.memory", New: func() caddy.Module { return new(MemoryBroker) }}
}

// BrokerKey implements [BrokerModule].
func (*MemoryBroker) BrokerKey() string { return "memory" }

// OpenBroker implements [BrokerModule].
func (*MemoryBroker) OpenBroker(*zap.Logger) (pubsub.Broker, error) { return memory.New(), nil }

// SingleEdge implements [SingleEdge].
func (*MemoryBroker) SingleEdge() {}

// UnmarshalCaddyfile sets up the broker from Caddyfile tokens. Syntax:
//
//	broker memory
func (*MemoryBroker) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if d.NextArg() {
		return d.ArgErr()
	}
	if d.NextBlock(d.Nesting()) {
		return d.Errf("broker memory takes no options")
	}
	return nil
}

var (
	_ BrokerModule          = (*MemoryBroker)(nil)
	_ caddyfile.Unmarshaler = (*MemoryBroker)(nil)
)
