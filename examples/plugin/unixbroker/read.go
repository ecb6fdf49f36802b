package unixbroker

import (
	"bufio"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

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
	if wire.CheckTenant(m.Tenant) != nil || wire.CheckChannel(m.Channel) != nil || !wire.IsSender(m.Sender) {
		if r, ok := b.receiver.(pubsub.Rejecter); ok {
			r.Rejected(1)
		}
		b.log.Warn("another edge has sent a message with an illegal name, or sender", zap.Stringer("edge", p.id))
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
