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

	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// ErrUnavailable is returned for messages that no other edge could get, as the link
// is down. Where it takes less than is published, that is [pubsub.ErrLinkFull].
var ErrUnavailable = errors.New("nats broker: the link to the other edges is down")

// Config configures a broker. Edges with the same prefix on the same NATS system are one
// overlay.
type Config struct {
	// Connect opens a connection with these options added to its own. It also returns
	// one while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Prefix of all subjects, without the dot at its end.
	Prefix string
	// EdgeName binds what this edge sends to subjects of its own, `<prefix>.s.<name>.>`,
	// a name of one token. Either each edge of an overlay has its own, or none has one.
	EdgeName string
	// Place is where this edge runs, such as the ID of its data: an edge that is started again has
	// the same one, and no other has it. Empty: it is not known.
	Place string
	// CheckHost refuses a host that another edge announces; such an edge is not
	// listed. nil: all are taken.
	CheckHost func(host string) error
	// QueueBytes bounds what waits for the link, and, each for itself, what has come
	// by it and waits for the hub, and what waits for answers of other edges.
	QueueBytes int
	// MaxInterests bounds the subscriptions in NATS: distinct patterns, two each.
	// Zero: DefaultMaxInterests.
	MaxInterests int
	Log          *zap.Logger

	serverTimeout time.Duration // zero: defaultServerTimeout; shorter in tests
	maxLateness   time.Duration // zero: defaultMaxLateness; longer in tests
	fateTime      time.Duration // zero: pubsub.FateTime; shorter in tests
}

// Broker is one edge's place in an overlay.
type Broker struct {
	config          Config
	log             *zap.Logger
	faults          *outage.Log // errors of NATS
	id              edgeID
	name            sender // empty: the edges of this overlay have no names
	prefix          string // with the dot
	publishPrefix   string // of the subjects that this edge publishes to
	subscribePrefix string // of the subjects that it subscribes to
	conn            *client.Conn
	incoming        chan *client.Msg       // from NATS; readLoop empties it at once
	fixedSubs       []*client.Subscription // that do not depend on interests
	drainingSubs    []*client.Subscription // see endSubscription; owned by the writer
	clock           clock
	inbox           inbox
	newPeerCount    atomic.Int32 // new edges since the last regular announcement
	peers           peers
	responders      responders
	catchUps        catchUps
	inFlight        inFlight
	fates           fates
	requests        requests
	presence        asides
	notices         asides // of changes of tokens

	running       sync.WaitGroup // goroutines that end with quit
	receiving     sync.WaitGroup // goroutines that end with stopReceiving
	stopReceiving chan struct{}  // closed: nothing more is to be received
	quit          chan struct{}
	closeOnce     sync.Once

	linkMu     sync.Mutex      // orders changes of the link; guards the next two
	receiver   pubsub.Receiver // set by Join; what Join starts, and what comes after it, reads it without linkMu
	downCauses linkCause

	mu                sync.Mutex // guards the rest
	linkUp            bool
	linkSince         time.Time // it is up, or down
	interests         map[string]*tenantInterests
	switching         map[*tenantInterests]struct{} // those whose switchTo is not finished
	interestCount     int                           // of all tenants but those that have a wildcard for all their messages
	changedInterests  []*interest                   // for the writer
	confirmations     []confirmation                // that the hub waits for, oldest first
	subscribesQueued  uint64                        // how many calls of Subscribe waited for a confirmation
	subscribesWritten uint64                        // how many of these were written
	records           records
	dropped           map[*client.Subscription]int // messages that NATS's client dropped, as last reported
	missed            missed
	lastFullWarning   time.Time       // that more is published than the link takes
	lastRejectWarning time.Time       // that messages are refused
	flushes           []chan struct{} // closed when NATS has read what was queued before
	lastBroadcast     uint64          // its number: our clock when it was sent, or more
	outgoing          []*outgoing     // requests and answers, for the writer
	outgoingBytes     int             // of these, without asides, which stand among them

	wakeWriter    chan struct{} // wakes writeLoop
	wakeConfirmer chan struct{} // wakes confirmLoop
}

