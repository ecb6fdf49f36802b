package unixbroker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
)

// What Publish returns, or wraps, beside [pubsub.ErrLinkFull].
var (
	ErrUnreachable = errors.New("unix broker: an edge cannot be reached")
	ErrClosed      = errors.New("unix broker: closed")
)

// Broker is one edge's place in an overlay.
type Broker struct {
	// Static after New.
	id       edgeID
	folder   string
	log      *zap.Logger
	listener *net.UnixListener
	settings settings

	receiver pubsub.Receiver // static after Join

	ctx     context.Context // ends when the connections are to be closed
	stop    context.CancelFunc
	running sync.WaitGroup
	closing sync.Once
	changed chan struct{} // for notifyLoop
	rescan  chan struct{} // for discover

	mu        sync.Mutex // guards the rest
	closed    bool
	interests map[interest]struct{} // of this edge
	number    uint64                // of the last kindSync
	waiting   []confirmation        // in the order of their numbers
	peers     map[edgeID]*peer
	dialing   map[edgeID]bool
	missing   map[edgeID]bool // edges with a socket whose interests are not known; any: the link is down
	lost      bool            // a connection, since notifyLoop has looked
}

// interest is a pattern of a tenant.
type interest struct{ tenant, pattern string }

// settings are constants, except in tests.
type settings struct {
	queue   int           // bytes that may wait for one peer
	ping    time.Duration // after which an idle side says that it is there
	silence time.Duration // after which a side counts as gone
	rescan  time.Duration // between looks into the folder
	leave   time.Duration // that Close waits for the peers' answers
}

var defaults = settings{
	queue: 8 << 20, ping: time.Second, silence: 5 * time.Second, rescan: 250 * time.Millisecond, leave: time.Second,
}

// New makes a broker that listens in a folder. The caller joins a receiver to it, and
// closes it.
func New(folder string, log *zap.Logger) (*Broker, error) { return newBroker(folder, log, defaults) }

func newBroker(folder string, log *zap.Logger, s settings) (*Broker, error) {
	if err := prepare(folder); err != nil {
		return nil, err
	}
	var id [8]byte
	rand.Read(id[:]) // never fails
	b := &Broker{
		id: edgeID(binary.BigEndian.Uint64(id[:])), folder: folder, log: guest.OncePerSecond(log), settings: s,
		changed: make(chan struct{}, 1), rescan: make(chan struct{}, 1),
		interests: map[interest]struct{}{}, peers: map[edgeID]*peer{},
		dialing: map[edgeID]bool{}, missing: map[edgeID]bool{},
	}
	var err error
	if b.listener, err = listen(b.path(b.id)); err != nil {
		return nil, err
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b, nil
}

// Join implements [pubsub.Broker].
func (b *Broker) Join(r pubsub.Receiver) {
	b.receiver = r
	b.mu.Lock()
	for _, id := range b.others() {
		b.missing[id] = true
	}
	up := len(b.missing) == 0
	b.mu.Unlock()
	if !up {
		r.Linked(false)
	}
	b.running.Go(b.accept)
	b.running.Go(b.discover)
	b.running.Go(func() { b.notifyLoop(up) })
}

// Subscribe implements [pubsub.Broker].
func (b *Broker) Subscribe(tenant, pattern string, confirmed func()) {
	in := interest{tenant, pattern}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.interests[in] = struct{}{}
	b.number++
	b.waiting = append(b.waiting, confirmation{b.number, confirmed})
	b.announce(appendNumber(appendInterest(nil, kindSubscribe, in), kindSync, b.number))
	signal(b.changed) // without peers it is confirmed already
}

// Unsubscribe implements [pubsub.Broker].
func (b *Broker) Unsubscribe(tenant, pattern string) {
	in := interest{tenant, pattern}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.interests, in)
	b.announce(appendInterest(nil, kindUnsubscribe, in))
}

// announce sends frames to all peers. The caller holds b.mu.
func (b *Broker) announce(frames []byte) {
	for _, p := range b.peers {
		p.control(frames)
	}
}

// begin adds to what Close waits for: the caller calls b.running.Done. It reports false
// if the broker is closed.
func (b *Broker) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.running.Add(1)
	return true
}

// Close implements [pubsub.Broker]. What was sent to this edge until the others know
// that it leaves is still delivered or passed on; it waits for their answers, but not
// for long.
func (b *Broker) Close() error {
	b.closing.Do(func() {
		_ = os.Remove(b.path(b.id)) // before the others hear of it: they dial what is there
		b.mu.Lock()
		b.closed = true
		peers := make([]*peer, 0, len(b.peers))
		for _, p := range b.peers {
			peers = append(peers, p)
			p.control(appendFrame(nil, kindLeave))
		}
		b.mu.Unlock()
		b.listener.Close()
		ctx, cancel := context.WithTimeout(context.Background(), b.settings.leave)
		defer cancel()
		for _, p := range peers {
			select {
			case <-p.left:
			case <-ctx.Done():
				b.log.Warn("another edge did not answer in time that this one leaves", zap.Stringer("edge", p.id))
				p.conn.Close()
			}
		}
		b.stop()
		for _, p := range peers {
			p.out.close() // its writer sends what waits, and closes the connection
		}
		b.running.Wait()
	})
	return nil
}
