package nats

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/nats"
)

func init() { caddy.RegisterModule(new(Store)) }

// Store keeps tokens in a key-value bucket of NATS JetStream, which edges
// share. Without servers of its own it uses the connection of `broker nats`.
type Store struct {
	Link

	// Domain of JetStream that has the bucket, as nats-server's `jetstream { domain }`
	// names it: for edges behind a leaf node. Letters, digits, `_` and `-`. Default:
	// none, that of the server.
	Domain string `json:"domain,omitempty"`
	// Bucket is the name of the bucket: letters, digits, `_` and `-`. Default:
	// `millrace_tokens`.
	Bucket string `json:"bucket,omitempty"`
	// Role of this edge: `manager` changes all tokens, `issuer` only access tokens,
	// `reader` none. An edge refuses changes beyond its role with 403 `read_only`; the
	// permissions of its NATS user can be limited in the same way. Default: `manager`.
	Role string `json:"role,omitempty"`
	// Create is `on` or `off`: whether a missing bucket is created. Default: `on`, and
	// `off` with another role than `manager`.
	Create string `json:"create,omitempty"`
	// Replicas of a bucket that is created, 1, 3 or 5: how many servers hold each
	// token. Default, and zero: 1.
	Replicas int `json:"replicas,omitempty"`
	// Storage of a bucket that is created: `file` or `memory`. Tokens in memory are
	// lost when its servers end. Default: `file`.
	Storage string `json:"storage,omitempty"`
	// MaxBytes of a bucket that is created, in bytes: what it may take on each of its
	// servers. 1 MiB to 1 PiB. Hosted accounts may require it. Default, and zero: no limit.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// MaxStale is how long tokens stay valid while the bucket cannot be reached: after
	// that time new clients are refused and open sessions closed. 10s to 24h. Default,
	// and zero: 5m.
	MaxStale caddy.Duration `json:"max_stale,omitempty"`

	linkState linkState
}

const (
	defaultBucket   = "millrace_tokens"
	defaultMaxStale = 5 * time.Minute
	minMaxStale     = 10 * time.Second
	maxMaxStale     = 24 * time.Hour
	minMaxBytes     = 1 << 20
	maxMaxBytes     = 1 << 50
)

var storeRoles = map[string]nats.Role{"": nats.Manager, "manager": nats.Manager, "issuer": nats.Issuer, "reader": nats.Reader}

// namePattern is the grammar of buckets, domains and edge names.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CaddyModule implements [caddy.Module].
func (*Store) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.token_stores.nats", New: func() caddy.Module { return new(Store) }}
}

// Provision implements [caddy.Provisioner]. It connects to nothing.
func (s *Store) Provision(ctx caddy.Context) error {
	if err := args.Resolve(s); err != nil {
		return err
	}
	s.linkState = s.state()
	if s.Bucket == "" {
		s.Bucket = defaultBucket
	}
	if s.Replicas == 0 {
		s.Replicas = 1
	}
	if s.MaxStale == 0 {
		s.MaxStale = caddy.Duration(defaultMaxStale)
	}
	stale := time.Duration(s.MaxStale)
	role, known := storeRoles[s.Role]
	switch {
	case s.Domain != "" && !namePattern.MatchString(s.Domain):
		return errors.New("domain: must be 1 to 64 letters, digits, _ and -")
	case !namePattern.MatchString(s.Bucket):
		return errors.New("bucket: must be 1 to 64 letters, digits, _ and -")
	case s.Replicas != 1 && s.Replicas != 3 && s.Replicas != 5:
		return errors.New("replicas: must be 1, 3 or 5")
	case s.Storage != "" && s.Storage != "file" && s.Storage != "memory":
		return errors.New("storage: must be file or memory")
	case s.MaxBytes != 0 && (s.MaxBytes < minMaxBytes || s.MaxBytes > maxMaxBytes):
		return fmt.Errorf("max_bytes: must be from %d to %d bytes, or 0 for no limit", minMaxBytes, maxMaxBytes)
	case !known:
		return errors.New("role: must be manager, issuer or reader")
	case s.Create != "" && s.Create != "on" && s.Create != "off":
		return errors.New("create: must be on or off")
	case s.Create == "on" && role != nats.Manager:
		return errors.New("create: only the role manager creates a bucket")
	case stale < minMaxStale || stale > maxMaxStale:
		return fmt.Errorf("max_stale: must be from %v to %v", minMaxStale, maxMaxStale)
	}
	return s.provision(ctx)
}

