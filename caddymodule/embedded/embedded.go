// Package embedded runs a NATS server inside an edge: `broker nats { embedded }`.
// A build that does not import it does not contain the server.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"

	_ "github.com/millrace/millrace/caddymodule" // a build that names this package alone has the edge, too
	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	natsguest "github.com/millrace/millrace/caddymodule/nats"
)

func init() { caddy.RegisterModule(new(Server)) }

// Server is a NATS server with JetStream inside the edge. Without any option it
// serves only this edge; with Cluster, the servers of several edges form a cluster.
type Server struct {
	// Name of the server, unique in its cluster. JetStream finds its data by this name,
	// so it must stay the same. Default: the machine's host name.
	Name string `json:"name,omitempty"`
	// Dir is the folder of JetStream's data. Default: `pubsub/nats` in Caddy's data
	// directory.
	Dir string `json:"dir,omitempty"`
	// MaxStore bounds what JetStream keeps on disk, in bytes. Default, and zero: 1
	// GiB.
	MaxStore int64 `json:"max_store,omitempty"`
	// Cluster connects the server with those of other edges. Default: none.
	Cluster *Cluster `json:"cluster,omitempty"`
	// Config is the path of a configuration file of nats-server, for features without
	// an option here: accounts, leaf nodes, gateways. No other option may be set
	// beside it. Default: none.
	Config string `json:"config,omitempty"`

	secrets string // a keyed hash of the secrets, which ServerKey must not show
}

const (
	defaultMaxStore = 1 << 30
	// maxPayload has room for the largest message that an edge can be configured to accept.
	maxPayload = 17 << 20
)

// startTimeout is how long a server may take to start.
const startTimeout = 20 * time.Second

// servers holds the running server, by its key: see OpenServer.
var (
	serversMu sync.Mutex // makes a lookup and the start or stop that follows it one step
	servers   = caddy.NewUsagePool()
)

// CaddyModule implements [caddy.Module].
func (*Server) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.nats.embedded", New: func() caddy.Module { return new(Server) }}
}

var name = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// Provision implements [caddy.Provisioner]. It starts nothing.
func (s *Server) Provision(caddy.Context) error {
	if err := args.Resolve(s); err != nil {
		return err
	}
	if s.Config != "" {
		if s.Name != "" || s.Dir != "" || s.MaxStore != 0 || s.Cluster != nil {
			return errors.New("config: set the other options in that file")
		}
		path, err := filepath.Abs(s.Config)
		if err != nil {
			return err
		}
		s.Config = path
		return s.check()
	}
	if s.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("name: %w", err)
		}
		s.Name = host
	}
	if !name.MatchString(s.Name) {
		return errors.New("name: must be 1 to 128 letters, digits, dots, _ and -")
	}
	if s.Dir == "" {
		s.Dir = filepath.Join(caddy.AppDataDir(), "pubsub", "nats")
	}
	if s.MaxStore < 0 {
		return errors.New("max_store: must be a number of bytes")
	}
	if s.MaxStore == 0 {
		s.MaxStore = defaultMaxStore
	}
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	s.Dir = dir
	return s.check()
}

// check reports why the server could not be started, and sets secrets.
func (s *Server) check() error {
	o, err := s.options()
	if err != nil {
		return err
	}
	if s.Config != "" {
		text, err := os.ReadFile(s.Config)
		if err != nil {
			return fmt.Errorf("config: %w", err)
		}
		s.secrets = guest.KeyedHash(string(text))
		return nil
	}
	s.secrets = guest.KeyedHash(o.Cluster.Password)
	return nil
}

// ServerKey implements [natsguest.Server].
func (s *Server) ServerKey() string {
	return "embedded:" + string(caddyconfig.JSON(s, nil)) + s.secrets
}

// NeedsLogin implements [natsguest.Server].
func (s *Server) NeedsLogin() bool { return s.Config != "" }

