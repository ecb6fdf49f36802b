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

	// maxLinger is the longest time that the edge gives a client to read its last lines,
	// before the session's end takes the streams away: four round trips, between
	// minLinger and this. A browser may be busy with something else.
	minLinger = 250 * time.Millisecond
	maxLinger = time.Second

	// answerBytes is how many bytes of the client are read and dropped while the edge
	// waits for the end of the client's half of the main stream, which ends the linger.
	answerBytes = 64 << 10

	// answerTimeout is how long a client may take to answer the session's end: a
	// browser on a busy machine needs seconds. A session that was admitted is cut
	// before that, when the hub's time for its close is over.
	answerTimeout = 5 * time.Second
)

// Admission is a client whose token was accepted.
type Admission struct {
	Session *pubsub.Session
	// AllowPeer reports whether the client may send from this address. It is called with
	// every message and every 5 s; nil: from any address.
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
	goroutines sync.WaitGroup // those beside the one that reads the main stream
	uni        uniStreams

	kinds      atomic.Bool // messages of the main stream have kinds
	opened     atomic.Bool // the main stream is there: no other is wanted
	checksPeer atomic.Bool // the client is admitted, from some addresses only
	served     atomic.Bool // session and main are set, and do not change any more

	// owned by the hub's connWatcher
	ticks          int  // calls of check so far
	refusesStreams bool // a goroutine resets further streams

	// owned by the goroutine that reads the main stream; main is static once the
	// session is attached
	main *webtransport.Stream
	in   messages

	// owned by the goroutine that writes to the main stream
	leftover         *[]byte // what TryWrite could not write; nil: nothing
	hasWriteDeadline bool    // of main

	// closing is set once the main stream's end is on its way. The reader closes the
	// channel when the client has ended its half, too.
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
	c.watch()
	main, err := c.AcceptStream(until{c.Context(), c.session.Done()})
	if err != nil { // without a stream there are no lines: the client gets the code alone
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
	c.in.kinds = c.Kinds
	c.kinds.Store(c.Kinds)
	c.opened.Store(true)
}

// serve runs an admitted session whose main stream is there.
func (c *connection) serve() {
	// A goroutine that waits for the client's caps does not read, and would not see the
	// end of the connection.
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

// finish waits for the end of the connection, which the session's writer closes, or the
// session aborts.
func (c *connection) finish() {
	<-c.Context().Done()
	c.waitForGoroutines()
	c.session.Detach()
}

// waitForGoroutines waits for the goroutines of a session that is over.
func (c *connection) waitForGoroutines() {
	c.unwatch() // first, as it starts some
	c.goroutines.Wait()
}

// recoverFault closes the session after a panic. Every goroutine that handles messages
// defers it.
func (c *connection) recoverFault() {
	if c.logFault(recover()) {
		c.session.CloseInternal()
		if !c.opened.Load() {
			c.Abort()
		}
	}
}

// logFault logs a fault, what recover returned, and reports whether there was one.
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