// incomingLen is how many messages NATS's own goroutine can be ahead of readLoop: on a
// busy machine it may run for some 10 ms before another one does.
const incomingLen = 1 << 17

// New connects a broker; the link may come up later. The caller calls Join, and Close.
func New(c Config) (*Broker, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	if c.MaxInterests == 0 {
		c.MaxInterests = DefaultMaxInterests
	}
	if c.serverTimeout == 0 {
		c.serverTimeout = defaultServerTimeout
	}
	if c.maxLateness == 0 {
		c.maxLateness = defaultMaxLateness
	}
	if c.fateTime == 0 {
		c.fateTime = pubsub.FateTime
	}
	b := &Broker{
		config: c, log: c.Log, faults: outage.New(c.Log, faultSilence), prefix: c.Prefix + ".", name: sender(c.EdgeName),
		id:            sender(c.EdgeName).makeID(edgeID(binary.BigEndian.Uint64(id[:]))),
		clock:         newClock(),
		presence:      asides{kind: kindPresence, subject: "p", what: "the presence"},
		notices:       asides{kind: kindNotice, subject: "t", what: "the notices"},
		incoming:      make(chan *client.Msg, incomingLen),
		stopReceiving: make(chan struct{}),
		quit:          make(chan struct{}),
		downCauses:    linkDisconnected,
		interests:     map[string]*tenantInterests{},
		switching:     map[*tenantInterests]struct{}{},
		dropped:       map[*client.Subscription]int{},
		wakeWriter:    make(chan struct{}, 1),
		wakeConfirmer: make(chan struct{}, 1),
	}
	b.publishPrefix, b.subscribePrefix = b.prefix, b.prefix
	if b.name != "" {
		b.publishPrefix, b.subscribePrefix = b.prefix+sendersToken+c.EdgeName+".", b.prefix+sendersToken+"*."
	}
	b.peers.init(b.id, c.Place, c.CheckHost)
	b.responders.init()
	b.catchUps.init()
	b.requests.init()
	b.fates.init(c.fateTime)
	connected := func(*client.Conn) {
		b.setLinkDown(linkDisconnected, false)
		signal(b.wakeWriter) // what waited for the link goes on
		signal(b.wakeConfirmer)
	}
	var err error
	b.conn, err = c.Connect(
		client.NoEcho(),
		client.ReconnectBufSize(-1), // messages are live: old ones are worth nothing when the link is back
		client.FlusherTimeout(c.serverTimeout),
		client.ReconnectOnFlusherError(),
		client.ConnectHandler(connected),
		client.ReconnectHandler(connected),
		client.DisconnectErrHandler(func(*client.Conn, error) { b.handleDisconnect() }),
		client.ErrorHandler(func(_ *client.Conn, sub *client.Subscription, err error) { b.handleAsyncError(sub, err) }),
	)
	if err != nil {
		b.faults.Close()
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	for subject, to := range map[string]chan *client.Msg{
		announcements: b.incoming, queries + ">": b.incoming, direct(b.id) + ">": b.incoming,
		requestsTo(b.id): b.requests.asked, answersTo(b.id) + "*": b.requests.replies,
	} {
		sub, err := b.conn.ChanSubscribe(b.subscribePrefix+subject, to)
		b.fixedSubs = append(b.fixedSubs, sub)
		if err != nil {
			b.conn.Close()
			b.faults.Close()
			return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
		}
	}
	return b, nil
}

// ownerOf returns whose a tenant is, where the issuer of who published is not known; empty: that is not
// known either, or does not matter. It calls the hub, and so is called without a lock.
func (b *Broker) ownerOf(tenant []byte) string {
	if owners, ok := b.receiver.(pubsub.OwnerTeller); ok {
		return owners.OwnerOf(string(tenant))
	}
	return ""
}

// Join implements [pubsub.Broker].
func (b *Broker) Join(r pubsub.Receiver) {
	b.linkMu.Lock()
	b.receiver = r
	if owners, ok := r.(pubsub.OwnerTeller); ok {
		b.inbox.ownerOf = func(tenant string) string { return owners.OwnerOf(natssubject.TenantFromToken(tenant)) }
	}
	b.mu.Lock()
	b.linkUp, b.linkSince = b.downCauses == 0, time.Now()
	b.mu.Unlock()
	if b.downCauses != 0 {
		r.Linked(false)
	}
	b.linkMu.Unlock()
	b.receiving.Go(b.receiveLoop)
	b.receiving.Go(b.requestLoop)
	b.running.Go(b.writeLoop)
	b.running.Go(b.confirmLoop)
	b.running.Go(b.catchUpLoop)
}

// Publish implements [pubsub.Broker].
func (b *Broker) Publish(m pubsub.Message) error {
	switch m.Delivery {
	case wire.Broadcast:
		return b.enqueueMessage(&m, b.channelSubject(broadcasts, &m), func(to []byte) []byte {
			b.lastBroadcast = max(b.lastBroadcast+1, b.clock.now())
			return appendBroadcast(to, b.id, b.lastBroadcast, bodyOf(&m))
		})
	case wire.OneNearest:
		return b.publishNearest(m, nil)
	}
	return b.publishRandom(m, nil)
}

// PublishConfirmed implements [pubsub.Confirmer].
func (b *Broker) PublishConfirmed(m pubsub.Message, told func(pubsub.Fate)) error {
	asking := b.fates.add(b.id, &m, told)
	if asking == nil {
		told(pubsub.FateUnknown)
		return b.Publish(m)
	}
	publish := b.publishRandom
	if m.Delivery == wire.OneNearest {
		publish = b.publishNearest
	}
	err := publish(m, asking)
	if err != nil {
		b.tell(&m, asking, pubsub.FateUnknown) // unless more is known
	}
	return err
}

// Announce implements [pubsub.Directory].
func (b *Broker) Announce(e pubsub.Edge) {
	b.peers.describe(e)
	b.announce()
}

// SetDraining tells the other edges whether this one wants new clients.
func (b *Broker) SetDraining(draining bool) {
	state := stateHere
	if draining {
		state = stateDraining
	}
	b.peers.setState(state)
	b.announce()
}

// Edges returns the edges that clients can choose from, this one included.
func (b *Broker) Edges() []pubsub.Edge { return b.peers.edges(time.Now()) }

// Close implements [pubsub.Broker]. What is sent to this edge until the others know that
// it leaves is still handled. Close waits for them, and for NATS, up to four times
// leaveTimeout.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() {
		b.stopRequests()
		b.presence.stop()
		b.notices.stop()
		b.peers.setState(stateGone)
		b.announce()
		b.flush()
		b.awaitPeers()
		b.mu.Lock()
		for _, t := range b.interests {
			b.setWanted(t.wildcard, false, false)
			for _, in := range t.bySubject {
				in.patterns = 0
				b.setWanted(in, false, false)
			}
		}
		b.mu.Unlock()
		for _, sub := range b.fixedSubs {
			_ = sub.Drain() // fails only when the connection is closed
		}
		b.flush()
		close(b.stopReceiving)
		b.receiving.Wait()
		b.flush()
		close(b.quit)
		b.running.Wait()
		b.conn.Close()
		b.faults.Close()
	})
	return nil
}

var (
	_ pubsub.Broker    = (*Broker)(nil)
	_ pubsub.Directory = (*Broker)(nil)
	_ pubsub.Catcher   = (*Broker)(nil)
	_ pubsub.Requester = (*Broker)(nil)
	_ pubsub.Confirmer = (*Broker)(nil)
)
