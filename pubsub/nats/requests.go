package nats

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub"
)

// Requests of operators come and go beside the messages, on subscriptions, in queues and
// in goroutines of their own, so that neither crowds out the other. A request names who
// asks and has a random number, which the subject of its answer ends with. This file has
// the side that asks, answers.go the one that answers.
const (
	// maxPending bounds the requests of this edge that wait for an answer.
	maxPending = 64
	// maxRequestTime is how long an edge may take to answer, and how long a request without
	// a deadline waits.
	maxRequestTime = 10 * time.Second
	// requestsLen is how many requests, and how many answers, can have come before
	// requestLoop takes them. More are lost.
	requestsLen = 64
)

// requests are those under way, of this edge and to it.
type requests struct {
	asked   chan *client.Msg // requests of other edges, from NATS
	replies chan *client.Msg // answers of other edges, from NATS

	mu      sync.Mutex
	closed  bool
	pending map[uint64]*pendingRequest // by number
	answering
}

// pendingRequest is a request that another edge is to answer.
type pendingRequest struct {
	to     edgeID
	name   sender        // of that edge
	answer chan response // takes one
}

// response is how a request ends.
type response struct {
	body []byte
	err  error
}

func (r *requests) init() {
	r.asked, r.replies = make(chan *client.Msg, requestsLen), make(chan *client.Msg, requestsLen)
	r.pending = map[uint64]*pendingRequest{}
	r.answering.init()
}

// Why an edge does not answer, beside its silence.
var (
	errNobodyThere    = fmt.Errorf("%w: it is gone, or of a version without requests", pubsub.ErrNoAnswer)
	errRefused        = fmt.Errorf("%w: it takes no requests now", pubsub.ErrNoAnswer)
	errAnswerTooLarge = fmt.Errorf("%w: the answer would be too large", pubsub.ErrNoAnswer)
	errBusy           = fmt.Errorf("%w at the edge that is asked", pubsub.ErrTooManyRequests)
	errClosed         = fmt.Errorf("%w: this edge stops", pubsub.ErrNoLink)
)

// Request implements [pubsub.Requester].
func (b *Broker) Request(ctx context.Context, edge string, body []byte) ([]byte, error) {
	var to edgeID
	if to.UnmarshalText([]byte(edge)) != nil {
		return nil, pubsub.ErrUnknownEdge
	}
	name, known := b.peers.lookup(to)
	switch {
	case !known:
		return nil, pubsub.ErrUnknownEdge
	case len(body) > pubsub.MaxRequest:
		return nil, pubsub.ErrRequestTooLarge
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", pubsub.ErrNoAnswer, ctx.Err())
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, maxRequestTime)
		defer cancel()
	}
	number, p, err := b.requests.begin(to, name)
	if err != nil {
		return nil, err
	}
	defer b.requests.end(number, response{})
	deadline, _ := ctx.Deadline()
	if err = b.enqueueOutgoing(&outgoing{
		subject: b.publishPrefix + requestsTo(to),
		// Where nobody listens, NATS says so at once: to this edge, in its own name.
		reply:   b.publishPrefix + answerTo(b.id, number),
		data:    appendRequest(nil, b.id, number, time.Until(deadline), body),
		request: number,
	}); err != nil {
		return nil, err
	}
	select {
	case r := <-p.answer:
		return r.body, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", pubsub.ErrNoAnswer, ctx.Err())
	}
}

// begin notes a request, if there is room for one more.
func (r *requests) begin(to edgeID, name sender) (number uint64, p *pendingRequest, err error) {
	var random [8]byte
	rand.Read(random[:]) // never fails
	number = binary.BigEndian.Uint64(random[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return 0, nil, errClosed
	case len(r.pending) >= maxPending:
		return 0, nil, pubsub.ErrTooManyRequests
	}
	p = &pendingRequest{to, name, make(chan response, 1)}
	r.pending[number] = p
	return number, p, nil
}

// end ends a request, if it has not ended yet.
func (r *requests) end(number uint64, how response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.pending[number]; p != nil {
		delete(r.pending, number)
		p.answer <- how
	}
}

// failAll ends all requests with an error.
func (r *requests) failAll(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for number, p := range r.pending {
		delete(r.pending, number)
		p.answer <- response{err: err}
	}
}

// requestLoop takes requests and answers from NATS until the broker stops receiving. It
// waits for nobody: what is to be answered has goroutines of its own.
func (b *Broker) requestLoop() {
	for {
		var m *client.Msg
		select {
		case m = <-b.requests.asked:
		case m = <-b.requests.replies:
		case <-b.stopReceiving:
			return
		}
		if from, err := b.handleRequests(m); err != nil {
			b.reject(from, err.Error())
		}
	}
}

var errNotRequest = errors.New("not a request or an answer of an edge")

// handleRequests takes a request of another edge, or an answer of one.
func (b *Broker) handleRequests(m *client.Msg) (from sender, err error) {
	from, kind, rest, ok := b.splitRequestSubject(m.Subject)
	switch {
	case !ok:
		return from, errNotRequest
	case kind == "w" && m.Header.Get(statusHeader) != "":
		if from != b.name {
			return from, errNotSender
		}
		if number, ok := parseNumber(rest); ok {
			b.requests.end(number, response{err: errNobodyThere})
		}
		return from, nil
	case len(m.Data) < requestHeader || m.Data[0] != version:
		return from, notOurs(m.Data, errNotRequest)
	}
	id := edgeID(binary.BigEndian.Uint64(m.Data[2:]))
	if id == anyEdge || id == b.id || !from.owns(id) {
		return from, errNotSender
	}
	if kind == "r" {
		return from, b.handleRequest(from, id, m.Data)
	}
	return from, b.handleReply(from, id, rest, m.Data[1], m.Data[requestHeader:])
}

// handleReply takes an answer, or the reason why there is none. One that nobody waits for
// any more is ignored.
func (b *Broker) handleReply(from sender, id edgeID, rest string, kind byte, body []byte) error {
	number, ok := parseNumber(rest)
	if !ok {
		return errNotRequest
	}
	b.requests.mu.Lock()
	p := b.requests.pending[number]
	b.requests.mu.Unlock()
	switch {
	case p == nil:
		return nil
	case p.to != id || p.name != from:
		return errNotSender
	}
	how := response{body: body}
	if kind != kindAnswer || len(body) > pubsub.MaxAnswer {
		how.body = nil
	}
	switch kind {
	case kindAnswer:
		if how.body == nil && len(body) > 0 {
			how.err = errAnswerTooLarge
		}
	case kindBusy:
		how.err = errBusy
	case kindRefused:
		how.err = errRefused
	case kindTooLarge:
		how.err = errAnswerTooLarge
	default:
		return errNotRequest
	}
	b.requests.end(number, how)
	return nil
}

// stopRequests ends the requests of this edge, and waits until none of others is being
// answered. From then on both are refused.
func (b *Broker) stopRequests() {
	r := &b.requests
	r.mu.Lock()
	r.closed = true
	r.refuseWaiting(b)
	r.mu.Unlock()
	r.failAll(errClosed)
	r.cancel()
	r.running.Wait()
}
