package webtransport

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// Conn is a WebTransport session, the stream of its CONNECT request, and the QUIC
// connection that it came on.
type Conn struct {
	*webtransport.Session
	Request RequestStream
	QUIC    *quic.Conn
	// Kinds says that the client sends kinds, as fastpubsub-sdk does. If it is not known,
	// the first byte that it sends tells, unless that belongs to a frame.
	Kinds bool
	// CloseIfIdle closes the QUIC connection unless something else uses it. It is called
	// after the session of a client that did not authenticate.
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

// wait waits for d, or until the client ends the session.
func (c Conn) wait(d time.Duration) { wait(c.Context(), d) }

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// closeSessionCapsule is the type of the capsule WT_CLOSE_SESSION.
const closeSessionCapsule = 0x2843

// closeSession closes the session. The library's own close stops reading the request's
// stream in the packet that has the code: Chromium then takes the session for
// broken, and never looks at the code. So the code is sent first, and the rest when
// the client has answered, or when timeout has passed. (The library grants streams and
// bytes over the same stream, in writes of two parts. If the code falls between the
// two, or finds no credit, the client sees an end without it.)
func (c Conn) closeSession(code wire.CloseCode, reason string, timeout time.Duration) {
	if c.Request.TryWriteAll(appendClose(nil, code, reason)) == nil && c.Request.Close() == nil {
		c.wait(timeout)
	}
	_ = c.CloseWithError(webtransport.SessionErrorCode(code), reason) // never fails
}

// appendClose appends the capsule WT_CLOSE_SESSION
// (draft-ietf-webtrans-http3, Session Termination; RFC 9297, section 3.2).
func appendClose(dst []byte, code wire.CloseCode, reason string) []byte {
	dst = quicvarint.Append(dst, closeSessionCapsule)
	dst = quicvarint.Append(dst, uint64(4+len(reason)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(code))
	return append(dst, reason...)
}
