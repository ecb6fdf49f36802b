package pubsub

import (
	"errors"
	"time"

	"github.com/millrace/millrace/wire"
)

// ErrLinkFull is what [Broker.Publish] returns, or wraps, for a message that is lost
// to other edges because more is published to its tenant than the link takes. The link
// is up, and may take the messages of other tenants.
var ErrLinkFull = errors.New("more is published to this tenant than the link to the other edges takes")

// Message is one publish on its way between edges. Its bytes are valid during
// the call that it comes with.
type Message struct {
	Tenant, Channel, Payload []byte
	// Sender is the subject of the token that published it, set by the edge that accepted
	// it; see wire.IsSender. Empty: the token has none, or that edge is of an earlier version.
	Sender   []byte
	Delivery wire.Delivery
	// Issuer is whose share of what the broker has it counts for, beside that of the tenant, and who pays for it
	// in Receive: the issuer of the publisher's token, where there are several. Empty: there is one, it came from
	// another edge, or the token is the operator's.
	Issuer string

	// Publisher is who has published it, for Receive of the same edge; nil: it came from another one. Brokers
	// pass it on within the process, and send it nowhere.
	Publisher *Session

	// Remote: it comes from another edge, and no Publish waits for this call of Receive: the message may wait for
	// messages that are being published.
	Remote bool

	// Of a message for one connection. HasSubscribers: this edge has subscribers, and none
	// could take it. LastResort: only subscribers that were told to reconnect may take
	// it, since nobody else does.
	HasSubscribers, LastResort bool
}

// What Receive returns where there are subscribers and none of them could take a message
// for one connection.
const (
	NoRoom      = -1 // they have no room
	SomeLeaving = -2 // some were told to reconnect, and could take it as a last resort
)

// Receiver is what a broker hands messages to: the hub of an edge.
type Receiver interface {
	// Receive delivers m to local subscribers only: to all that match, or, for
	// the two deliver-one modes, to exactly one. It reports how many
	// connections took it. It waits for no client and no network, but pauses for the
	// messages of a tenant that costs more than its share: messages of different
	// tenants should not wait for each other. The broker has checked the
	// names and the sender; what is larger than this edge takes from its clients is delivered to
	// nobody. For a message for one connection it returns NoRoom or SomeLeaving, which
	// are negative, where there are subscribers and none of them could take it.
	Receive(m Message) int
	// Interested reports whether a connection may take messages to a channel.
	Interested(tenant, channel []byte) bool
	// Linked says that the link to the other edges is up or down, whenever that
	// changes. Until the first call it is taken to be up. It may be called from
	// Join on, one call at a time, and never blocks.
	Linked(up bool)
	// Unsent counts messages that Publish or Receive took, and that could not be
	// passed on later.
	Unsent(n int)
	// Missed counts messages of other edges that came faster than Receive took
	// them.
	Missed(n int)
}

// OwnerTeller is a [Receiver] that knows whom the tenants belong to that its clients use. Where a broker
// shares something among tenants, it shares it among owners, too.
type OwnerTeller interface {
	// OwnerOf returns whose a tenant is; empty: it is not known, or does not matter. It does not block.
	OwnerOf(tenant string) string
}

// Rejecter is a [Receiver] that counts messages of other edges that no edge
// accepts from a client, and that the broker therefore did not hand to Receive.
type Rejecter interface {
	// Rejected counts n of them. It never blocks.
	Rejected(n int)
}

// CatchUpTime is how long a [Catcher] waits for edges that do not answer: clients wait 2 s
// for the answer to an UNSUB before they close the connection.
const CatchUpTime = 1500 * time.Millisecond

// Catcher is a [Broker] that knows when this edge has received what others have published,
// and when they have received what this one has.
type Catcher interface {
	// CatchUp calls done, once and from any goroutine, when two things have happened. All
	// messages to a tenant that this edge had published before the call have been handed
	// to Receive of the other edges. And all that the others had published when they heard
	// of the call have been handed to Receive of this one. It calls done at once if there
	// is no link, and after about [CatchUpTime] if an edge does not answer. CatchUp never
	// blocks, and done must not block.
	CatchUp(tenant string, done func())
}

