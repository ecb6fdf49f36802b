package guest

import (
	"fmt"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/badger"
)

func init() { caddy.RegisterModule(new(BadgerHistoryStore)) }

// BadgerHistoryStore keeps histories in an embedded database on this machine's disk. What
// was stored survives the end of the process. One process at a time can open it.
type BadgerHistoryStore struct {
	// Path of the database's folder, made if missing. Default: `pubsub/histories` in
	// Caddy's data directory.
	Path string `json:"path,omitempty"`

	// Sync is `on` if messages are on disk before they count as stored, and so survive a
	// power loss, or `off`. Default: `off`: after a power loss clients are notified of a gap.
	Sync string `json:"sync,omitempty"`

	// Reserve is how many bytes the disk must have free for messages to be stored: with
	// less, publishes to kept channels are answered `history_unavailable`. 64 MiB to 1 TiB.
	// Default: 268435456, 256 MiB. Zero: the disk is not looked at, and a full one ends the
	// process.
	Reserve *int64 `json:"reserve,omitempty"`
}

// CaddyModule implements [caddy.Module].
func (*BadgerHistoryStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.history_stores.badger", New: func() caddy.Module { return new(BadgerHistoryStore) }}
}

// Provision implements [caddy.Provisioner].
func (s *BadgerHistoryStore) Provision(caddy.Context) (err error) {
	if err := args.Resolve(s); err != nil {
		return err
	}
	if s.Path == "" {
		s.Path = filepath.Join(caddy.AppDataDir(), "pubsub", "histories")
	}
	if s.Sync != "" && s.Sync != "on" && s.Sync != "off" {
		return fmt.Errorf("sync: must be on or off")
	}
	if s.Reserve == nil {
		s.Reserve = new(int64(badger.DefaultReserve))
	}
	if n := *s.Reserve; n != 0 && (n < minHistoryReserve || n > maxReserve) {
		return fmt.Errorf("reserve: must be 0, or from %d to %d bytes", minHistoryReserve, int64(maxReserve))
	}
	s.Path, err = filepath.Abs(s.Path)
	return err
}

const minHistoryReserve = 64 << 20

// HistoryStoreKey implements [HistoryStoreModule].
func (s *BadgerHistoryStore) HistoryStoreKey() string { return "badger:" + s.Path }

// OpenHistoryStore implements [HistoryStoreModule].
func (s *BadgerHistoryStore) OpenHistoryStore(log *zap.Logger) (history.Store, error) {
	return badger.Open(badger.Config{
		Dir: s.Path, Sync: s.Sync == "on", Reserve: *s.Reserve, Cache: badger.DefaultCache, Log: log,
	})
}

// ConfigureHistoryStore implements [HistoryStoreConfigurer].
func (s *BadgerHistoryStore) ConfigureHistoryStore(store history.Store) error {
	if store, ok := store.(*badger.Store); ok {
		return store.SetOptions(s.Sync == "on", *s.Reserve)
	}
	return nil
}

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax:
//
//	history_store badger [<path>] {
//		sync    on|off
//		reserve <size>
//	}
func (s *BadgerHistoryStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if d.NextArg() {
		s.Path = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch option := d.Val(); option {
		case "sync":
			s.Sync, err = args.One(d)
		case "reserve":
			var bytes int64
			bytes, err = args.DiskSize(d)
			s.Reserve = &bytes
		default:
			err = d.Errf("unknown option %s of history_store badger; allowed: sync, reserve", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	_ HistoryStoreModule     = (*BadgerHistoryStore)(nil)
	_ HistoryStoreConfigurer = (*BadgerHistoryStore)(nil)
	_ caddy.Provisioner      = (*BadgerHistoryStore)(nil)
	_ caddyfile.Unmarshaler  = (*BadgerHistoryStore)(nil)
)
