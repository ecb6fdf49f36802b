package pubsub

import (
	"context"
	"errors"
	"time"
)

// The bounds of what a [Requester] carries, in bytes. Both fit into a message of NATS, whose
// servers take 1 MiB unless they are told otherwise.
const (
	MaxRequest = 64 << 10
	MaxAnswer  = 512 << 10
)

// Why a [Requester] has no answer. Its errors are these, or wrap one of them.
var (
	ErrUnknownEdge     = errors.New("there is no such edge")
	ErrNoLink          = errors.New("the link to the other edges is down")
	ErrRequestTooLarge = errors.New("the request is too large")
	// Of this edge, or at the one that was asked.
	ErrTooManyRequests = errors.New("too many requests between edges are under way")
	// Wraps the context's error if nothing came in time. The edge that was asked may have
	// handled the request.
	ErrNoAnswer = errors.New("the edge does not answer")
)

// Requester is a [Broker] that carries requests of operators between edges. Where a broker
// is none, an edge knows of no others.
//
// Requests and answers share the link with messages, and are small and few by comparison.
// Each is as trustworthy as the broker's own messages: whoever may send those may ask.
type Requester interface {
	// Members lists the edges of the overlay, this one first and the others in the order of
	// their IDs. Unlike [Directory].Edges it has those that drain or announce no host, and for
	// an hour, as long as there is room, those that have fallen silent without saying that they leave.
	Members() []Member
	// HandleRequests sets what answers requests of other edges; until then, and with nil,
	// they are refused. answer may be called concurrently, a bounded number of times, also
	// once more after HandleRequests has replaced it. It must return soon after ctx has
	// ended, which it does when the broker closes, and returns the answer's body, which the
	// broker then owns. One over MaxAnswer is not sent: the asker gets ErrNoAnswer.
	HandleRequests(answer func(ctx context.Context, from Member, body []byte) []byte)
	// Request asks another edge, by its [Member].ID, and waits for the answer until ctx ends;
	// if ctx has no deadline, a bounded time. It does not keep body. It fails at once if it cannot be
	// asked or is not there. Errors: ErrUnknownEdge, ErrNoLink, ErrRequestTooLarge,
	// ErrTooManyRequests and ErrNoAnswer.
	Request(ctx context.Context, edge string, body []byte) ([]byte, error)
}

// The states of a [Member].
const (
	MemberHere     = "here"
	MemberDraining = "draining" // takes no new clients
	MemberSilent   = "silent"   // has not announced itself for a while
)

// Member is an edge as operators see it.
type Member struct {
	ID     string    // of its process: 16 hex digits
	Name   string    // its name for the broker, which the broker's permissions vouch for; empty: it has none
	Host   string    // that it announces to clients; empty: none
	Region string    // likewise
	State  string    // MemberHere, MemberDraining or MemberSilent
	SeenAt time.Time // its last announcement; zero: this is the edge itself
}
