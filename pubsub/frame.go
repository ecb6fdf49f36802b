package pubsub

import "time"

// frame is one message in queues: a deliver frame, which all sessions that get
// it share, or a line that keeps its place between them. It never changes, except for
// holders.
type frame struct {
	data     []byte
	kind     Kind
	kept     bool // it is never dropped: it has a position, and is for one subscription, which catches up, it has taken credit, or it is about presence
	presence bool // it tells who is present, and is no delivery
	// holders is how many queues the frame was put into, one after the other by one
	// publisher; see charge.
	holders uint32
	at      time.Duration // when the publish was accepted, on the hub's clock
	caps    *byteCaps     // of the tenant; nil: it has none
	late    *lateness     // it, or a line about its subscription, may be removed; nil: it may not
}
