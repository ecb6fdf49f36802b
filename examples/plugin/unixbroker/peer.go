package unixbroker

import (
	"bufio"
	"net"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
)

const (
	// maxPeers bounds the edges of an overlay, without this one.
	maxPeers = 128
	// maxInterests bounds what one peer can announce.
	maxInterests = 1 << 20
	// chunk is how many bytes a peer must take within settings.silence.
	chunk = 64 << 10
)

// peer is another edge, while there is a connection to it.
type peer struct {
	id   edgeID
	conn net.Conn
	out  *queue
	left chan struct{} // closed: it sends no message any more

	// Guarded by Broker.mu.
	interests map[string]*pattern.Tree[struct{}] // by tenant
	count     int                                // of interests
	known     bool                               // it has announced all that it has
	synced    uint64                             // the highest kindSync that it has answered
	leaving   bool                               // it takes nothing more
	hasLeft   bool                               // left is closed
}

// matches reports whether a message is for this peer. The caller holds Broker.mu.
func (p *peer) matches(m *pubsub.Message) bool {
	tree := p.interests[string(m.Tenant)]
	return !p.leaving && tree != nil && len(tree.AppendMatches(nil, m.Channel)) > 0
}

// control queues frames that the peer must not miss: without room for them it is
// disconnected, and gets all of it with the next connection. The caller holds Broker.mu.
func (p *peer) control(frames []byte) {
	if p.out.pushControl(frames) != nil {
		p.conn.Close()
	}
}

// setLeft notes that the peer sends no message any more. The caller holds Broker.mu.
func (p *peer) setLeft() {
	if !p.hasLeft {
		p.hasLeft = true
		close(p.left)
	}
}

// write sends what is queued until the queue is closed and empty, or the peer does not
// take it, and then closes the connection. It returns how many messages were lost.
func (p *peer) write(s settings) (lost int) {
	defer p.conn.Close()
	ping := time.NewTicker(s.ping)
	defer ping.Stop()
	var frames []byte
	for {
		var messages int
		var more bool
		frames, messages, more = p.out.take(frames)
		for rest := frames; len(rest) > 0; {
			n := min(len(rest), chunk)
			_ = p.conn.SetWriteDeadline(time.Now().Add(s.silence))
			if _, err := p.conn.Write(rest[:n]); err != nil {
				p.out.close()
				_, waiting, _ := p.out.take(nil)
				return messages + waiting // some of the former may have arrived
			}
			rest = rest[n:]
		}
		switch {
		case len(frames) > 0:
			continue
		case !more:
			return 0
		}
		select {
		case <-p.out.ready:
		case <-ping.C:
			_ = p.out.pushControl(appendFrame(nil, kindPing)) // if it is closed, the loop ends
		}
	}
}

// serve runs a connection until it ends.
func (b *Broker) serve(p *peer, r *bufio.Reader) {
	written := make(chan int, 1)
	go func() { written <- p.write(b.settings) }() // ends with the queue or the connection; awaited below
	err := b.read(p, r)
	p.out.close()
	p.conn.Close()
	if lost := <-written; lost > 0 {
		b.receiver.Unsent(lost)
	}
	b.unregister(p, err)
}
