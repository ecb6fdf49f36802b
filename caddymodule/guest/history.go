package guest

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
)

func init() { caddy.RegisterModule(new(MemoryHistoryStore)) }

// HistoryStoreModule is a guest of the namespace `pubsub.history_stores`.
type HistoryStoreModule interface {
	// HistoryStoreKey identifies the store: configurations with an equal key, and the same
	// token store and broker, share it.
	HistoryStoreKey() string
	// OpenHistoryStore opens the store. It outlives the configuration that opens it, and
	// so does the logger.
	OpenHistoryStore(*zap.Logger) (history.Store, error)
}

// HistoryStoreConfigurer is a [HistoryStoreModule] some of whose options are not in its
// key: the current configuration sets them on the store that it shares with others.
type HistoryStoreConfigurer interface {
	ConfigureHistoryStore(history.Store) error
}

// SingleEdge is a [BrokerModule] of an edge without others, whose histories are its own.
type SingleEdge interface{ SingleEdge() }

// HistorySharer is a [BrokerModule] that joins edges, and that a [SharedHistoryStore] can
// use. Where a broker is neither this nor a [SingleEdge], there are no histories.
type HistorySharer interface {
	// SharedHistoryStore names the module of the namespace `pubsub.history_stores` that is
	// used where the configuration names none: its driver, as `nats`.
	SharedHistoryStore() string
}

// SharedHistoryStore is a [HistoryStoreModule] for the edges that a broker joins: the store
// that it opens is a [history.Shared]. It is used with a [HistorySharer] alone, and no other
// module is used with one: edges with stores of their own would not agree on positions.
type SharedHistoryStore interface {
	// UseBroker gives the module the broker of its configuration, with what it needs of
	// it, as its link. It is called once, when both are provisioned and before
	// HistoryStoreKey; an error refuses the configuration.
	UseBroker(BrokerModule) error
}

// MemoryHistoryStore keeps histories in memory: they end with the process, and clients that
// come back after that are notified of a gap.
type MemoryHistoryStore struct{}

// CaddyModule implements [caddy.Module].
func (*MemoryHistoryStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.history_stores.memory", New: func() caddy.Module { return new(MemoryHistoryStore) }}
}

// HistoryStoreKey implements [HistoryStoreModule].
func (*MemoryHistoryStore) HistoryStoreKey() string { return "memory" }

// OpenHistoryStore implements [HistoryStoreModule].
func (*MemoryHistoryStore) OpenHistoryStore(*zap.Logger) (history.Store, error) {
	return memory.New(), nil
}

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax:
//
//	history_store memory
func (*MemoryHistoryStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if d.NextArg() {
		return d.ArgErr()
	}
	if d.NextBlock(d.Nesting()) {
		return d.Errf("history_store memory takes no options")
	}
	return nil
}

var (
	_ HistoryStoreModule    = (*MemoryHistoryStore)(nil)
	_ caddyfile.Unmarshaler = (*MemoryHistoryStore)(nil)
	_ SingleEdge            = (*MemoryBroker)(nil)
)
