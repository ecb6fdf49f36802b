package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// Messages wait for an answer up to a bound, half of the queue for a tenant, and go
// out in order.
func TestMessagesWaitForResponders(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	b.queryFakePeer(&m, time.Now().Add(time.Hour)) // so that its time does not end
	var want []string
	for {
		m.Payload = []byte(fmt.Sprintf("%d %s", len(want), strings.Repeat("x", 100<<10)))
		err := b.Publish(m)
		if err != nil {
			if !errors.Is(err, pubsub.ErrLinkFull) {
				t.Error(err)
			}
			break
		}
		want = append(want, string(m.Payload))
		clear(m.Payload) // it was lent
		if len(want) > 100 {
			t.Fatal("more waits than the bound")
		}
	}
	if len(want) < 35 || len(want) > 41 {
		t.Errorf("%d messages wait, which is not half of the queue", len(want))
	}
	other := pubsub.Message{Tenant: []byte("u"), Channel: []byte("c"), Payload: make([]byte, 1<<20), Delivery: wire.OneRandom}
	b.queryFakePeer(&other, time.Now().Add(time.Hour))
	for range 2 {
		if err := b.Publish(other); err != nil {
			t.Errorf("a message of another tenant does not wait: %v", err)
		}
	}
	b.ofTenant("u", func(of *tenantResponders) {
		c := of.channels["c"]
		c.unanswered, c.waiting = nil, nil
		b.responders.waitingBytes.Add(int64(-of.waitingBytes))
		of.waitingBytes = 0
	})
	if got := q.payloads(); len(got) > 0 {
		t.Errorf("%d messages did not wait", len(got))
	}
	b.handleControl(m, kindNo, fakePeer)
	if got := q.payloads(); !slices.Equal(got, want) {
		t.Errorf("%d messages came, not in order or not the %d that waited", len(got), len(want))
	}
	if n := b.responders.waitingBytes.Load(); n != 0 {
		t.Errorf("%d bytes seem to wait", n)
	}
	if err := b.Publish(m); err != nil || len(q.payloads()) != len(want)+1 {
		t.Errorf("the next message: %v", err)
	}
}

// The wait for an edge that does not answer ends after answerTimeout.
func TestSilentEdgeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	at := time.Now().Add(time.Hour)
	b.queryFakePeer(&m, at)
	must(t, b.Publish(m))
	b.expireQueries(at.Add(answerTimeout))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait as long as an answer may take")
	}
	b.expireQueries(at.Add(answerTimeout + 1))
	if got := q.payloads(); len(got) != 1 {
		t.Error("a message waits longer than an answer may take")
	}
}

// A new edge does not end the wait for answers of the others.
func TestNewEdgeDoesNotEndQueries(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	at := time.Now().Add(time.Hour)
	c := b.queryFakePeer(&m, at)
	must(t, b.Publish(m))
	b.responders.requeryAll()
	b.expireQueries(at.Add(answerTimeout / 2))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait for an answer that had time")
	}
	b.handleControl(m, kindNo, fakePeer)

	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	b.responders.requeryAll()
	must(t, b.Publish(m))
	b.ofTenant("t", func(*tenantResponders) {
		if _, asked := c.unanswered[fakePeer]; !asked {
			t.Error("an edge that is new is not asked")
		}
	})
}

// A channel that is not used is forgotten, and so are pending queries about it.
func TestUnusedChannelsAreForgotten(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	at := time.Now().Add(time.Hour)
	b.queryFakePeer(&m, at)
	b.handleControl(m, kindYes, fakePeer)
	q.set(func(s *hubState) { s.uninterested = true })
	b.handleControl(m, kindQuery, fakePeer)
	channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load()
	if channels != 1 || pending != 1 {
		t.Errorf("%d channels are known, and pending queries about %d, want 1 of each", channels, pending)
	}
	b.expireQueries(at.Add(forgetAfter + 1))
	if channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load(); channels+pending != 0 || len(b.responders.list()) != 0 {
		t.Errorf("%d channels, and pending queries about %d, are kept", channels, pending)
	}
}