// BorrowLink implements [guest.LinkBorrower]: a store without a link of its own gets the
// link of the broker, if the broker uses NATS, too.
func (s *Store) BorrowLink(broker guest.BrokerModule) error {
	b, ok := broker.(*Broker)
	switch {
	case !ok || s.linkState == linkComplete:
	case s.linkState == linkPartial:
		return errors.New("options of a link need servers, too; without any of them it uses the link of broker nats")
	default:
		s.Link = b.Link
	}
	return nil
}

// StoreKey implements [guest.StoreModule].
func (s *Store) StoreKey() string {
	return fmt.Sprintf("nats:%s.%s %s %s %d %s %d %v %s", s.Domain, s.Bucket, s.Role, s.Create, s.Replicas, s.Storage, s.MaxBytes, s.MaxStale, s.key())
}

// OpenStore implements [guest.StoreModule].
func (s *Store) OpenStore(log *zap.Logger) (tokenstore.Store, error) {
	conn, err := s.newConnection("tokens", log)
	if err != nil {
		return nil, err
	}
	storage := jetstream.FileStorage
	if s.Storage == "memory" {
		storage = jetstream.MemoryStorage
	}
	store, err := nats.Open(nats.Config{
		Connect: conn.connect, Domain: s.Domain, Bucket: s.Bucket, Create: s.Create != "off", Replicas: s.Replicas,
		Role: storeRoles[s.Role], Storage: storage, MaxBytes: s.MaxBytes, MaxStale: time.Duration(s.MaxStale), Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return &leasedStore{store, conn}, nil
}

// leasedStore is a store with its connection.
type leasedStore struct {
	*nats.Store
	conn *connection
}

// Close implements [tokenstore.Store].
func (s *leasedStore) Close() error { return errors.Join(s.Store.Close(), s.conn.close()) }

// LinkState implements [guest.LinkReporter].
func (s *leasedStore) LinkState() guest.LinkState {
	since, err := s.Fault()
	return s.conn.state("tokens", since, err)
}

// UnmarshalCaddyfile sets up the store from Caddyfile tokens. Syntax, beside the
// options of a link, which are those of `broker nats`:
//
//	token_store nats [<servers...>] {
//		domain    <name>
//		bucket    <name>
//		role      manager|issuer|reader
//		create    on|off
//		replicas  1|3|5
//		storage   file|memory
//		max_bytes <size>
//		max_stale <duration>
//	}
func (s *Store) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return unmarshalGuest(d, "token_store nats", &s.Link, func(option string) (known bool, err error) {
		switch option {
		case "domain":
			s.Domain, err = args.One(d)
		case "bucket":
			s.Bucket, err = args.One(d)
		case "role":
			s.Role, err = args.One(d)
		case "create":
			s.Create, err = args.One(d)
		case "storage":
			s.Storage, err = args.One(d)
		case "max_bytes":
			s.MaxBytes, err = args.DiskSize(d)
		case "max_stale":
			s.MaxStale, err = args.Duration(d)
		case "replicas":
			s.Replicas, err = args.Number(d, "1, 3 or 5")
		default:
			return false, nil
		}
		return true, err
	}, "domain, bucket, role, create, replicas, storage, max_bytes, max_stale")
}

var (
	_ guest.StoreModule     = (*Store)(nil)
	_ guest.LinkBorrower    = (*Store)(nil)
	_ guest.LinkReporter    = (*leasedStore)(nil)
	_ caddy.Provisioner     = (*Store)(nil)
	_ caddyfile.Unmarshaler = (*Store)(nil)

	// The edge uses these where a store has them: a method of leasedStore must not hide one of [nats.Store].
	_ tokenstore.Replica            = (*leasedStore)(nil)
	_ tokenstore.Linker             = (*leasedStore)(nil)
	_ tokenstore.HealthReporter     = (*leasedStore)(nil)
	_ tokenstore.ReplicaReporter    = (*leasedStore)(nil)
	_ tokenstore.UnreadableReporter = (*leasedStore)(nil)
)
