// Package memnet is a network in memory: streams as those of TCP, and packets as those of
// UDP, without sockets. What is sent has arrived at once, so a test in a synctest bubble
// has the times of what it tests alone.
package memnet

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
)

// Network has hosts, each with an address. Safe for concurrent use.
type Network struct {
	mu        sync.Mutex
	listeners map[netip.AddrPort]*Listener
	sockets   map[netip.AddrPort]*PacketConn
	flows     map[*flow]struct{}           // of the streams that are open
	cut       map[netip.Addr]chan struct{} // hosts that are cut off; closed when they are no more
	nextPort  map[netip.Addr]uint16        // the last one that was given to a connection
}

// New returns a network without hosts.
func New() *Network {
	return &Network{
		listeners: map[netip.AddrPort]*Listener{}, sockets: map[netip.AddrPort]*PacketConn{},
		flows: map[*flow]struct{}{}, cut: map[netip.Addr]chan struct{}{}, nextPort: map[netip.Addr]uint16{},
	}
}

// Cut cuts a host off until heal is called: what is on a stream waits, packets are lost.
func (n *Network) Cut(host netip.Addr) (heal func()) {
	healed := make(chan struct{})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[host] = healed
	return sync.OnceFunc(func() {
		n.mu.Lock()
		if n.cut[host] == healed {
			delete(n.cut, host)
		}
		flows := slices.Collect(maps.Keys(n.flows))
		n.mu.Unlock()
		close(healed)
		for _, f := range flows {
			f.mu.Lock()
			f.changed.Broadcast()
			f.mu.Unlock()
		}
	})
}

// cutOff returns what is closed when two hosts reach each other again; nil: they do.
func (n *Network) cutOff(a, b netip.Addr) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if healed := n.cut[a]; healed != nil {
		return healed
	}
	return n.cut[b] // as a nil channel if there is none
}

// port returns a free port of a host. The caller holds n.mu.
func (n *Network) port(host netip.Addr) netip.AddrPort {
	if n.nextPort[host] == 0 {
		n.nextPort[host] = 1 << 15
	}
	n.nextPort[host]++
	return netip.AddrPortFrom(host, n.nextPort[host])
}

// Dial connects a host to a listener. It fails where none listens.
func (n *Network) Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[to]
	local := n.port(from)
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: syscall.ECONNREFUSED}
	}
	for healed := n.cutOff(from, to.Addr()); healed != nil; healed = n.cutOff(from, to.Addr()) {
		select {
		case <-healed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	near, far := n.pipe(local, to)
	select {
	case l.backlog <- far:
		return near, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Listen listens for streams.
func (n *Network) Listen(at netip.AddrPort) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[at] != nil {
		return nil, fmt.Errorf("memnet: %v is in use", at)
	}
	l := &Listener{network: n, at: at, backlog: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[at] = l
	return l, nil
}

// Listener is a [net.Listener].
type Listener struct {
	network *Network
	at      netip.AddrPort
	backlog chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, l.at)
		close(l.closed)
	})
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

var _ net.Listener = (*Listener)(nil)
