package nats

import "github.com/millrace/millrace/pubsub"

// SendPresence implements [pubsub.PresenceCarrier].
func (b *Broker) SendPresence(edge string, message []byte) { b.sendAside(&b.presence, edge, message) }

// HandlePresence implements [pubsub.PresenceCarrier]. It is called once.
func (b *Broker) HandlePresence(take func(name, edge string, message []byte) error) {
	b.handleAsides(&b.presence, take, "", b.id.String())
}

// SendNotice implements [pubsub.NoticeCarrier].
func (b *Broker) SendNotice(message []byte) { b.sendAside(&b.notices, "", message) }

// HandleNotices implements [pubsub.NoticeCarrier]. It is called once.
func (b *Broker) HandleNotices(take func(message []byte) error) {
	b.handleAsides(&b.notices, func(_, _ string, message []byte) error { return take(message) }, "")
}

var (
	_ pubsub.PresenceCarrier = (*Broker)(nil)
	_ pubsub.NoticeCarrier   = (*Broker)(nil)
)
