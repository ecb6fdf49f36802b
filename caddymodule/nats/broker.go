package nats

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/nats"
)

func init() { caddy.RegisterModule(new(Broker)) }

// Broker connects edges through NATS.
type Broker struct {
	Link

	// Prefix of the subjects of this overlay: edges with the same one belong
	// together. Tokens of letters, digits, `_` and `-`, joined by dots. Default:
	// `millrace`.
	Prefix string `json:"prefix,omitempty"`
	// QueueBytes bounds the messages that wait when clients publish faster than the
	// link takes them, beside as many bytes that are being sent; a message that does
	// not fit is delivered on this edge only. The same bound holds for messages that
	// come from other edges. 64 KiB to 1 GiB. Default, and zero: 8 MiB.
	QueueBytes int `json:"queue,omitempty"`
	// Interests bounds the distinct patterns that have subscriptions of their own in
	// NATS, two each. A tenant that needs more of them than are free gets one
	// subscription for all its messages. 100 to 10 million. Default, and zero: 500000.
	Interests int `json:"interests,omitempty"`
	// Host under which clients reach this edge, as `pubsub_edges` lists it, with a
	// port if that is not 443. Default: none, and the edge is not listed.
	Host string `json:"announce,omitempty"`
	// EdgeName binds everything that this edge sends to subjects of its own,
	// `<prefix>.s.<edge_name>.>`, to which the permissions of its NATS user can be
	// limited; other edges refuse messages that name another edge. 1 to 64 letters,
	// digits, `_` and `-`. Either each edge of an overlay has a name of its own, or none
	// has: edges with and without a name do not hear each other. Default: none.
	EdgeName string `json:"edge_name,omitempty"`
}

const (
	defaultPrefix = "millrace"
	defaultQueue  = 8 << 20
)

var subjectPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// CaddyModule implements [caddy.Module].
func (*Broker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.brokers.nats", New: func() caddy.Module { return new(Broker) }}
}

// Provision implements [caddy.Provisioner]. It connects to nothing.
func (b *Broker) Provision(ctx caddy.Context) error {
	if err := args.Resolve(b); err != nil {
		return err
	}
	if b.Prefix == "" {
		b.Prefix = defaultPrefix
	}
	if len(b.Prefix) > 128 || !subjectPattern.MatchString(b.Prefix) {
		return errors.New("prefix: must be tokens of letters, digits, _ and -, joined by dots, up to 128 bytes")
	}
	if b.QueueBytes == 0 {
		b.QueueBytes = defaultQueue
	}
	if b.QueueBytes < 64<<10 || b.QueueBytes > 1<<30 {
		return fmt.Errorf("queue: must be from %d to %d bytes", 64<<10, 1<<30)
	}
	if b.EdgeName != "" && !namePattern.MatchString(b.EdgeName) {
		return errors.New("edge_name: must be 1 to 64 letters, digits, _ and -")
	}
	if b.Interests != 0 && (b.Interests < 100 || b.Interests > 10_000_000) {
		return errors.New("interests: must be from 100 to 10000000")
	}
	if b.Host != "" {
		if err := guest.CheckHost(b.Host); err != nil {
			return fmt.Errorf("announce: %w", err)
		}
	}
	return b.provision(ctx)
}

// BrokerKey implements [guest.BrokerModule].
func (b *Broker) BrokerKey() string {
	return fmt.Sprintf("nats:%s %s %d %d %s", b.Prefix, b.EdgeName, b.QueueBytes, b.Interests, b.key())
}

// AnnouncedHost implements [guest.Announcer].
func (b *Broker) AnnouncedHost() string { return b.Host }

// OpenBroker implements [guest.BrokerModule].
func (b *Broker) OpenBroker(log *zap.Logger) (pubsub.Broker, error) {
	conn, err := b.newConnection("broker", log)
	if err != nil {
		return nil, err
	}
	broker, err := nats.New(nats.Config{
		Connect: conn.connect, Prefix: b.Prefix, EdgeName: b.EdgeName, Place: place(), CheckHost: guest.CheckHost,
		QueueBytes: b.QueueBytes, MaxInterests: b.Interests, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return &leasedBroker{broker, conn}, nil
}

// place is where this edge runs: Caddy's ID for its data directory. Empty: the directory
// cannot be written.
func place() string {
	id, err := caddy.InstanceID()
	if err != nil {
		return ""
	}
	return id.String()
}

// leasedBroker is a broker with its connection.
type leasedBroker struct {
	*nats.Broker
	conn *connection
}

// Close implements [pubsub.Broker].
func (b *leasedBroker) Close() error { return errors.Join(b.Broker.Close(), b.conn.close()) }

// LinkState implements [guest.LinkReporter].
func (b *leasedBroker) LinkState() guest.LinkState { return b.conn.state("broker", time.Time{}, nil) }

// SharedHistoryStore implements [guest.HistorySharer].
func (*Broker) SharedHistoryStore() string { return "nats" }

// UnmarshalCaddyfile sets up the broker from Caddyfile tokens. Syntax:
//
//	broker nats [<servers...>] {
//		servers        <urls...>
//		credentials    <file>
//		nkey           <file>
//		user           <name>
//		password       {env.NAME}|{file./path}
//		token          {env.NAME}|{file./path}
//		tls {
//			ca   <file>
//			cert <file>
//			key  <file>
//		}
//		name           <name>
//		inbox_prefix   <subject>
//		reconnect_wait <duration>
//		embedded { ... }
//		prefix         <subject>
//		queue          <size>
//		interests      <count>
//		announce       <host>
//		edge_name      <name>
//	}
func (b *Broker) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return unmarshalGuest(d, "broker nats", &b.Link, func(option string) (known bool, err error) {
		switch option {
		case "prefix":
			b.Prefix, err = args.One(d)
		case "announce":
			b.Host, err = args.One(d)
		case "edge_name":
			b.EdgeName, err = args.One(d)
		case "queue":
			b.QueueBytes, err = args.Size(d)
		case "interests":
			b.Interests, err = args.Number(d, args.Count)
		default:
			return false, nil
		}
		return true, err
	}, "prefix, queue, interests, announce, edge_name")
}

var (
	_ guest.BrokerModule    = (*Broker)(nil)
	_ guest.Announcer       = (*Broker)(nil)
	_ guest.HistorySharer   = (*Broker)(nil)
	_ guest.LinkReporter    = (*leasedBroker)(nil)
	_ caddy.Provisioner     = (*Broker)(nil)
	_ caddyfile.Unmarshaler = (*Broker)(nil)

	// The edge uses these where a broker has them: a method of leasedBroker must not hide one of [nats.Broker].
	_ pubsub.Directory       = (*leasedBroker)(nil)
	_ pubsub.Catcher         = (*leasedBroker)(nil)
	_ pubsub.Requester       = (*leasedBroker)(nil)
	_ pubsub.PresenceCarrier = (*leasedBroker)(nil)
	_ pubsub.NoticeCarrier   = (*leasedBroker)(nil)
)
