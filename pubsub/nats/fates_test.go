package nats

import (
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// job publishes a message to channel c whose fate comes.
func (b *Broker) job(t *testing.T) <-chan pubsub.Fate {
	t.Helper()
	told := make(chan pubsub.Fate, 1)
	noError(t, b.PublishConfirmed(message(wire.OneNearest, "x"), func(f pubsub.Fate) { told <- f }))
	return told
}

// An edge of an earlier version does not say that it took a message; what it passes on is answered.
func TestFateAtEarlierEdge(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	from := startEdge(t, connect, func(c *Config) { c.fateTime = 300 * time.Millisecond })
	to := startEdge(t, connect)
	meet(t, []*edge{from, to})
	nc, err := connect()
	must(t, err)
	defer nc.Close()
	earlier := make(chan *client.Msg, 2)
	_, err = nc.QueueSubscribe("p.o.t.c"+natssubject.ChannelEnd, "edges", func(m *client.Msg) { earlier <- m })
	must(t, err)
	must(t, nc.Flush())

	told := from.job(t)
	natstest.Receive(t, "the message", earlier)
	equal(t, "fate of what the earlier edge took", natstest.Receive(t, "it", told), pubsub.FateUnknown)

	from.fates.patience = natstest.Limit
	told = from.job(t)
	m := natstest.Receive(t, "the message", earlier)
	delivery, tried, c, ok := splitOne(m.Data[0], m.Data[2:])
	if !ok {
		t.Fatalf("got %x", m.Data)
	}
	must(t, nc.Publish("p."+direct(to.id)+"t.c"+natssubject.ChannelEnd, appendOne(nil, delivery, append(tried, fakePeer), c)))
	equal(t, "fate of what it passed on", natstest.Receive(t, "it", told), pubsub.FateTaken)
}

// Without a link nobody waits for the others.
func TestFateWithoutLink(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	b, _ := startBroker(t, connect, func(c *Config) { c.fateTime = natstest.Limit })
	nc, err := connect()
	must(t, err)
	defer nc.Close()
	silent, err := nc.SubscribeSync("p.o.t.c" + natssubject.ChannelEnd)
	must(t, err)
	must(t, nc.Flush())
	told := b.job(t)
	_, err = silent.NextMsg(natstest.Limit)
	must(t, err)
	b.setLinkDown(linkSilent, true)
	equal(t, "fate", natstest.Receive(t, "it", told), pubsub.FateUnknown)
	b.setLinkDown(linkSilent, false)
}

// What is awaited is bounded, and shared by tenants and by issuers.
func TestFatesAreBounded(t *testing.T) {
	t.Parallel()
	var f fates
	f.init(time.Hour)
	fill := func(issuer string, tenant func(i int) string) (n int) {
		for ; n <= maxFates; n++ {
			if f.add(1, &pubsub.Message{Tenant: []byte(tenant(n)), Issuer: issuer}, func(pubsub.Fate) {}) == nil {
				break
			}
		}
		return n
	}
	equal(t, "of one tenant", fill("", func(int) string { return "t" }), maxFates/2)
	equal(t, "of one issuer", fill("i", func(i int) string { return fmt.Sprint(i) }), maxFates/4)
	equal(t, "of another issuer", fill("j", func(i int) string { return fmt.Sprint("j", i) }), maxFates/8)
	f.expire(time.Now().Add(2 * time.Hour))
	if len(f.waiting)+len(f.ofTenant)+len(f.ofIssuer) != 0 {
		t.Errorf("left: %d fates of %d tenants and %d issuers", len(f.waiting), len(f.ofTenant), len(f.ofIssuer))
	}
}

// Only a well-formed answer about a message that is awaited, and of its tenant, counts.
func TestUntrustedFates(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	told := make(chan pubsub.Fate, 1)
	m := message(wire.OneNearest, "x")
	asking := b.fates.add(b.id, &m, func(f pubsub.Fate) { told <- f })
	answer := appendControl(nil, kindFate, fakePeer)
	answer = append(answer, appendControl(nil, 0, asking[2])[2:]...)
	handle := func(subject string, m pubsub.Message, data []byte) error {
		return b.handleDirected("", subject, m, data)
	}
	other := m
	other.Tenant = []byte("u")
	for n := range answer {
		if handle("e", m, append(answer[:n:n], byte(pubsub.FateTaken))) == nil {
			t.Errorf("an answer of %d bytes is taken", n+1)
		}
	}
	taken := append(answer, byte(pubsub.FateTaken))
	for what, err := range map[string]error{
		"an unknown fate": handle("e", m, append(answer[:len(answer):len(answer)], 4)), "bytes behind": handle("e", m, append(taken[:len(taken):len(taken)], 0)),
		"to all": handle("q", m, taken), "to one of a group": handle("o", m, taken),
		"another edge's name": b.handleDirected("name", "e", m, taken),
	} {
		if err == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
	noError(t, handle("e", other, taken))
	equal(t, "fates that were told", len(told), 0)
	noError(t, handle("e", m, taken))
	noError(t, handle("e", m, taken)) // once more
	equal(t, "fate", <-told, pubsub.FateTaken)

	// Marks that are no question go with the message.
	for _, tried := range [][]edgeID{{askingMark}, {askingMark, 1}, {askingMark, ^b.id, 1}, {askingMark, 0, 1}} {
		noError(t, handle("e", m, appendOne(nil, wire.OneNearest, tried, bodyOf(&m))))
	}
	equal(t, "messages that were taken", q.taken(), 4)
}
