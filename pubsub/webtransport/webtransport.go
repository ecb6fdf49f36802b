// Package webtransport carries [pubsub.Session]s over WebTransport sessions
// (docs/protocol.md, WebTransport), whose handshake somebody else has done.
//
// A session has these goroutines, all of the hub's: one that reads the main
// stream, one that accepts unidirectional streams, one for each of these that is
// read, and one that resets further bidirectional streams once there are any.
// They handle one message at a time between them. Writers run only while there is
// something to write, one for each stream.
package webtransport

import (
	"context"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/webtransport-go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

const (
	maxPause = time.Hour // longer than any cap makes a client wait

	// The edge gives a client this long to read its last lines before the
	// session's end takes the streams away: four round trips, within minLinger and
	// this. A browser may be busy with something else.
	maxLinger = time.Second

	// answerBytes is how much of a client's is read, and dropped, on the way to the
	// end of its half of the main stream, behind which nothing is lingered for.
	answerBytes = 64 << 10

	// answerTimeout is how long a client may take to answer the session's end: a
	// browser on a busy machine needs seconds. A session that was admitted is cut
	// before that, when the hub's time for its close is over.
	answerTimeout = 5 * time.Second
)

// minLinger is changed by tests only.
var minLinger = 250 * time.Millisecond

// Admission is a client whose token was accepted.
type Admission struct {
	Session *pubsub.Session
	// AllowPeer says whether the client may send from this address, asked with
	// every message and every 5 s; nil: from any.
	AllowPeer func(netip.Addr) bool
}

// Serve runs a session whose client authenticated in the handshake, until it
// ends. It returns at once: its goroutines are the hub's.
func Serve(hub *pubsub.Hub, a Admission, conn Conn, log *zap.Logger) {
	c := &connection{Conn: conn, hub: hub, log: log}
	c.admit(a)
	hub.Go(c.run)
}

// connection is a session's [pubsub.Transport].
type connection struct {
	Conn
	hub        *pubsub.Hub
	log        *zap.Logger
	goroutines sync.WaitGroup // the goroutines beside the one that reads the main stream
	uni        uniStreams

	opened     atomic.Bool // the main stream is there: no other is wanted
	checksPeer atomic.Bool // the client is admitted, from some addresses only
	served     atomic.Bool // session and main are there to stay

	// owned by [rounds]
	ticks          int  // so many times it has looked
	refusesStreams bool // a goroutine resets further streams

	// owned by the goroutine that reads the main stream; main is static once the
	// session is attached
	main *webtransport.Stream
	in   messages

	// owned by who writes to the main stream
	leftover         *[]byte // what TryWrite left over; nil: nothing
	hasWriteDeadline bool    // writes have a deadline

	// closing is there once the main stream's end is on its way; the reader closes
	// it when the client has ended its half, too.
	closing atomic.Pointer[chan struct{}]

	// handling is held while a message is handled, and while the session holds its
	// client back: the client's caps are those of all its streams together. It
	// guards what follows, which is static once the client is admitted.
	handling  sync.Mutex
	session   *pubsub.Session // nil: not admitted yet
	allowPeer func(netip.Addr) bool
}

func (c *connection) admit(a Admission) {
	c.handling.Lock()
	defer c.handling.Unlock()
	c.session, c.allowPeer = a.Session, a.AllowPeer
}

// run serves a client that authenticated in the handshake.
func (c *connection) run() {
	defer c.finish()
	defer c.recoverFault()
	c.goroutines.Go(c.acceptUniStreams)
	c.checksPeer.Store(c.allowPeer != nil)
	watched.join(c)
	main, err := c.AcceptStream(until{c.Context(), c.session.Done()})
	if err != nil { // no stream, no lines: the code says it alone
		c.session.Close(wire.CloseNormal, "")
		c.Abort()
		return
	}
	c.open(main)
	c.serve()
}

// open takes the first bidirectional stream.
func (c *connection) open(main *webtransport.Stream) {
	c.main, c.in.stream = main, main
	c.opened.Store(true)
}

// serve runs an admitted session whose main stream is there.
func (c *connection) serve() {
	// Who waits for the client's caps does not read, and would not see its end.
	stop := context.AfterFunc(c.Context(), func() { c.session.Close(wire.CloseNormal, "") })
	defer stop()
	c.session.Attach(c)
	c.served.Store(true)
	c.readUniStreams()
	for c.readMessage() {
	}
	var closing *chan struct{}
	if c.in.ended {
		closing = c.closing.Load() // nil: the client has ended its half first
	}
	c.session.Close(wire.CloseNormal, "") // if nothing else ended it
	if c.in.discard() {
		closing = c.closing.Load()
	}
	if closing != nil {
		close(*closing)
	}
}

// finish waits for the close, which the session's writer sends, or the session
// forces.
func (c *connection) finish() {
	<-c.Context().Done()
	c.waitForGoroutines()
	c.session.Detach()
}

// waitForGoroutines waits for the goroutines of a session that is over.
func (c *connection) waitForGoroutines() {
	watched.leave(c) // which starts some
	c.goroutines.Wait()
}

// recoverFault ends a session that met a fault of ours. It is deferred by every
// goroutine that handles messages.
func (c *connection) recoverFault() {
	if c.logFault(recover()) {
		c.session.CloseInternal()
		if !c.opened.Load() {
			c.Abort()
		}
	}
}

// logFault reports whether there was a fault, which it logs.
func (c *connection) logFault(fault any) bool {
	if fault != nil {
		c.log.Error("fault in a session", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
	}
	return fault != nil
}

// until is a context that ends with a channel.
type until struct {
	context.Context
	done <-chan struct{}
}

func (u until) Done() <-chan struct{} { return u.done }

func (u until) Err() error {
	select {
	case <-u.done:
		return context.Canceled
	default:
		return nil
	}
}

var (
	_ pubsub.TryWriter    = (*connection)(nil)
	_ pubsub.StreamOpener = (*connection)(nil)
)
