package nats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// An edge that is taken over, with its permissions, cannot answer in place of another one,
// nor ask in its name.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	s := namedServer(t, "victim", "friend", "foe")
	b, q := startBroker(t, as(s, "victim"), named("victim"))
	friend, _ := startBroker(t, as(s, "friend"), named("friend"))
	b.knows(t, friend)
	g := newGate()
	friend.HandleRequests(g.handle)
	victim := newGate()
	b.HandleRequests(victim.handle)

	foe, err := as(s, "foe")()
	must(t, err)
	defer foe.Close()
	overheard := make(chan *client.Msg, 10)
	must(t, errorOf(foe.ChanSubscribe("p.s.*.r.>", overheard))) // its permissions allow it
	must(t, foe.Flush())
	answered := make(chan struct{})
	go func() { // ends with the request
		defer close(answered)
		b.wantEcho(t, friend.id)
	}()
	number := binary.BigEndian.Uint64((<-overheard).Data[requestHeader:])
	foeID := sender("foe").makeID(5)
	forged := []*client.Msg{
		{Subject: answerTo(b.id, number), Data: appendReply(nil, kindAnswer, friend.id, []byte("forged"))},
		{Subject: answerTo(b.id, number), Data: appendReply(nil, kindAnswer, foeID, []byte("forged"))},
		{Subject: answerTo(b.id, number), Data: appendReply(nil, kindBusy, foeID, nil)},
		{Subject: answerTo(b.id, number), Data: appendReply(nil, kindAnswer, b.id, []byte("forged"))},
		{Subject: answerTo(b.id, number), Header: client.Header{statusHeader: {"503"}}},
		{Subject: requestsTo(b.id), Data: appendRequest(nil, friend.id, 1, time.Minute, []byte("forged"))},
		{Subject: requestsTo(b.id), Data: appendRequest(nil, b.id, 1, time.Minute, []byte("forged"))},
	}
	for _, m := range forged {
		m.Subject = "p.s.foe." + m.Subject
		must(t, foe.PublishMsg(m))
	}
	await(t, "what is forged to be refused", func() bool { return q.get().rejected == len(forged) })
	close(g.open)
	natstest.Receive(t, "the answer", answered)
	equal(t, "forged requests were answered", victim.count(), 0)
}

// offlineWithLink is a broker whose writer does not run, so that what it would send stays.
func offlineWithLink() (*Broker, *hub) {
	b, q := newOffline("")
	b.linkUp = true
	return b, q
}

// sent counts what was to be sent, by its letter.
func (b *Broker) sent() map[byte]int {
	n := map[byte]int{}
	for _, o := range b.outgoing {
		n[o.data[1]]++
	}
	return n
}

func (b *Broker) receiveRequest(t *testing.T, from edgeID, number uint64, wait time.Duration) {
	t.Helper()
	m := &client.Msg{Subject: "p." + requestsTo(b.id), Data: appendRequest(nil, from, number, wait, nil)}
	must(t, errorOf(b.handleRequests(m)))
}

// Whoever asks, and however often, few requests are answered at once, and few wait.
func TestAnsweringIsBounded(t *testing.T) {
	b, _ := offlineWithLink()
	g := newGate()
	b.HandleRequests(g.handle)
	const edges, each = 20, 20
	for number := range uint64(edges * each) {
		b.receiveRequest(t, edgeID(100+number%edges), number, time.Minute)
	}
	await(t, "requests to be answered", func() bool { return g.count() == maxAnswering })
	if _, active, waiting := b.counts(); active != maxAnswering || waiting != maxWaiting {
		t.Errorf("%d requests are answered, and %d wait", active, waiting)
	}
	equal(t, "were told that this edge is busy", b.sent()[kindBusy], edges*each-maxAnswering-maxWaiting)
	b.requests.mu.Lock()
	for asker, n := range b.requests.active {
		if n > maxAnsweringPerEdge {
			t.Errorf("%d requests of %s are answered at once", n, asker)
		}
	}
	b.requests.mu.Unlock()
	close(g.open)
	b.awaitAccepted(t, 0)
	b.stopRequests()
	b.receiveRequest(t, 1, 1, time.Minute)
	if sent := b.sent(); sent[kindAnswer] != maxAnswering+maxWaiting || sent[kindRefused] != 1 {
		t.Errorf("sent %v", sent)
	}
}

