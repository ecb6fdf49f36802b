package nats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// publishNearest sends a message to the nearest other edge that NATS knows to have an
// interest. If there is none, a subscriber of this edge that was told to leave gets
// it, or it is lost. asking is what fates.add returned, here and below; nil: nobody asks.
func (b *Broker) publishNearest(m pubsub.Message, asking []edgeID) error {
	tried := append(slices.Clone(asking), b.id)
	subject := b.channelSubject(nearest, &m)
	if m.HasSubscribers || asking != nil {
		subject = b.withNoRespondersReply(subject, &m, anyEdge, b.inFlight.add(m, append(tried, anyEdge), time.Now()))
	}
	err := b.enqueueMessage(&m, subject, func(to []byte) []byte { return appendOne(to, wire.OneNearest, tried, bodyOf(&m)) })
	if err != nil && m.HasSubscribers {
		return b.deliverLocal(m, err, asking)
	}
	return err
}

// anyEdge stands for the edge that NATS chooses. No edge has this id.
const anyEdge edgeID = 0

// withNoRespondersReply adds a reply subject to a subject: if nobody listens where the message is
// sent, NATS answers there, and says by it the edge, the message's number and its
// tenant; see handleUndelivered.
func (b *Broker) withNoRespondersReply(subject func(to []byte) []byte, m *pubsub.Message, edge edgeID, number uint64) func(to []byte) []byte {
	return func(to []byte) []byte {
		to = append(append(append(subject(to), replySeparator...), b.publishPrefix...), direct(b.id)...)
		to = strconv.AppendUint(append(append(to, edge.String()...), '.'), number, 10)
		return natssubject.AppendTenant(append(to, '.'), m.Tenant)
	}
}

// sendToEdge sends a message to one edge. If that edge is gone, the message goes to
// another one.
func (b *Broker) sendToEdge(m pubsub.Message, to edgeID, tried []edgeID) error {
	subject := b.withNoRespondersReply(func(s []byte) []byte {
		return natssubject.AppendChannel(append(append(s, b.publishPrefix...), direct(to)...), m.Tenant, m.Channel)
	}, &m, to, b.inFlight.add(m, append(slices.Clone(tried), to), time.Now()))
	return b.enqueueMessage(&m, subject, func(data []byte) []byte { return appendOne(data, m.Delivery, tried, bodyOf(&m)) })
}

// forward finds another edge for a message that this one has no subscriber for, or
// no longer: a random one of all that were not tried yet, which may have none either.
// When all were tried, and one has subscribers that were told to leave, they are tried
// once more for these alone, this one first.
func (b *Broker) forward(m pubsub.Message, tried []edgeID) {
	for {
		untried := slices.DeleteFunc(append(b.peers.otherIDs(), b.id), func(id edgeID) bool { return slices.Contains(tried, id) })
		switch {
		case len(untried) > 0 && len(tried) < maxTried:
			if to := untried[rand.IntN(len(untried))]; to != b.id {
				if b.sendToEdge(m, to, tried) != nil {
					b.receiver.Unsent(1)
					b.tell(&m, tried, pubsub.FateUnknown)
				}
				return
			}
		case !isLastResort(tried) && slices.Contains(tried, someLeaving):
			tried = append([]edgeID{lastResort}, askingOf(tried)...)
		default:
			fate := pubsub.FateNoSubscriber
			if isLastResort(tried) || slices.Contains(tried, noRoom) {
				b.receiver.Unsent(1)
				fate = pubsub.FateBusy
			}
			b.tell(&m, tried, fate)
			return
		}
		var taken bool
		if taken, tried = b.tryLocal(m, tried); taken {
			return
		}
	}
}

// Marks among the edges that were tried. They are ids that no edge has.
const (
	lastResort  edgeID = math.MaxUint64     // before all others: they are tried once more
	someLeaving edgeID = math.MaxUint64 - 1 // one has subscribers that were told to leave
	noRoom      edgeID = math.MaxUint64 - 2 // one has subscribers without room
)

func isLastResort(tried []edgeID) bool { return len(tried) > 0 && tried[0] == lastResort }

// tryLocal offers a message to the hub of this edge, and adds this edge to those that
// were tried.
func (b *Broker) tryLocal(m pubsub.Message, tried []edgeID) (taken bool, all []edgeID) {
	m.LastResort = isLastResort(tried)
	n := b.receiver.Receive(m)
	if n > 0 {
		b.tell(&m, tried, pubsub.FateTaken)
	}
	return n > 0, b.addSelf(tried, n)
}

// addSelf adds this edge, where Receive has returned n, to those that were tried.
func (b *Broker) addSelf(tried []edgeID, n int) []edgeID {
	mark := map[int]edgeID{pubsub.SomeLeaving: someLeaving, pubsub.NoRoom: noRoom}[n]
	if mark != 0 && !isLastResort(tried) && !slices.Contains(tried, mark) {
		tried = append(tried, mark)
	}
	return append(tried, b.id)
}
