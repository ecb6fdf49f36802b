package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

var tenants = []string{"paint.a", "paint.b"}

// part is the random source of one of the run's parts.
func (r *run) part(number int) *rand.Rand { return rand.New(rand.NewPCG(r.seed, uint64(number))) }

// begin starts everybody. finish ends the run, and reports what is wrong.
func (r *run) begin() (finish func()) {
	var endPublishing, endSubscribing func()
	r.publishing, endPublishing = context.WithCancel(context.Background())
	r.subscribing, endSubscribing = context.WithCancel(context.Background())
	var publishers, subscribers sync.WaitGroup
	for i := range 4 {
		publishers.Go(func() { r.publish(i, r.part(100+i)) })
	}
	for i := range 10 {
		subscribers.Go(func() { r.subscribe(r.part(200 + i)) })
	}
	return func() {
		r.T.Helper()
		endPublishing()
		publishers.Wait()
		for _, tenant := range tenants {
			r.Edges[0].Poll("the last message to be stored", func() bool {
				c := r.connect(r.random, nil)
				if c == nil {
					return false
				}
				defer c.Close()
				r.ends[tenant] = r.confirm(c, message{tenant: tenant, channel: "chat.1", payload: "the end of " + tenant, key: "end"})
				return r.ends[tenant].N > 0
			})
		}
		endSubscribing()
		subscribers.Wait()
		sum := r.check.Finish()
		for _, fault := range sum.Faults {
			r.T.Error(fault)
		}
		r.T.Logf("%d confirmed, %d called not stored, %d received, %d gaps, %d had to come and came",
			sum.Confirmed, r.unavailable.Load(), sum.Received, sum.Gaps, sum.Had)
		if sum.Confirmed < 100 || sum.Received < 100 || sum.Had == 0 {
			r.T.Error("the run checked too little")
		}
	}
}

// connect connects a client to one edge, or to several, among which it changes by itself; nil:
// they are away.
func (r *run) connect(random *rand.Rand, heard func(client.Event)) *client.Client {
	var addresses []string
	for _, at := range random.Perm(len(r.addresses))[random.IntN(len(r.addresses)):] {
		addresses = append(addresses, r.addresses[at])
	}
	options := r.options
	options.Transports = []client.Transport{[]client.Transport{client.WebSocket, client.WebTransport}[random.IntN(2)]}
	options.OnEvent = heard
	c, err := client.Connect(context.Background(), addresses, options)
	if err != nil {
		return nil
	}
	return c
}

// message is one to publish. With a key, the client publishes it until it is confirmed.
type message struct {
	tenant, channel, payload, key string
	once                          bool // nobody else publishes it
}

// confirm publishes a message, and returns its position; zero: nobody said that it is stored.
func (r *run) confirm(c *client.Client, m message) (at wire.Position) {
	ctx, options := context.Background(), []client.PublishOption{client.WithKey(m.key)}
	if m.key == "" { // it ends with the connection at the latest
		limited, cancel := context.WithTimeout(ctx, 90*time.Second)
		defer cancel()
		ctx, options = limited, nil
	}
	text, err := c.PublishConfirmed(ctx, m.tenant, m.channel, []byte(m.payload), options...)
	if errors.Is(err, context.DeadlineExceeded) {
		r.T.Errorf("a publish has no answer: %v", err)
	}
	if errors.Is(err, client.ErrHistoryUnavailable) && m.once {
		r.check.NotStored(m.tenant, m.channel, m.payload)
		r.unavailable.Add(1)
	}
	if err != nil {
		return at
	}
	if at, err = wire.ParsePosition(text); err != nil {
		r.T.Errorf("%v is stored at %q: %v", m, text, err)
	}
	r.check.Confirmed(m.tenant, m.channel, m.payload, at)
	r.confirmed.Add(1)
	return at
}

// publish publishes many messages at a time, by one client after the other.
func (r *run) publish(self int, random *rand.Rand) {
	for connection := 0; history.PauseRandomly(random, 100, r.publishing.Done()); connection++ {
		c := r.connect(random, nil)
		if c == nil {
			continue
		}
		for i, leaves := 0, false; !leaves && history.PauseRandomly(random, 20, r.publishing.Done()); i++ {
			var batch sync.WaitGroup
			for _, m := range drawMessages(random, fmt.Sprintf("%d.%d.%d", self, connection, i)) {
				batch.Go(func() { r.confirm(c, m) })
			}
			if leaves = random.IntN(100) == 0; leaves {
				_ = c.Close() // before it has the answers
			}
			batch.Wait()
		}
		_ = c.Close()
	}
}

// drawMessages draws a batch. Both tenants have the same keys.
func drawMessages(random *rand.Rand, name string) (batch []message) {
	for i := range random.IntN(50) {
		m := message{
			tenant: tenants[random.IntN(2)], channel: fmt.Sprintf("chat.%d", random.IntN(5)),
			payload: fmt.Sprintf("%s.%d %s", name, i, strings.Repeat("x", random.IntN(300))),
			once:    true,
		}
		switch random.IntN(6) {
		case 0:
			m.key = m.payload[:min(len(m.payload), wire.MaxKey)]
		case 1, 2:
			m.key = fmt.Sprintf("%s.%d", name, i/2)
			m.payload, m.once = m.key, false
			switch random.IntN(4) {
			case 0:
				batch = append(batch, m) // a repeat, though the first one was not lost
			case 1:
				batch = append(batch, message{tenant: tenants[random.IntN(2)], channel: m.channel, payload: m.payload, key: m.key})
			}
		}
		batch = append(batch, m)
	}
	return batch
}
