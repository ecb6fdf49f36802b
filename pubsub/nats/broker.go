package nats

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// ErrUnavailable is returned for messages that no other edge could get, as the link
// is down. Where it takes less than is published, that is [pubsub.ErrLinkFull].
var ErrUnavailable = errors.New("nats broker: the link to the other edges is down")

// Config is what a broker needs. Edges with the same prefix on the same NATS
// system are one overlay.
type Config struct {
	// Connect opens a connection with these options added to its own. It returns
	// one also while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Prefix of all subjects, without the dot at its end.
	Prefix string
	// EdgeName binds what this edge sends to subjects of its own, `<prefix>.s.<name>.>`,
	// one token. All edges of an overlay have one, each its own, or none has.
	EdgeName string
	// CheckHost refuses a host that another edge announces; such an edge is not
	// listed. nil: all are taken.
	CheckHost func(host string) error
	// QueueBytes bounds what waits for the link, and what has come by it and waits
	// for the hub.
	QueueBytes int
	// MaxInterests bounds the subscriptions in NATS: distinct patterns, two each.
	// Zero: DefaultMaxInterests.
	MaxInterests int
	Log          *zap.Logger
}

// Broker is one edge's place in an overlay.
type Broker struct {
	config     Config
	log        *zap.Logger
	id         edgeID
	name       sender // empty: the edges of this overlay have no names
	prefix     string // with the dot
	speak      string // the prefix of what this edge sends
	listen     string // the prefix of what it subscribes to
	conn       *client.Conn
	in         chan *client.Msg // from NATS; collect empties it at once
	own        []*client.Subscription
	ending     []*client.Subscription // see end; the writer's own
	clock      clock
	inbox      inbox
	met        atomic.Int32 // new edges since the last announcement
	peers      peers
	responders responders
	marks      marks
	flying     flying

	running   sync.WaitGroup
	receiving sync.WaitGroup
	enough    chan struct{} // closed: nothing more is to be received
	quit      chan struct{}
	closing   sync.Once

	linkMu   sync.Mutex // orders changes of the link; guards the next two
	receiver pubsub.Receiver
	down     linkCause

	mu             sync.Mutex // guards the rest
	up             bool
	since          time.Time // it is up, or down
	interests      map[string]*tenantInterests
	turning        map[*tenantInterests]struct{} // those whose subscriptions change
	interested     int                           // of all tenants, those aside that have one for all their messages
	changed        []*interest                   // for the writer
	waiting        []waiting                     // for a confirmation, oldest first
	asked          uint64                        // how many subscriptions were asked for
	written        uint64                        // how many of these were written
	records        records
	dropped        map[*client.Subscription]int // by NATS's own goroutine, until the last word of it
	missed         missed
	warnedFull     time.Time       // that the link takes less than is published
	warnedFailed   time.Time       // of an error of NATS
	warnedRejected time.Time       // that messages are refused
	barriers       []chan struct{} // closed when what was asked for before has been written
	number         uint64          // of the last broadcast: our clock when it was sent, or more

	work    chan struct{} // for the writer
	confirm chan struct{} // for the confirmer
}

// inLen is how many messages NATS's own goroutine can be ahead of collect: on a
// busy machine it may run for some 10 ms before another one does.
const inLen = 1 << 17

