package nats

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/nats"
)

func init() { caddy.RegisterModule(new(HistoryStore)) }

// HistoryStore keeps histories in streams of NATS JetStream, which the edges of `broker
// nats` share. It uses the link and the prefix of that broker, with a connection of its own.
type HistoryStore struct {
	// Replicas of a stream that is created, 1 to 5: how many servers hold each message.
	// Default, and zero: 1.
	Replicas int `json:"replicas,omitempty"`
	// Storage of a stream that is created: `file` or `memory`. Messages in memory are lost
	// when its servers end. Default: `file`.
	Storage string `json:"storage,omitempty"`
	// CacheBytes bounds the newest payloads of each history that the edge has in its
	// memory. 1 MiB to 1 GiB. Default, and zero: 16777216, 16 MiB.
	CacheBytes int64 `json:"cache,omitempty"`

	broker *Broker
}

const (
	maxHistoryReplicas = 5
	defaultCacheBytes  = 16 << 20
	minCacheBytes      = 1 << 20
	maxCacheBytes      = 1 << 30
)

// CaddyModule implements [caddy.Module].
func (*HistoryStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.history_stores.nats", New: func() caddy.Module { return new(HistoryStore) }}
}

// Provision implements [caddy.Provisioner]. It connects to nothing.
func (s *HistoryStore) Provision(caddy.Context) error {
	if err := args.Resolve(s); err != nil {
		return err
	}
	if s.Replicas == 0 {
		s.Replicas = 1
	}
	if s.Storage == "" {
		s.Storage = "file"
	}
	if s.CacheBytes == 0 {
		s.CacheBytes = defaultCacheBytes
	}
	switch {
	case s.Replicas < 1 || s.Replicas > maxHistoryReplicas:
		return fmt.Errorf("replicas: must be from 1 to %d", maxHistoryReplicas)
	case s.Storage != "file" && s.Storage != "memory":
		return errors.New("storage: must be file or memory")
	case s.CacheBytes < minCacheBytes || s.CacheBytes > maxCacheBytes:
		return fmt.Errorf("cache: must be from %d to %d bytes", minCacheBytes, maxCacheBytes)
	}
	return nil
}

// UseBroker implements [guest.SharedHistoryStore].
func (s *HistoryStore) UseBroker(broker guest.BrokerModule) error {
	b, ok := broker.(*Broker)
	if !ok {
		return errors.New("it needs broker nats, whose link it uses")
	}
	s.broker = b
	return nil
}

// HistoryStoreKey implements [guest.HistoryStoreModule].
func (s *HistoryStore) HistoryStoreKey() string {
	return fmt.Sprintf("nats:%s %s", s.broker.Prefix, s.broker.key())
}

// ConfigureHistoryStore implements [guest.HistoryStoreConfigurer].
func (s *HistoryStore) ConfigureHistoryStore(store history.Store) error {
	if leased, ok := store.(*leasedHistoryStore); ok {
		leased.SetOptions(s.options())
	}
	return nil
}

func (s *HistoryStore) options() nats.Options {
	storage := jetstream.FileStorage
	if s.Storage == "memory" {
		storage = jetstream.MemoryStorage
	}
	return nats.Options{Replicas: s.Replicas, Storage: storage, CacheBytes: s.CacheBytes}
}

// OpenHistoryStore implements [guest.HistoryStoreModule].
func (s *HistoryStore) OpenHistoryStore(log *zap.Logger) (history.Store, error) {
	conn, err := s.broker.newConnection("history", log)
	if err != nil {
		return nil, err
	}
	store, err := nats.Open(nats.Config{
		Options: s.options(), Connect: conn.connect, Prefix: s.broker.Prefix, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return &leasedHistoryStore{store, conn}, nil
}

// leasedHistoryStore is a store with its connection.
type leasedHistoryStore struct {
	*nats.Store
	conn *connection
}

// Close implements [history.Store].
func (s *leasedHistoryStore) Close() error { return errors.Join(s.Store.Close(), s.conn.close()) }

// LinkState implements [guest.LinkReporter].
func (s *leasedHistoryStore) LinkState() guest.LinkState {
	since, err := s.Fault()
	return s.conn.state("history", since, err)
}

// States implements [history.Shared].
func (s *leasedHistoryStore) States() map[string]history.State {
	all := s.Store.States()
	for name, state := range all {
		if err := cmp.Or(state.Err, state.Pending); err != nil {
			state.Reason = troubleOf(err).Reason
			all[name] = state
		}
	}
	return all
}

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax:
//
//	history_store nats {
//		replicas 1|2|3|4|5
//		storage  file|memory
//		cache    <size>
//	}
func (s *HistoryStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if d.NextArg() {
		return d.Err("history_store nats takes no servers: it uses those of broker nats")
	}
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s is given twice", option)
		}
		seen[option] = true
		var err error
		switch option {
		case "replicas":
			s.Replicas, err = args.Number(d, "a number from 1 to 5")
		case "storage":
			s.Storage, err = args.One(d)
		case "cache":
			s.CacheBytes, err = args.DiskSize(d)
		default:
			err = d.Errf("unknown option %s of history_store nats; allowed: replicas, storage, cache", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	_ guest.HistoryStoreModule     = (*HistoryStore)(nil)
	_ guest.SharedHistoryStore     = (*HistoryStore)(nil)
	_ guest.HistoryStoreConfigurer = (*HistoryStore)(nil)
	_ history.Shared               = (*leasedHistoryStore)(nil)
	_ guest.LinkReporter           = (*leasedHistoryStore)(nil)
	_ caddy.Provisioner            = (*HistoryStore)(nil)
	_ caddyfile.Unmarshaler        = (*HistoryStore)(nil)
)
