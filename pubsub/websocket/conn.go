// Package websocket carries [pubsub.Session]s over WebSocket connections
// (RFC 6455) whose handshake is done. It reads with a parser of its own and
// writes joined frames: only the session's one writer writes, so answers to pings and
// closes keep their place in its queue.
//
// An idle connection costs one goroutine, its reader, with the smallest stack
// there is (with TLS, the next size), and no buffer of ours.
package websocket

import (
	"net"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

const (
	pingEvery      = 25 * time.Second // keep-alive from the edge
	silenceTimeout = 60 * time.Second // a client that sends nothing for so long is gone
	settleAfter    = 2 * time.Second  // a reader that has had no work for so long moves to a small stack

	statusProtocolError = wire.CloseCode(1002) // RFC 6455, section 7.4.1
)

// Serve runs a session over conn until the connection ends, and closes conn. early is
// what the client sent behind its handshake and was read together with it; Serve takes
// it over. Serve returns at once: the reader runs on a goroutine of the hub.
func Serve(hub *pubsub.Hub, s *pubsub.Session, conn net.Conn, early []byte, log *zap.Logger) {
	start(hub, s, conn, early, log)
}

// session is what a connection uses of a [pubsub.Session].
type session interface {
	Attach(pubsub.Transport)
	Ready(wait time.Duration) bool
	ReadLimit() int
	Charge(n int)
	HandleFrame(frame []byte)
	HandleLine(line []byte)
	HandlePing(payload []byte)
	QueueControl(kind pubsub.Kind, data []byte)
	Close(code wire.CloseCode, reason string)
	CheckProgress()
	CloseInternal()
	Closing() bool
	Detach()
}

func start(hub *pubsub.Hub, s session, conn net.Conn, early []byte, log *zap.Logger) {
	now := time.Now()
	c := &connection{hub: hub, session: s, conn: conn, log: log, buffer: early, lastHeard: now, lastPinged: now, active: true}
	c.openRaw()
	limitUnsent(conn)
	hub.Go(c.run)
}

type connection struct {
	hub     *pubsub.Hub
	session session
	conn    net.Conn
	log     *zap.Logger

	// owned by the reader
	buffer     []byte  // what was read
	start      int     // of what is not handled yet, in buffer
	borrowed   *[]byte // the pooled array that buffer lies in; nil: it has one of its own, or none
	message    []byte  // what has come so far of a fragmented message
	head       [shortest]byte
	opcode     byte // of the fragmented message; 0: none is under way
	text       textCheck
	lastHeard  time.Time
	lastPinged time.Time
	attached   bool
	active     bool // has done something since it moved to a small stack
	moving     bool // the reader moves to a small stack now
	moved      bool // it has, and has not read since

	raw syscall.RawConn // of a plain socket; nil: another kind of connection

	// of reads from raw, owned by the reader
	tryReadFunc func(fd uintptr) (done bool) // tryRead, bound once
	want        int                          // bytes that makeRoom makes room for
	got         int
	failed      error

	leftover []byte // owned by the writer: what TryWrite could not write

	// The one of reader and writer that sets the second of these closes the connection.
	closeReceived atomic.Bool // the client's close frame arrived
	closeSent     atomic.Bool // ours was written

	unreadable atomic.Bool // the start of the next frame cannot be found any more
}

// run is the connection's reader.
func (c *connection) run() {
	defer c.exit()
	if !c.attached {
		c.attached = true
		c.session.Attach(c.transport())
		c.arm()
	}
	c.readFrames()
}

// exit ends the reader's goroutine, and the connection, or starts the reader's
// next goroutine.
func (c *connection) exit() {
	if fault := recover(); fault != nil {
		c.log.Error("fault in a session", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
		c.session.CloseInternal()
		c.moving = false
	}
	if c.moving {
		c.moving, c.moved = false, true
		c.hub.Go(c.run)
		return
	}
	defer c.session.Detach()
	defer c.conn.Close()
	c.linger()
}

// readFrames reads and handles frames until the session closes, the connection
// breaks, or the reader moves.
func (c *connection) readFrames() {
	for {
		// The time of the next ping is only looked at when it matters.
		if !c.session.Ready(0) {
			if c.session.Closing() {
				return
			}
			c.releaseBuffer()
			c.moved = false
			if !c.session.Ready(time.Until(c.lastPinged.Add(pingEvery))) {
				c.keepAlive(time.Now())
				continue
			}
		}
		if !c.readFrame() {
			return
		}
	}
}

// keepAlive sends a ping when it is time for one.
func (c *connection) keepAlive(now time.Time) {
	if now.Sub(c.lastPinged) >= pingEvery {
		c.session.CheckProgress()
		c.session.QueueControl(pubsub.Ping, nil)
		c.lastPinged, c.active = now, true
	}
}

// tick is called when the read deadline has passed, which is the reader's only timer.
// The deadline is not moved with every read: it comes early on a busy connection, and
// is set again then. tick reports false when the goroutine must end.
func (c *connection) tick() bool {
	now := time.Now()
	c.releaseBuffer()
	c.keepAlive(now)
	switch idle := now.Sub(c.lastHeard); {
	case idle >= silenceTimeout:
		return c.close(wire.CloseGoingAway, "silent for too long")
	case c.active && idle >= settleAfter:
		c.active, c.moving = false, true
	}
	return c.arm() && !c.moving
}

// arm sets the read deadline to the earliest time at which tick may have something to
// do.
func (c *connection) arm() bool {
	next := c.lastHeard.Add(silenceTimeout)
	if ping := c.lastPinged.Add(pingEvery); ping.Before(next) {
		next = ping
	}
	if move := c.lastHeard.Add(settleAfter); c.active && move.Before(next) {
		next = move
	}
	return c.conn.SetReadDeadline(next) == nil // it fails only on a closed connection
}

// markActive notes that the reader's stack may have grown: the runtime never shrinks
// one back to its smallest size. Once there is nothing to do, the reader continues
// in a new goroutine.
func (c *connection) markActive() {
	if !c.active {
		c.active = true
		c.arm() // if it fails, so does the next read
	}
}

func (c *connection) close(code wire.CloseCode, reason string) bool {
	c.session.Close(code, reason)
	return false
}

// closeUnreadable is close for a client that breaks a rule within a frame, or where one
// should begin. Its close frame could not be found behind that, so nobody waits for it
// (RFC 6455, section 7.1.7).
func (c *connection) closeUnreadable(code wire.CloseCode, reason string) bool {
	c.unreadable.Store(true)
	return c.close(code, reason)
}
