package memnet

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// maxPackets is how many packets may wait at a socket; further ones are lost.
const maxPackets = 4096

// ListenPacket opens a socket for packets; with port 0 at any that is free.
func (n *Network) ListenPacket(at netip.AddrPort) (*PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Port() == 0 {
		at = n.port(at.Addr())
	}
	if n.sockets[at] != nil {
		return nil, fmt.Errorf("memnet: %v is in use", at)
	}
	c := &PacketConn{network: n, at: at}
	c.changed.L = &c.mu
	n.sockets[at] = c
	return c, nil
}

// PacketConn is a [net.PacketConn]. Its writes never wait.
type PacketConn struct {
	network *Network
	at      netip.AddrPort

	mu      sync.Mutex
	changed sync.Cond
	packets []packet
	closed  bool
	readBy  deadline
}

type packet struct {
	from netip.AddrPort
	data []byte
}

// ReadFrom implements [net.PacketConn].
func (c *PacketConn) ReadFrom(b []byte) (int, net.Addr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, nil, net.ErrClosed
		case c.readBy.passed():
			return 0, nil, os.ErrDeadlineExceeded
		case len(c.packets) > 0:
			p := c.packets[0]
			c.packets = c.packets[1:]
			return copy(b, p.data), net.UDPAddrFromAddrPort(p.from), nil
		}
		c.changed.Wait()
	}
}

// WriteTo implements [net.PacketConn]. A packet to nobody, or to a host that is cut off, is lost.
func (c *PacketConn) WriteTo(b []byte, dst net.Addr) (int, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	addr, ok := dst.(*net.UDPAddr)
	if !ok {
		return 0, fmt.Errorf("memnet: %v is no address for packets", dst)
	}
	c.network.mu.Lock()
	to := addr.AddrPort()
	other := c.network.sockets[netip.AddrPortFrom(to.Addr().Unmap(), to.Port())]
	c.network.mu.Unlock()
	if other != nil && c.network.cutOff(c.at.Addr(), other.at.Addr()) == nil {
		other.take(packet{c.at, append([]byte(nil), b...)})
	}
	return len(b), nil
}

func (c *PacketConn) take(p packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.packets) < maxPackets && !c.closed {
		c.packets = append(c.packets, p)
		c.changed.Broadcast()
	}
}

// Close implements [net.PacketConn].
func (c *PacketConn) Close() error {
	c.network.mu.Lock()
	delete(c.network.sockets, c.at)
	c.network.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.readBy.timer != nil {
		c.readBy.timer.Stop()
	}
	c.changed.Broadcast()
	return nil
}

// LocalAddr implements [net.PacketConn].
func (c *PacketConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.at) }

// SetReadDeadline implements [net.PacketConn].
func (c *PacketConn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readBy.timer != nil {
		c.readBy.timer.Stop()
	}
	c.readBy = deadline{at: at}
	if wait := time.Until(at); !at.IsZero() && wait > 0 {
		c.readBy.timer = time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.changed.Broadcast()
		})
	}
	c.changed.Broadcast()
	return nil
}

// SetWriteDeadline implements [net.PacketConn].
func (c *PacketConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements [net.PacketConn].
func (c *PacketConn) SetDeadline(at time.Time) error { return c.SetReadDeadline(at) }

// SetReadBuffer does nothing: quic-go asks for it.
func (c *PacketConn) SetReadBuffer(int) error { return nil }

// SetWriteBuffer does nothing: quic-go asks for it.
func (c *PacketConn) SetWriteBuffer(int) error { return nil }

var _ net.PacketConn = (*PacketConn)(nil)

// Listens reports whether there is a socket for packets at an address.
func (n *Network) Listens(at netip.AddrPort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sockets[at] != nil
}