// Fate is what became of a message to one connection.
type Fate uint8

// The fates.
const (
	FateUnknown      Fate = iota // another edge does not say: the message may have been taken
	FateTaken                    // it is in the queue of a connection
	FateNoSubscriber             // no edge has a subscriber
	FateBusy                     // there are subscribers, and none of them could take it
)

// FateTime is how long a [Confirmer] waits for other edges.
const FateTime = 5 * time.Second

// Confirmer is a [Broker] that says what became of a message to one connection.
type Confirmer interface {
	// PublishConfirmed is Publish of such a message. It calls told once, from any goroutine and
	// perhaps before it returns: when it knows, or with FateUnknown after about [FateTime]. An
	// error does not spare the call; Close does. told does not block.
	PublishConfirmed(m Message, told func(Fate)) error
}

// NoticeCarrier is a [Broker] that carries what the token stores of edges tell each other:
// small messages, up to some 100 KiB; any may be lost. Whoever takes them does not
// trust them.
type NoticeCarrier interface {
	// SendNotice hands a message to all other edges, before what else waits for the link. It
	// does not block, keeps nothing of the message, and may lose it.
	SendNotice(message []byte)
	// HandleNotices sets what takes such messages of other edges, one call at a time. An error
	// says that a message is not one that this version sends; the broker counts it as
	// rejected. It is called once; nothing is received before.
	HandleNotices(take func(message []byte) error)
}

// Edge is what a client has to know about an edge to choose one.
type Edge struct {
	Host   string `json:"host"`             // host name, with a port if it is not 443
	Region string `json:"region,omitempty"` // as in the rights of tokens
}

// Directory is a [Broker] that knows the edges of its overlay.
type Directory interface {
	// Announce sets what clients have to know about this edge, from now on. Without
	// a host it is not listed.
	Announce(Edge)
	// Edges lists those that take new clients, this one included.
	Edges() []Edge
	// SetDraining takes this edge off the list, or puts it back.
	SetDraining(draining bool)
}

// Broker connects the hub of one edge with those of the others. The contract,
// checked by brokertest.Run:
//
//   - All methods may be called concurrently, but calls of Subscribe and
//     Unsubscribe for the same tenant and pattern come one at a time.
//   - Messages of one edge reach each other edge in the order of their Publish
//     calls, those of one channel at least.
//   - Nothing is delivered twice.
//   - Publish never blocks on the network, and neither it nor Receive changes
//     the message's bytes or keeps them.
type Broker interface {
	// Join names the receiver of messages for this edge. Called once, before
	// any other method.
	Join(Receiver)
	// Publish passes on a message that was accepted by this edge, or says why it
	// cannot: [ErrLinkFull] if only its tenant is affected.
	//
	//   Broadcast   every OTHER edge with a matching interest receives it; the
	//               hub has served its own subscribers already.
	//   OneNearest  one other edge does; no subscriber of the hub could take it.
	//   OneRandom   one edge with a matching interest does, this one included.
	//
	// Where no edge takes a message for one connection, and one has subscribers that
	// were told to reconnect, these get it as a last resort.
	Publish(m Message) error
	// Subscribe announces the first local interest in a pattern. Local delivery
	// does not depend on it. It must not wait for the network: confirmed is
	// called, from any goroutine and possibly before Subscribe returns, once the
	// overlay knows of the interest; or, after Linked(false), when the link is
	// down, or has been silent for 5 s. The interest is announced all the same
	// when the link is back.
	Subscribe(tenant, pattern string, confirmed func())
	// Unsubscribe withdraws the interest after its last local subscriber left,
	// likewise without waiting.
	Unsubscribe(tenant, pattern string)
	// Close leaves the overlay. No Receive call happens after it returned.
	Close() error
}