// Requests that nobody waits for any more make room for others.
func TestLateRequestsMakeRoom(t *testing.T) {
	b, _ := offlineWithLink()
	g := newGate()
	b.HandleRequests(g.handle)
	for number := range uint64(maxAnsweringPerEdge) {
		b.receiveRequest(t, 1, number, time.Hour)
	}
	for number := range uint64(maxWaitingPerEdge) {
		b.receiveRequest(t, 1, 100+number, 0)
	}
	time.Sleep(time.Millisecond) // the clock must have gone on
	b.receiveRequest(t, 1, 200, time.Hour)
	if _, _, waiting := b.counts(); waiting != 1 || b.sent()[kindBusy] != 0 {
		t.Errorf("%d wait, %v were sent", waiting, b.sent())
	}
	await(t, "the first requests to be begun", func() bool { return g.count() == maxAnsweringPerEdge })
	b.stopRequests()
	equal(t, "requests were begun", g.count(), maxAnsweringPerEdge)
}

// A handler that is taken away while requests wait for it is not called.
func TestHandlerIsTakenAway(t *testing.T) {
	b, _ := offlineWithLink()
	g := newGate()
	b.HandleRequests(g.handle)
	for number := range uint64(maxAnsweringPerEdge + 1) {
		b.receiveRequest(t, 1, number, time.Hour)
	}
	b.HandleRequests(nil)
	close(g.open)
	b.awaitAccepted(t, 0)
	b.stopRequests()
	if sent := b.sent(); sent[kindRefused] != 1 || sent[kindAnswer] != maxAnsweringPerEdge {
		t.Errorf("sent %v", sent)
	}
}

// A request whose answer was about to begin when the broker stopped is refused.
func TestStoppedBeforeAnswer(t *testing.T) {
	b, _ := offlineWithLink()
	b.requests.cancel()
	b.HandleRequests(echo)
	b.receiveRequest(t, 1, 1, time.Minute)
	b.awaitAccepted(t, 0)
	if sent := b.sent(); sent[kindRefused] != 1 || len(sent) != 1 {
		t.Errorf("sent %v", sent)
	}
}

// What waits for a link that takes nothing is bounded, and takes no room of messages.
func TestOutgoingIsBounded(t *testing.T) {
	b, _ := offlineWithLink()
	w := &incomingRequest{id: 1}
	body := make([]byte, pubsub.MaxAnswer)
	for range 2 * maxAnswering {
		b.reply(w, kindAnswer, body)
	}
	if n := b.sent(); n[kindAnswer] != maxAnswering-1 || n[kindBusy] != maxAnswering+1 { // each has a header, too
		t.Errorf("%v wait", n)
	}
	if err := b.enqueueOutgoing(&outgoing{data: body[:pubsub.MaxRequest], request: 1}); err != nil {
		t.Errorf("a request has no room, where an answer had: %v", err)
	}
	for range 10_000 {
		b.reply(w, kindAnswer, body[:pubsub.MaxRequest])
		b.reply(w, kindBusy, nil)
	}
	if b.outgoingBytes > maxOutgoing+maxOutgoingShort || b.outgoingBytes <= maxOutgoing { // short ones have room beyond
		t.Errorf("%d bytes wait", b.outgoingBytes)
	}
	if err := b.enqueueOutgoing(&outgoing{data: body, request: 1}); !errors.Is(err, pubsub.ErrTooManyRequests) {
		t.Errorf("one request more: %v", err)
	}
	if err := b.Publish(message(wire.Broadcast, string(body[:b.config.QueueBytes/2]))); err != nil {
		t.Errorf("a message has no room: %v", err)
	}
	for b.nextOutgoing() != nil {
	}
	equal(t, "bytes are counted for nothing", b.outgoingBytes, 0)
	b.reply(w, kindBusy, nil)
	b.setLinkDown(linkDisconnected, true)
	if err := b.enqueueOutgoing(&outgoing{}); !errors.Is(err, pubsub.ErrNoLink) || len(b.outgoing) != 0 || b.outgoingBytes != 0 {
		t.Errorf("without a link: %v, %d wait", err, len(b.outgoing))
	}
}

