package webtransport

import (
	"net"
	"sync"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"
)

// network is where packets take a millisecond, and hosts can move to other addresses.
type network struct {
	simnet.PerfectRouter
	mu    sync.Mutex
	links []*simnet.SimulatedLink
	moved map[string]*net.UDPAddr // by the addresses of sockets
}

// listen opens a socket. What it sends arrives also after it was closed.
func (n *network) listen() *simnet.SimConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := &simnet.SimulatedLink{Latency: time.Millisecond, UploadPacket: n}
	n.links = append(n.links, link)
	at := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: len(n.links)}
	socket := simnet.NewBlockingSimConn(at, link)
	n.AddNode(at, link)
	link.Start()
	return socket
}

// close ends the network. All sockets have to be closed.
func (n *network) close() {
	for _, link := range n.links {
		link.Close()
	}
}

// move has the packets of a socket come from another address, and takes those to it.
func (n *network) move(socket *simnet.SimConn, ip string) {
	to := &net.UDPAddr{IP: net.ParseIP(ip), Port: 1}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.moved == nil {
		n.moved = map[string]*net.UDPAddr{}
	}
	n.moved[socket.LocalAddr().String()] = to
	n.AddNode(to, receiver{socket})
}

// receiver takes packets of an address to which a socket has moved.
type receiver struct{ socket *simnet.SimConn }

func (r receiver) RecvPacket(p simnet.Packet) { r.socket.RecvPacket(p) }

// SendPacket implements [simnet.Router].
func (n *network) SendPacket(p simnet.Packet) error {
	n.mu.Lock()
	if to := n.moved[p.From.String()]; to != nil {
		p.From = to
	}
	n.mu.Unlock()
	return n.PerfectRouter.SendPacket(p)
}
