package nats

import (
	"errors"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// handle handles a message that was admitted. Those of a tenant come one at a time.
func (b *Broker) handle(w *worker, m *client.Msg) {
	from, rest, _ := b.splitSender(m.Subject)
	kind, rest, _ := strings.Cut(rest, ".")
	switch kind {
	case "a":
		before := len(b.peers.otherIDs())
		isNew, err := b.peers.handleAnnouncement(from, m.Data, time.Now())
		if err != nil {
			b.reject(from, err.Error())
		}
		if isNew && b.newPeerCount.Add(1) <= maxNewPeers {
			b.responders.requeryAll()
			b.announce()
		}
		if known := b.peers.otherIDs(); len(known) < before || isNew && len(known) == before { // it took another one's place
			b.retainEdges(known)
		}
	case "b":
		message, err := w.parseSubject(rest)
		if err != nil {
			b.reject(from, err.Error())
			return
		}
		_, _, c, _ := splitBroadcast(m.Data)
		message.Sender, message.Payload = c.sender, c.payload
		b.receiver.Receive(message)
	case "o", "e", "q":
		if kind == "e" {
			_, rest, _ = strings.Cut(rest, ".")
			if m.Header.Get(statusHeader) != "" {
				if from == b.name { // or no edge has a name
					b.handleUndelivered(rest)
				}
				return
			}
		}
		message, err := w.parseSubject(rest)
		if err == nil {
			err = b.handleDirected(from, kind, message, m.Data)
		}
		if err != nil {
			b.reject(from, err.Error())
		}
	}
}

// statusHeader is a header of what NATS itself answers: that nobody listens there.
const statusHeader = "Status"

// handleDirected handles a message for one connection, or a control message, that came on
// a subject of this kind.
func (b *Broker) handleDirected(from sender, subjectKind string, m pubsub.Message, data []byte) error {
	if len(data) < 2 || data[0]&^withSender != version {
		return notOurs(data, errNotDirected)
	}
	first, kind, data := data[0], data[1], data[2:]
	if kind == kindFate && first == version && subjectKind == "e" {
		return b.handleFate(from, &m, data)
	}
	if kind != kindMessage {
		id, ok := splitControl(data)
		switch {
		case !ok || first != version || subjectKind == "o" || kind != kindMarker && (subjectKind == "q") != (kind == kindQuery):
			return errNotDirected
		case !from.owns(id):
			return errNotSender
		case kind == kindMarker && subjectKind == "q":
			m.Issuer = b.ownerOf(m.Tenant)
			_ = b.sendControl(&m, direct(id), kindMarker) // an edge that gets none goes on without it
			return nil
		case kind == kindMarker:
			b.handleMarker(m, id)
			return nil
		}
		b.handleControl(m, kind, id)
		return nil
	}
	delivery, tried, c, ok := splitOne(first, data)
	if !ok || subjectKind == "q" || subjectKind == "o" && delivery != wire.OneNearest {
		return errNotDirected
	}
	m.Sender, m.Payload, m.Delivery = c.sender, c.payload, delivery
	if taken, tried := b.tryLocal(m, tried); !taken { // the subscribers have left, or have no room
		m.Issuer = b.ownerOf(m.Tenant)
		b.forward(m, tried)
	}
	return nil
}

var errNotDirected = errors.New("not what one edge sends to another")

// parseSubject reads tenant and channel of a message from another edge, which have to be names of the protocol: that
// edge may not have checked them. They are valid until the next call.
func (w *worker) parseSubject(subject string) (m pubsub.Message, err error) {
	w.subject = append(w.subject[:0], subject...)
	tenant, channel, ok := natssubject.SplitChannel(w.subject)
	if !ok {
		return m, errSubject
	}
	if err := wire.CheckTenant(tenant); err != nil {
		return m, err
	}
	if err := wire.CheckChannel(channel); err != nil {
		return m, err
	}
	return pubsub.Message{Tenant: tenant, Channel: channel, Delivery: wire.Broadcast, Remote: true}, nil
}

var errSubject = errors.New("its subject does not have a tenant and a channel")