// What the edge that was asked says. An answer that is larger than agreed is ignored.
func TestReplies(t *testing.T) {
	b, _ := offlineWithLink()
	for _, c := range []struct {
		kind byte
		size int
		want error
	}{
		{kindAnswer, 0, nil}, {kindAnswer, pubsub.MaxAnswer, nil}, {kindAnswer, pubsub.MaxAnswer + 1, errAnswerTooLarge},
		{kindBusy, 0, errBusy}, {kindRefused, 0, errRefused}, {kindTooLarge, 0, errAnswerTooLarge},
	} {
		number, p, err := b.requests.begin(1, "")
		must(t, err)
		m := &client.Msg{Subject: "p." + answerTo(b.id, number), Data: appendReply(nil, c.kind, 1, make([]byte, c.size))}
		for range 2 { // the second one comes late
			noError(t, errorOf(b.handleRequests(m)))
		}
		if r := <-p.answer; !errors.Is(r.err, c.want) || c.want == nil && len(r.body) != c.size {
			t.Errorf("%c with %d bytes: %d, %v", c.kind, c.size, len(r.body), r.err)
		}
	}
}

// An edge waits for so many answers, and no more.
func TestPendingRequestsAreBounded(t *testing.T) {
	b, _ := offlineWithLink()
	var err error
	for n := 0; err == nil; n++ {
		if _, _, err = b.requests.begin(1, ""); (err != nil) != (n == maxPending) {
			t.Fatalf("request %d: %v", n, err)
		}
	}
	if !errors.Is(err, pubsub.ErrTooManyRequests) {
		t.Error(err)
	}
	for number := range b.requests.pending {
		b.requests.end(number, response{})
		break
	}
	_, _, err = b.requests.begin(1, "") // there is room for one again
	must(t, err)
}

func TestRequestCodec(t *testing.T) {
	for _, wait := range []time.Duration{-time.Second, 0, time.Millisecond, maxRequestTime, time.Hour} {
		data := appendRequest(nil, 7, 0xfedcba9876543210, wait, []byte("body"))
		number, got, body, ok := splitRequest(data)
		if !ok || number != 0xfedcba9876543210 || got != min(max(wait, 0), maxRequestTime) || string(body) != "body" {
			t.Errorf("%v: %x, %v, %q, %v", wait, number, got, body, ok)
		}
		for n := range len(data) - len(body) {
			if _, _, _, ok := splitRequest(data[:n]); ok {
				t.Errorf("%d bytes are taken for a request", n)
			}
		}
	}
}