// New connects a broker; the link may come up later. The caller joins a receiver
// to it, and closes it.
func New(c Config) (*Broker, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	if c.MaxInterests == 0 {
		c.MaxInterests = DefaultMaxInterests
	}
	b := &Broker{
		config: c, log: c.Log, prefix: c.Prefix + ".", name: sender(c.EdgeName),
		id:        sender(c.EdgeName).id(edgeID(binary.BigEndian.Uint64(id[:]))),
		clock:     newClock(),
		in:        make(chan *client.Msg, inLen),
		enough:    make(chan struct{}),
		quit:      make(chan struct{}),
		down:      linkDisconnected,
		interests: map[string]*tenantInterests{},
		turning:   map[*tenantInterests]struct{}{},
		dropped:   map[*client.Subscription]int{},
		work:      make(chan struct{}, 1),
		confirm:   make(chan struct{}, 1),
	}
	b.speak, b.listen = b.prefix, b.prefix
	if b.name != "" {
		b.speak, b.listen = b.prefix+sendersToken+c.EdgeName+".", b.prefix+sendersToken+"*."
	}
	b.peers.start(b.id, c.CheckHost)
	b.responders.init()
	b.marks.start()
	connected := func(*client.Conn) {
		b.linked(linkDisconnected, false)
		kick(b.work) // nothing waits any more
		kick(b.confirm)
	}
	var err error
	b.conn, err = c.Connect(
		client.NoEcho(),
		client.ReconnectBufSize(-1), // what is old when the link is back is worth nothing
		client.FlusherTimeout(silence),
		client.ReconnectOnFlusherError(),
		client.ConnectHandler(connected),
		client.ReconnectHandler(connected),
		client.DisconnectErrHandler(func(_ *client.Conn, err error) { b.disconnected(err) }),
		client.ErrorHandler(func(_ *client.Conn, sub *client.Subscription, err error) { b.failed(sub, err) }),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	for _, subject := range []string{announcements, queries + ">", direct(b.id) + ">"} {
		sub, err := b.conn.ChanSubscribe(b.listen+subject, b.in)
		b.own = append(b.own, sub)
		if err != nil {
			b.conn.Close()
			return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
		}
	}
	return b, nil
}

// The kinds of subjects, after Broker.speak or Broker.listen.
const (
	announcements = "a"
	queries       = "q."
	broadcasts    = "b."
	nearest       = "o."
)

func direct(to edgeID) string { return "e." + to.String() + "." }

// Join implements [pubsub.Broker].
func (b *Broker) Join(r pubsub.Receiver) {
	b.linkMu.Lock()
	b.receiver = r
	b.mu.Lock()
	b.up, b.since = b.down == 0, time.Now()
	b.mu.Unlock()
	if b.down != 0 {
		r.Linked(false)
	}
	b.linkMu.Unlock()
	b.receiving.Go(b.receive)
	b.running.Go(b.write)
	b.running.Go(b.confirmAll)
	b.running.Go(b.keepMarks)
}

// Publish implements [pubsub.Broker].
func (b *Broker) Publish(m pubsub.Message) error {
	switch m.Delivery {
	case wire.Broadcast:
		return b.pass(m.Tenant, b.channel(broadcasts, &m), func(to []byte) []byte {
			b.number = max(b.number+1, b.clock.now())
			return appendBroadcast(to, b.id, b.number, m.Payload)
		})
	case wire.OneNearest:
		return b.publishNearest(m)
	}
	return b.publishRandom(m)
}

// Announce implements [pubsub.Directory].
func (b *Broker) Announce(e pubsub.Edge) {
	b.peers.describe(e)
	b.announce()
}

// Draining tells the other edges that this one wants no new clients.
func (b *Broker) Draining() {
	b.peers.leave(stateDraining)
	b.announce()
}

// Edges returns the edges that clients can choose from, this one included.
func (b *Broker) Edges() []pubsub.Edge { return b.peers.listed(time.Now()) }

// Close implements [pubsub.Broker]. What was sent to this edge until the others know
// that it leaves is still passed on. It waits for them, and for NATS, up to four times
// leaveTime.
func (b *Broker) Close() error {
	b.closing.Do(func() {
		b.peers.leave(stateGone)
		b.announce()
		b.barrier()
		b.awaitOthers()
		b.mu.Lock()
		for _, t := range b.interests {
			b.set(t.whole, false, false)
			for _, in := range t.bySubject {
				in.patterns = 0
				b.set(in, false, false)
			}
		}
		b.mu.Unlock()
		for _, sub := range b.own {
			_ = sub.Drain() // fails only when the connection is closed
		}
		b.barrier()
		close(b.enough)
		b.receiving.Wait()
		b.barrier()
		close(b.quit)
		b.running.Wait()
		b.conn.Close()
	})
	return nil
}

var (
	_ pubsub.Broker    = (*Broker)(nil)
	_ pubsub.Directory = (*Broker)(nil)
	_ pubsub.Catcher   = (*Broker)(nil)
)
