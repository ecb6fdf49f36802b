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
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
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

// closeSessionCapsule is a type of capsule.
const closeSessionCapsule = 0x2843

// Conn is a WebTransport session, the stream of its CONNECT request, and the QUIC
// connection that it came on.
type Conn struct {
	*webtransport.Session
	Request RequestStream
	QUIC    *quic.Conn
	// CloseIfIdle closes the QUIC connection unless something else goes on over it: the
	// session of a client that nobody knows is over.
	CloseIfIdle func()
}

// RequestStream is what the edge uses of an [http3.Stream].
type RequestStream interface {
	// TryWriteAll writes a DATA frame, or fails at once.
	TryWriteAll([]byte) error
	// Close ends the stream's sending half.
	Close() error
}

// peer is the address that the client sends from now: connections migrate.
func (c Conn) peer() netip.Addr {
	if udp, ok := c.QUIC.RemoteAddr().(*net.UDPAddr); ok {
		return udp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// linger is the time for a client to read what it was sent.
func (c Conn) linger() time.Duration {
	return min(max(4*c.QUIC.ConnectionStats().SmoothedRTT, minLinger), maxLinger)
}

// wait returns early if the client ends the session.
func (c Conn) wait(d time.Duration) { wait(c.Context(), d) }

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// closeSession closes the session. The library's own close stops reading the request's
// stream in the packet that has the code: Chromium then takes the session for
// broken, and never looks at the code. So the code goes first, and the rest when
// the client has answered, or had time to. (The library grants streams and bytes
// over the same stream, in writes of two parts. Should the code fall between the
// two, or find no credit, the client sees an end without it.)
func (c Conn) closeSession(code wire.CloseCode, reason string, patience time.Duration) {
	if c.Request.TryWriteAll(appendClose(nil, code, reason)) == nil && c.Request.Close() == nil {
		c.wait(patience)
	}
	_ = c.CloseWithError(webtransport.SessionErrorCode(code), reason) // fails never
}

// appendClose appends the capsule WT_CLOSE_SESSION
// (draft-ietf-webtrans-http3, Session Termination; RFC 9297, section 3.2).
func appendClose(dst []byte, code wire.CloseCode, reason string) []byte {
	dst = quicvarint.Append(dst, closeSessionCapsule)
	dst = quicvarint.Append(dst, uint64(4+len(reason)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(code))
	return append(dst, reason...)
}

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

// readMessage reads and handles one message of the main stream. It reports false
// when the session has ended.
func (c *connection) readMessage() bool {
	if !c.ready() {
		return false
	}
	message, err := c.in.next(c.session.ReadLimit())
	switch {
	case errors.Is(err, errTooBig):
		c.session.Close(wire.CloseTooBig, "message too big")
		return false
	case err != nil: // FIN, or the session or its connection is gone
		return false
	}
	return c.handle(message, func() {
		switch {
		case wire.IsFrame(message):
			c.session.HandleFrame(message)
		case utf8.Valid(message):
			c.session.HandleLine(message)
		default:
			c.session.Close(wire.CloseInvalidUTF8, "a line is not UTF-8")
		}
	})
}

// ready waits until the client may be read from, and reports false when the
// session has ended; serve watches for the end of the connection meanwhile.
func (c *connection) ready() bool {
	c.handling.Lock()
	defer c.handling.Unlock()
	for !c.session.Ready(0) {
		if c.session.Closing() {
			return false
		}
		if c.session.Ready(maxPause) {
			return true
		}
	}
	return true
}

// handle does what a message asks for, at its turn.
func (c *connection) handle(message []byte, do func()) bool {
	c.handling.Lock()
	defer c.handling.Unlock()
	c.session.Charge(len(message))
	if c.checkPeer() {
		do()
	}
	return !c.session.Closing()
}

// checkPeer ends the session if the client's address is none that its token
// allows. quic-go follows a client to a new address by itself.
func (c *connection) checkPeer() bool {
	if c.allowPeer == nil || c.allowPeer(c.peer()) {
		return true
	}
	c.session.Forbid("ip")
	return false
}

// Close implements [pubsub.Transport]. The stream's end comes behind the last
// line, so that a client knows that it has them all. One that says so, by ending its
// half, gets the code at once.
func (c *connection) Close(code wire.CloseCode, reason string) error {
	answered := make(chan struct{})
	c.closing.Store(&answered)
	err := c.main.Close()
	timer := time.NewTimer(c.linger())
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-c.Context().Done():
	}
	c.closeSession(code, reason, answerTimeout)
	return err
}

// Abort implements [pubsub.Transport]. The code needs none of the session's
// streams, which may be stuck.
func (c *connection) Abort() {
	code, reason := c.session.CloseStatus()
	if code == 0 {
		code = wire.CloseNormal
	}
	c.closeSession(code, reason, minLinger)
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
