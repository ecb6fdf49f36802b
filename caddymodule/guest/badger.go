package guest

import (
	"fmt"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/badger"
)

func init() { caddy.RegisterModule(new(BadgerStore)) }

// BadgerStore keeps tokens in an embedded database on this machine's disk. Every
// write is on disk before it is acknowledged. One process at a time can open it.
type BadgerStore struct {
	// Path of the database's folder, made if missing. Default: `pubsub/tokens`
	// in Caddy's data directory.
	Path string `json:"path,omitempty"`

	// Reserve is how many bytes the disk must have free for changes of tokens:
	// with less, they are refused with `insufficient_storage`, and all else goes
	// on, until 64 MiB more are free. 64 MiB to 1 TiB. Default: 268435456, 256
	// MiB. Zero: the disk is not looked at, and a full one ends the process.
	Reserve *int64 `json:"reserve,omitempty"`
}

// CaddyModule implements [caddy.Module].
func (*BadgerStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.token_stores.badger", New: func() caddy.Module { return new(BadgerStore) }}
}

// Provision implements [caddy.Provisioner].
func (s *BadgerStore) Provision(caddy.Context) error {
	if err := args.Resolve(s); err != nil {
		return err
	}
	if s.Path == "" {
		s.Path = filepath.Join(caddy.AppDataDir(), "pubsub", "tokens")
	}
	if s.Reserve == nil {
		s.Reserve = new(int64(badger.DefaultReserve))
	}
	if n := *s.Reserve; n != 0 && (n < badger.MinReserve || n > maxReserve) {
		return fmt.Errorf("reserve: must be 0, or from %d to %d bytes", badger.MinReserve, int64(maxReserve))
	}
	path, err := filepath.Abs(s.Path)
	s.Path = path
	return err
}

const maxReserve = 1 << 40

// StoreKey implements [StoreModule].
func (s *BadgerStore) StoreKey() string { return "badger:" + s.Path }

// OpenStore implements [StoreModule].
func (s *BadgerStore) OpenStore(log *zap.Logger) (tokenstore.Store, error) {
	return badger.Open(badger.Config{Dir: s.Path, Reserve: *s.Reserve, Log: log})
}

// ConfigureStore implements [StoreConfigurer].
func (s *BadgerStore) ConfigureStore(store tokenstore.Store) {
	if store, ok := store.(*badger.Store); ok {
		store.SetReserve(*s.Reserve)
	}
}

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax:
//
//	token_store badger [<path>] {
//		reserve <size>
//	}
func (s *BadgerStore) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if d.NextArg() {
		s.Path = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if option := d.Val(); option != "reserve" {
			return d.Errf("unknown option %s of token_store badger; allowed: reserve", option)
		}
		bytes, err := args.DiskSize(d)
		if err != nil {
			return err
		}
		s.Reserve = &bytes
	}
	return nil
}

var (
	_ StoreModule           = (*BadgerStore)(nil)
	_ StoreConfigurer       = (*BadgerStore)(nil)
	_ caddy.Provisioner     = (*BadgerStore)(nil)
	_ caddyfile.Unmarshaler = (*BadgerStore)(nil)
)