// FuzzRequests has anybody send anything to the subjects of requests and answers: what is
// not a request is answered by nobody, and a request of this edge ends only with what the
// edge says that was asked.
func FuzzRequests(f *testing.F) {
	friend := sender("friend").makeID(1)
	own := sender("own").makeID(ownID)
	for _, name := range []string{"friend", "foe", "own"} {
		for _, subject := range []string{requestsTo(own), answerTo(own, 1), answerTo(own, 2), requestsTo(own) + ".x", "w", "w." + own.String(), "a"} {
			f.Add("p.s."+name+"."+subject, appendRequest(nil, friend, 1, time.Minute, []byte("x")), false)
			f.Add("p.s."+name+"."+subject, appendReply(nil, kindAnswer, friend, []byte("x")), false)
			f.Add("p.s."+name+"."+subject, appendReply(nil, 'z', friend, nil), false)
			f.Add("p.s."+name+"."+subject, []byte{}, true)
		}
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte, status bool) {
		b, _ := newOffline("own")
		b.linkUp = true
		b.HandleRequests(func(_ context.Context, from pubsub.Member, _ []byte) []byte {
			if !strings.HasPrefix(subject, fmt.Sprintf("p.s.%s.r.%s", from.Name, own)) || from.ID == own.String() {
				t.Errorf("%q: a request of %+v", subject, from)
			}
			return nil
		})
		p := &pendingRequest{friend, "friend", make(chan response, 1)}
		b.requests.pending[1] = p
		m := &client.Msg{Subject: subject, Data: bytes.Clone(data)}
		if status {
			m.Header = client.Header{statusHeader: {"503"}}
		}
		for range 2 {
			_, _ = b.handleRequests(m)
		}
		b.stopRequests()
		answer := answerTo(own, 1)
		switch r := <-p.answer; {
		case errors.Is(r.err, errClosed):
		case errors.Is(r.err, errNobodyThere) && status && subject == "p.s.own."+answer:
		case !errors.Is(r.err, errNobodyThere) && strings.EqualFold(subject, "p.s.friend."+answer):
		default:
			t.Errorf("%q ends a request: %+v", subject, r)
		}
	})
}

// Where nobody vouches for a name, and where two names have one prefix of ids, an answer
// still counts only from the edge that was asked.
func TestAnswersOfOthers(t *testing.T) {
	foe := sender("foe")
	for _, test := range []struct {
		name sender // of the overlay
		p    pendingRequest
		id   edgeID // of who answers, as "foe" where edges have names
	}{
		{"", pendingRequest{to: 5}, 6},
		{"own", pendingRequest{to: foe.makeID(5), name: "foe"}, foe.makeID(6)}, // was started again
		{"own", pendingRequest{to: foe.makeID(5), name: "friend"}, foe.makeID(5)},
	} {
		b, _ := newOffline(test.name)
		test.p.answer = make(chan response, 1)
		b.requests.pending[1] = &test.p
		prefix := "p."
		if test.name != "" {
			prefix = "p.s.foe."
		}
		for _, kind := range []byte{kindAnswer, kindBusy, kindRefused, kindTooLarge} {
			m := &client.Msg{Subject: prefix + answerTo(b.id, 1), Data: appendReply(nil, kind, test.id, nil)}
			if _, err := b.handleRequests(m); !errors.Is(err, errNotSender) || len(b.requests.pending) != 1 {
				t.Errorf("%+v: the answer of %v: %v", test.p, test.id, err)
			}
		}
	}
	b, _ := offlineWithLink()
	b.HandleRequests(echo)
	for _, id := range []edgeID{anyEdge, b.id} {
		m := &client.Msg{Subject: "p." + requestsTo(b.id), Data: appendRequest(nil, id, 1, time.Minute, nil)}
		if _, err := b.handleRequests(m); !errors.Is(err, errNotSender) {
			t.Errorf("a request of %v: %v", id, err)
		}
	}
	large := &client.Msg{Subject: "p." + requestsTo(b.id), Data: appendRequest(nil, 5, 1, time.Minute, make([]byte, pubsub.MaxRequest+1))}
	if _, err := b.handleRequests(large); !errors.Is(err, errNotRequest) {
		t.Errorf("a request that is larger than agreed: %v", err)
	}
}

// An answer that nobody would take is not sent.
func TestLargeAnswerIsNotSent(t *testing.T) {
	b, _ := offlineWithLink()
	b.HandleRequests(func(context.Context, pubsub.Member, []byte) []byte { return make([]byte, pubsub.MaxAnswer+1) })
	b.receiveRequest(t, 1, 1, time.Minute)
	b.awaitAccepted(t, 0)
	if sent := b.sent(); sent[kindTooLarge] != 1 || len(sent) != 1 {
		t.Errorf("sent %v", sent)
	}
}