// OpenServer implements [natsguest.Server]. A process runs only one server: during a
// reload, two would write to the same folder and listen at the same address.
func (s *Server) OpenServer() (nats.Option, func() error, error) {
	serversMu.Lock()
	defer serversMu.Unlock()
	otherRuns := false
	servers.Range(func(key, _ any) bool {
		otherRuns = key != s.ServerKey()
		return !otherRuns
	})
	if otherRuns {
		return nil, nil, errors.New("this process already runs a NATS server with other options; they change with a restart")
	}
	v, _, err := servers.LoadOrNew(s.ServerKey(), func() (caddy.Destructor, error) {
		return start(s.options, s.Config == "")
	})
	if err != nil {
		return nil, nil, err
	}
	release := func() error {
		serversMu.Lock()
		defer serversMu.Unlock()
		_, err := servers.Delete(s.ServerKey())
		return err
	}
	return v.(*running).connect, release, nil
}

// Storing implements [natsguest.Server].
func (s *Server) Storing() (storing, known bool) {
	servers.Range(func(key, v any) bool {
		if key == s.ServerKey() {
			storing, known = v.(*running).storage.storing()
		}
		return true
	})
	return storing, known
}

// Members implements [natsguest.Server].
func (s *Server) Members() (q guest.Quorum, known bool) { return s.runningMembers().quorum() }

// RemoveMember implements [natsguest.Server].
func (s *Server) RemoveMember(ctx context.Context, name string, how guest.RemoveOptions) (guest.Removal, error) {
	return s.runningMembers().remove(ctx, name, how)
}

func (s *Server) runningMembers() (m *members) {
	servers.Range(func(key, v any) bool {
		if key == s.ServerKey() {
			m = v.(*running).members
		}
		return true
	})
	return m
}

// options returns the options of nats-server.
func (s *Server) options() (*server.Options, error) {
	if s.Config != "" {
		o, err := server.ProcessConfigFile(s.Config)
		if err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
		if o.Cluster.Port != 0 && o.Cluster.Username == "" && o.Cluster.TLSConfig == nil && !isLoopback(o.Cluster.Host) {
			return nil, errors.New("config: its cluster block has neither authorization nor tls: whoever reaches the routes joins the cluster, and gets all tokens and messages. " +
				"Only a loopback address needs neither")
		}
		o.NoSigs = true
		o.ConnectErrorReports, o.ReconnectErrorReports = 1, 1 // each: see logger
		return o, nil
	}
	o := &server.Options{
		ServerName: s.Name, NoSigs: true, DontListen: s.Cluster == nil,
		JetStream: true, StoreDir: s.Dir, JetStreamMaxStore: s.MaxStore, JetStreamMaxMemory: s.MaxStore,
		SyncAlways: true, // a token operation that is acknowledged survives power loss
		MaxPayload: maxPayload, MaxPending: 16 * maxPayload,
		ConnectErrorReports: 1, ReconnectErrorReports: 1, // each: see logger
	}
	if s.Cluster != nil {
		if err := s.Cluster.apply(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// UnmarshalCaddyfile sets up the server from Caddyfile tokens. Syntax:
//
//	embedded {
//		name      <name>
//		dir       <path>
//		max_store <bytes>
//		cluster <name> {
//			listen   <host:port>
//			routes   <urls...>
//			user     <name>
//			password {env.NAME}|{file./path}
//			tls {
//				ca   <file>
//				cert <file>
//				key  <file>
//			}
//		}
//	}
//
// or, with a configuration file of nats-server:
//
//	embedded {
//		config <path>
//	}
func (s *Server) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the option's name
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch option := d.Val(); option {
		case "name":
			s.Name, err = args.One(d)
		case "dir":
			s.Dir, err = args.One(d)
		case "config":
			s.Config, err = args.One(d)
		case "max_store":
			s.MaxStore, err = args.DiskSize(d)
		case "cluster":
			s.Cluster = new(Cluster)
			err = s.Cluster.unmarshal(d)
		default:
			err = d.Errf("unknown option %s of embedded; allowed: name, dir, max_store, cluster, config", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	_ natsguest.Server      = (*Server)(nil)
	_ caddy.Provisioner     = (*Server)(nil)
	_ caddyfile.Unmarshaler = (*Server)(nil)
)
