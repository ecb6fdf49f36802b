package unixbroker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
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

// read handles what the peer sends until the connection ends.
func (b *Broker) read(p *peer, r *bufio.Reader) error {
	var buf []byte
	for {
		_ = p.conn.SetReadDeadline(time.Now().Add(b.settings.silence))
		kind, body, err := readFrame(r, &buf)
		if err == nil {
			err = b.handle(p, kind, body)
		}
		if err != nil {
			return err
		}
	}
}

func (b *Broker) handle(p *peer, kind byte, body []byte) error {
	switch kind {
	case kindSubscribe, kindUnsubscribe:
		in, err := decodeInterest(body)
		if err != nil {
			return err
		}
		return b.change(p, kind == kindSubscribe, in)
	case kindSync, kindSynced:
		n, err := decodeNumber(body)
		if err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if kind == kindSync {
			p.known = true
			delete(b.missing, p.id)
			signal(b.changed)
			p.control(appendNumber(nil, kindSynced, n))
			return nil
		}
		p.synced = n
		signal(b.changed)
	case kindMessage:
		m, s, err := decodeMessage(body)
		if err != nil {
			return err
		}
		b.receive(p, m, s)
	case kindPing:
	case kindLeave:
		b.mu.Lock()
		defer b.mu.Unlock()
		p.leaving = true
		p.control(appendFrame(nil, kindLeft))
		signal(b.changed)
	case kindLeft:
		b.mu.Lock()
		defer b.mu.Unlock()
		p.setLeft()
	default:
		return fmt.Errorf("%w: kind %d", errFrame, kind)
	}
	return nil
}

// change adds or removes an interest of a peer.
func (b *Broker) change(p *peer, add bool, in interest) error {
	parsed, err := pattern.Parse(in.pattern)
	if err != nil {
		return errors.Join(errFrame, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tree := p.interests[in.tenant]
	if !add {
		if tree == nil {
			return nil
		}
		if _, known := tree.Delete(parsed); known {
			p.count--
		}
		if tree.Len() == 0 {
			delete(p.interests, in.tenant)
		}
		return nil
	}
	if p.count >= maxInterests {
		return fmt.Errorf("more than %d interests", maxInterests)
	}
	if tree == nil {
		tree = new(pattern.Tree[struct{}])
		p.interests[in.tenant] = tree
	}
	if _, known := tree.Insert(parsed, struct{}{}); !known {
		p.count++
	}
	return nil
}

// receive takes a message of another edge.
func (b *Broker) receive(p *peer, m pubsub.Message, s search) {
	if wire.CheckTenant(m.Tenant) != nil || wire.CheckChannel(m.Channel) != nil {
		if r, ok := b.receiver.(pubsub.Rejecter); ok {
			r.Rejected(1)
		}
		b.log.Warn("another edge has sent a message with an illegal name", zap.Stringer("edge", p.id))
		return
	}
	if m.Delivery == wire.Broadcast {
		b.receiver.Receive(m)
		return
	}
	if taken, s := b.offer(m, s); !taken && b.search(m, s) != nil {
		b.receiver.Unsent(1)
	}
}
