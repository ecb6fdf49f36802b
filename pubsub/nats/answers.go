package nats

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

const (
	// maxAnswering bounds the requests that are answered at once, and
	// maxAnsweringPerEdge those of one edge among them.
	maxAnswering        = 8
	maxAnsweringPerEdge = 2
	// maxWaiting bounds the requests that wait for their turn, and maxWaitingPerEdge
	// those of one edge. Others are told that this edge is busy.
	maxWaiting        = 32
	maxWaitingPerEdge = 8
)

// answering is what this edge does for others. Guarded by requests.mu, but for ctx and
// running.
type answering struct {
	handler func(ctx context.Context, from pubsub.Member, body []byte) []byte // nil: requests are refused
	active  map[string]int                                                    // requests that are answered, by asker
	total   int                                                               // of these
	waiting []*incomingRequest                                                // oldest first

	ctx     context.Context // of all answers; ends with the broker
	cancel  context.CancelFunc
	running sync.WaitGroup // one for each request that is answered
}

// incomingRequest is a request of another edge.
type incomingRequest struct {
	asker    string // for which NATS vouches, where edges have names; otherwise the id, which anybody can claim
	from     pubsub.Member
	id       edgeID // of the edge
	number   uint64
	deadline time.Time // after it nobody waits for the answer
	body     []byte
}

func (a *answering) init() {
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.active = map[string]int{}
}

// HandleRequests implements [pubsub.Requester].
func (b *Broker) HandleRequests(answer func(ctx context.Context, from pubsub.Member, body []byte) []byte) {
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	b.requests.handler = answer
}

// handleRequest begins to answer a request of another edge, or lets it wait.
func (b *Broker) handleRequest(from sender, id edgeID, data []byte) error {
	number, wait, body, ok := splitRequest(data)
	if !ok || len(body) > pubsub.MaxRequest {
		return errNotRequest
	}
	now := time.Now()
	request := &incomingRequest{
		asker: string(from), from: b.peers.member(id, from, now),
		id: id, number: number, deadline: now.Add(min(wait, maxRequestTime)), body: body,
	}
	if from == "" {
		request.asker = id.String()
	}
	r := &b.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed || r.handler == nil:
		b.reply(request, kindRefused, nil)
	case !r.mayWait(request.asker, now):
		b.reply(request, kindBusy, nil)
	default:
		r.waiting = append(r.waiting, request)
		r.start(b)
	}
	return nil
}

// mayWait reports whether there is room for one more request of an asker. Those that
// nobody waits for any more make room. The caller holds requests.mu.
func (r *requests) mayWait(asker string, now time.Time) bool {
	r.waiting = slices.DeleteFunc(r.waiting, func(w *incomingRequest) bool { return now.After(w.deadline) })
	own := 0
	for _, w := range r.waiting {
		if w.asker == asker {
			own++
		}
	}
	return len(r.waiting) < maxWaiting && own < maxWaitingPerEdge
}

// start answers requests that wait, as many as may be answered. The caller holds
// requests.mu, and the broker is not closed.
func (r *requests) start(b *Broker) {
	for r.total < maxAnswering {
		i := slices.IndexFunc(r.waiting, func(w *incomingRequest) bool { return r.active[w.asker] < maxAnsweringPerEdge })
		if i < 0 {
			return
		}
		next := r.waiting[i]
		r.waiting = slices.Delete(r.waiting, i, i+1)
		r.total++
		r.active[next.asker]++
		handler := r.handler
		r.running.Go(func() { b.answer(next, handler) }) // ends with ctx; stopRequests waits for it
	}
}

// answer answers a request, and then begins with others that wait.
func (b *Broker) answer(w *incomingRequest, handler func(context.Context, pubsub.Member, []byte) []byte) {
	r := &b.requests
	ctx, cancel := context.WithDeadline(r.ctx, w.deadline)
	defer cancel()
	switch {
	case handler == nil, r.ctx.Err() != nil: // no longer
		b.reply(w, kindRefused, nil)
	case ctx.Err() == nil:
		body := handler(ctx, w.from, w.body)
		switch {
		case r.ctx.Err() != nil: // it was interrupted
			b.reply(w, kindRefused, nil)
		case ctx.Err() != nil: // nobody waits, or not a millisecond more, and the body may be half of it
		case len(body) > pubsub.MaxAnswer:
			b.reply(w, kindTooLarge, nil)
		default:
			b.reply(w, kindAnswer, body)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total--
	if r.active[w.asker]--; r.active[w.asker] == 0 {
		delete(r.active, w.asker)
	}
	if !r.closed {
		r.start(b)
	}
}

// refuseWaiting refuses the requests that wait. The caller holds requests.mu.
func (r *requests) refuseWaiting(b *Broker) {
	for _, w := range r.waiting {
		b.reply(w, kindRefused, nil)
	}
	r.waiting = nil
}

// reply sends an answer, or the reason why there is none. Where it has no room, the edge
// that asks is told so, or waits in vain.
func (b *Broker) reply(w *incomingRequest, kind byte, body []byte) {
	o := &outgoing{subject: b.publishPrefix + answerTo(w.id, w.number)}
	o.short = func(kind byte) []byte { return appendReply(nil, kind, b.id, nil) }
	o.data = appendReply(nil, kind, b.id, body)
	if b.enqueueOutgoing(o) != nil && len(body) > 0 {
		_ = b.enqueueOutgoing(&outgoing{subject: o.subject, data: o.short(kindBusy)}) // there is nothing more to say
	}
}

// What edges ask each other, and answer, begins like control messages: version, a letter,
// u64 edge that sends it. A request goes on with a u64 number, the u32 milliseconds that the
// edge waits, and the body; an answer with the body alone.
const requestHeader = 1 + 1 + 8

func appendRequest(b []byte, from edgeID, number uint64, wait time.Duration, body []byte) []byte {
	b = appendControl(slices.Grow(b, requestHeader+12+len(body)), kindRequest, from)
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint32(b, uint32(min(max(wait, 0), maxRequestTime).Milliseconds()))
	return append(b, body...)
}

// splitRequest reads a request that has its header.
func splitRequest(b []byte) (number uint64, wait time.Duration, body []byte, ok bool) {
	if len(b) < requestHeader+12 || b[1] != kindRequest {
		return 0, 0, nil, false
	}
	b = b[requestHeader:]
	return binary.BigEndian.Uint64(b), time.Duration(binary.BigEndian.Uint32(b[8:])) * time.Millisecond, b[12:], true
}

func appendReply(b []byte, kind byte, from edgeID, body []byte) []byte {
	return append(appendControl(slices.Grow(b, requestHeader+len(body)), kind, from), body...)
}
