package plugin

import (
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// Store is the skeleton of a token store, for docs/extending.md.
type Store struct {
	// Path of the database. Required.
	Path string `json:"path"`
}

// CaddyModule implements [caddy.Module].
func (*Store) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.token_stores.example", New: func() caddy.Module { return new(Store) }}
}

// StoreKey implements [guest.StoreModule].
func (s *Store) StoreKey() string { return "example:" + s.Path }

// OpenStore implements [guest.StoreModule].
func (s *Store) OpenStore(*zap.Logger) (tokenstore.Store, error) { return open(s.Path) }

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax:
//
//	token_store example <path>
func (s *Store) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if !d.AllArgs(&s.Path) {
		return d.ArgErr()
	}
	return nil
}

var _ guest.StoreModule = (*Store)(nil)

// open stands for what opens the database.
func open(string) (tokenstore.Store, error) { return storetest.NewMemory(), nil }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) tokenstore.Store {
		store, err := open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	})
}
