package unixbroker

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
)

func init() { caddy.RegisterModule(new(Module)) }

// Module joins the edges of one machine through Unix sockets.
type Module struct {
	// Folder of the sockets, at most 80 bytes as an absolute path, and accessible to
	// its owner alone (mode 0700). It is made if it is missing. Edges with the same one
	// are one overlay. Required; placeholders are replaced.
	Folder string `json:"folder"`
}

// maxFolder leaves room for a socket's name: the path of a Unix socket has at most 103
// bytes on macOS, 107 on Linux.
const maxFolder = 80

// CaddyModule implements [caddy.Module].
func (*Module) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.brokers.unix", New: func() caddy.Module { return new(Module) }}
}

// Provision implements [caddy.Provisioner]. It opens nothing.
func (m *Module) Provision(caddy.Context) error {
	if err := args.Resolve(m); err != nil {
		return err
	}
	if m.Folder == "" {
		return errors.New("folder: must name the folder of the sockets")
	}
	var err error
	if m.Folder, err = filepath.Abs(m.Folder); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	if len(m.Folder) > maxFolder {
		return fmt.Errorf("folder: must have at most %d bytes as an absolute path, %s has %d", maxFolder, m.Folder, len(m.Folder))
	}
	return nil
}

// BrokerKey implements [guest.BrokerModule].
func (m *Module) BrokerKey() string { return "unix:" + m.Folder }

// OpenBroker implements [guest.BrokerModule].
func (m *Module) OpenBroker(log *zap.Logger) (pubsub.Broker, error) { return New(m.Folder, log) }

// UnmarshalCaddyfile sets up the broker from Caddyfile tokens. Syntax:
//
//	broker unix <folder>
func (m *Module) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the driver's name
	if !d.AllArgs(&m.Folder) {
		return d.Err("broker unix wants one argument, the folder of the sockets")
	}
	if d.NextBlock(d.Nesting()) {
		return d.Err("broker unix takes no options")
	}
	return nil
}

var (
	_ guest.BrokerModule    = (*Module)(nil)
	_ caddy.Provisioner     = (*Module)(nil)
	_ caddyfile.Unmarshaler = (*Module)(nil)
)
